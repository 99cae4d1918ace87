package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// written is what this process has handed to write(2), and what it has made the
// kernel write to a disk: whole pages, each as often as it became dirty.
func written(t testing.TB) (calls, disk int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("nobody counts here: ", err)
	}
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "wchar: %d", &calls)
		fmt.Sscanf(line, "write_bytes: %d", &disk)
	}
	return calls, disk
}

// A page of prose: an index of one repeated word would be too small.
var prose = func() string {
	var b strings.Builder
	for i := 0; b.Len() < 74_000; i++ {
		fmt.Fprintf(&b, "Paragraph %d says that item%x costs %d, which %s thinks is %s.\n", i, i*40503%65536, i*7919%1000,
			[]string{"nobody", "everybody", "the seller", "Ada"}[i%4], []string{"cheap", "dear", "fair"}[i%3])
	}
	return b.String()[:74_000]
}()

// stream says prose at 200 tokens a second.
func stream(each func(token string)) {
	const token = 4
	for s := prose; s != ""; s = s[min(token, len(s)):] {
		each(s[:min(token, len(s))])
		time.Sleep(5 * time.Millisecond)
	}
}

// An answer of 74 kB, streamed over a minute and a half, may cost five times
// its bytes, and a page in the log and two in the file that say whose log it is and
// of what a session's is made. The clock here is synctest's; how often the kernel writes a page that
// is not full has its own, real one, and so the disk is only compared. To write the
// answer anew with every commit costs hundreds of times.
func TestBytesWrittenForAnAnswer(t *testing.T) {
	spent := func(name string, work func(db *DB)) (float64, float64) {
		var calls, disk int64
		synctest.Test(t, func(t *testing.T) {
			db := open(t, filepath.Join(t.TempDir(), "a.db"))
			begin(t, db, "s")
			calls0, disk0 := written(t)
			work(db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			calls, disk = written(t)
			calls, disk = calls-calls0, disk-disk0
		})
		a, b := float64(calls)/float64(len(prose)), float64(disk)/float64(len(prose))
		t.Logf("%-8s %8d bytes by write(2), %.2f for each of the answer; %9d to the disk, %.2f for each", name, calls, a, disk, b)
		return a, b
	}
	calls, disk := spent("ours", func(db *DB) { answer(t, db) })
	_, naive := spent("naive", func(db *DB) { rewrite(t, db) })
	if most := 5 + 3*page/float64(len(prose)); calls > most {
		t.Errorf("%.2f bytes by write(2) for each byte of an answer, want at most %.2f", calls, most)
	}
	if disk > 0 && naive < 10*disk {
		t.Errorf("rewriting costs %.1f, no tenfold of %.1f: is something measured?", naive, disk)
	}
}

func answer(t testing.TB, db *DB) {
	p, step, s := db.Presenter("s"), engine.Step, engine.State{}
	show := func(d event.Data) {
		for e := range mealy.Follow(step, &s, event.Event{At: time.Now(), Data: d}) {
			if err := p.Present(t.Context(), "", e); err != nil {
				t.Fatal(err)
			}
		}
	}
	show(event.UserMessage{ID: "u", Content: event.Say("Tell me everything.")})
	show(event.MessageStart{MessageID: "m", Model: "m-1"})
	stream(func(token string) { show(event.TextDelta{Text: token}) })
	show(event.MessageStop{StopReason: event.EndTurn})
}

// rewrite is what the nearest peer does, but four times a second only.
func rewrite(t testing.TB, db *DB) {
	if _, err := db.w.Exec(`CREATE TABLE naive (id INTEGER PRIMARY KEY, text TEXT)`); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	last := time.Now()
	stream(func(token string) {
		text.WriteString(token)
		if time.Since(last) < 250*time.Millisecond {
			return
		}
		last = time.Now()
		if _, err := db.w.Exec(`INSERT INTO naive VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET text = ?1`, text.String()); err != nil {
			t.Fatal(err)
		}
	})
}
