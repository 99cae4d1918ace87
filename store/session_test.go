package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

func ids(all []Session) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(string(s.ID) + " ")
	}
	return strings.TrimSpace(b.String())
}

// Sessions are in a list when something was said in them, are found by a word,
// a title or the beginning of an id, and can be renamed (F120).
func TestSessionsAreListedFoundAndRenamed(t *testing.T) {
	db := fresh(t)
	for i, text := range []string{"weather in Köln", "weather in Bonn", ""} {
		id := event.SessionID(fmt.Sprint("0192", i))
		begin(t, db, id)
		if text != "" {
			tell(t, db, id, "u", text, hello("m", "fine")...)
		}
	}
	if err := db.Create(t.Context(), Session{ID: "01920"}); !errors.Is(err, ErrExists) {
		t.Errorf("Create(again) = %v, want ErrExists", err)
	}
	if all, err := db.Sessions(t.Context(), Filter{}); err != nil || ids(all) != "01921 01920" {
		t.Errorf("Sessions() = %s, %v", ids(all), err)
	}
	if all, _ := db.Sessions(t.Context(), Filter{Query: "koln"}); ids(all) != "01920" {
		t.Errorf("Sessions(koln) = %s", ids(all))
	}
	if s, err := db.Latest(t.Context(), "/home/ada"); err != nil || s.ID != "01921" {
		t.Errorf("Latest() = %s, %v", s.ID, err)
	}
	if _, err := db.Latest(t.Context(), "/home/bob"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Latest(elsewhere) = %v", err)
	}
	for ref, want := range map[string]string{"01921": "01921", "WEATHER in bonn": "01921", "01922": "01922"} {
		if s, err := db.Find(t.Context(), ref); err != nil || string(s.ID) != want {
			t.Errorf("Find(%q) = %s, %v", ref, s.ID, err)
		}
	}
	_, err := db.Find(t.Context(), "0192")
	if a, ok := errors.AsType[*AmbiguousError](err); !ok || len(a.Candidates) != 3 {
		t.Errorf("Find(0192) = %v, want three candidates", err)
	}
	for _, ref := range []string{"", "%", "_", "nothing", "'; DROP TABLE sessions; --", strings.Repeat("x", 1<<20)} {
		if s, err := db.Find(t.Context(), ref); !errors.Is(err, ErrNotFound) {
			t.Errorf("Find(%.20q) = %s, %v; want ErrNotFound", ref, s.ID, err)
		}
	}
	if err := db.Rename(t.Context(), "01920", "  a\x1b[31m\nred\ttitle "); err != nil {
		t.Fatal(err)
	}
	if s, _ := db.Session(t.Context(), "01920"); s.Title != "a [31m red title" {
		t.Errorf("Title = %q", s.Title)
	}
	if hits, _ := db.Search(t.Context(), "red title", 0); len(hits) != 1 || hits[0].Seq != 0 {
		t.Errorf("Search(the new title) = %+v", hits)
	}
	if err := db.Rename(t.Context(), "none", "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Rename(none) = %v", err)
	}
}

func TestDeletingLeavesNothingButTheBill(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	begin(t, db, "t")
	tell(t, db, "s", "u", "secret", hello("m", "whisper")...)
	tell(t, db, "t", "u", "public", hello("m", "shout")...)
	if err := db.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if log, err := db.Events(t.Context(), "s"); len(log) != 0 || err != nil {
		t.Errorf("Events() = %d, %v", len(log), err)
	}
	for query, want := range map[string]int{"secret": 0, "whisper": 0, "shout": 1} {
		if hits, err := db.Search(t.Context(), query, 0); len(hits) != want || err != nil {
			t.Errorf("Search(%s) = %d hits, %v; want %d", query, len(hits), err, want)
		}
	}
	stats, err := db.Stats(t.Context(), time.Time{}, ByDay)
	if err != nil || len(stats) != 1 || stats[0].Requests != 2 || stats[0].Usage.OutputTokens != 10 || stats[0].Unpriced != 2 {
		t.Errorf("Stats() = %+v, %v", stats, err)
	}
	if problems, err := db.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check() = %v, %v", problems, err)
	}
	if err := db.Delete(t.Context(), "s"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Delete(again) = %v", err)
	}
}

// A fork has what was said before, all of it or a part; what is said in one is
// not in the other (F99).
func TestAForkGoesItsOwnWay(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	tell(t, db, "s", "u1", "one", hello("m1", "first")...)
	tell(t, db, "s", "u2", "two", hello("m2", "second")...)
	before, _ := db.Events(t.Context(), "s")
	if err := errors.Join(db.Fork(t.Context(), "s", "whole"), db.ForkBefore(t.Context(), "s", "half", "u2"), db.ForkBefore(t.Context(), "s", "none", "u1")); err != nil {
		t.Fatal(err)
	}
	tell(t, db, "half", "u3", "three", hello("m3", "other")...)
	for id, want := range map[event.SessionID]string{
		"s": wire(t, before), "whole": wire(t, before), "none": "",
	} {
		if log, err := db.Events(t.Context(), id); err != nil || wire(t, log) != want {
			t.Errorf("%s has another log: %v\n%s", id, err, wire(t, log))
		}
	}
	half, _ := db.Events(t.Context(), "half")
	if !strings.HasPrefix(wire(t, half), wire(t, before[:4])) || len(half) != 8 {
		t.Errorf("half has %d events", len(half))
	}
	s, err := db.Session(t.Context(), "half")
	if err != nil || s.ParentID != "s" || s.Messages != 4 || s.Usage.OutputTokens != 10 {
		t.Errorf("Session(half) = %+v, %v", s, err)
	}
	if stats, _ := db.Stats(t.Context(), time.Time{}, ByDay); len(stats) != 1 || stats[0].Requests != 3 {
		t.Errorf("Stats() = %+v, want three requests: a fork repeats, it does not spend", stats)
	}
	if hits, _ := db.Search(t.Context(), "second", 0); len(hits) != 2 {
		t.Errorf("Search() = %d hits, want the session and its fork", len(hits))
	}
	for name, err := range map[string]error{
		"from nowhere": db.Fork(t.Context(), "nowhere", "x"),
		"before none":  db.ForkBefore(t.Context(), "s", "y", "u9"),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("fork %s = %v, want ErrNotFound", name, err)
		}
	}
	if err := db.Fork(t.Context(), "s", "whole"); !errors.Is(err, ErrExists) {
		t.Errorf("fork onto another = %v, want ErrExists", err)
	}
	if problems, err := db.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check() = %v, %v", problems, err)
	}
}

// Fork while an answer streams: the copy's turn is broken off, the original's
// is not.
func TestAForkOfARunningTurnIsClosed(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	p := db.Presenter("s")
	show(t, p, event.UserMessage{ID: "u", Content: event.Say("go")}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "on and"})
	if err := db.Fork(t.Context(), "s", "t"); err != nil {
		t.Fatal(err)
	}
	copied, _ := db.Session(t.Context(), "t")
	running, _ := db.Session(t.Context(), "s")
	if copied.Open || !copied.Interrupted || !running.Open {
		t.Errorf("copy %+v, original %+v", copied, running)
	}
}

// show presents data a millisecond apart, without what follows from them.
func show(t testing.TB, p engine.Presenter, data ...event.Data) {
	t.Helper()
	for i, d := range data {
		if err := p.Present(t.Context(), "", event.Event{At: time.UnixMilli(1_700_000_000_000 + int64(i)), Data: d}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSearchTakesNoSignForMoreThanItIs(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	tell(t, db, "s", "u", "It's a C++ question: what does naïve NOT mean in foo_bar(NEAR)?",
		hello("m", "我喜欢编程语言 and हिन्दी, Ελληνικά, 東京タワー. \x00 The ‘café’ is 100% \"open\".")...)
	for query, want := range map[string]bool{
		"c++": true, "question": true, "quest": true, "quest ": false, "NAIVE": true, "naïve": true, "cafe": true, "café": true,
		"NOT mean": true, "mean NOT absent": false, `"open"`: true, "open*": true, "100%": true, "foo_bar": true, "foo bar near": true,
		"喜欢": true, "喜": true, "欢喜": false, "编程语言": true, "タワー": true, "東京": true, "हिन्दी": true, "ελληνικά": true,
		"question AND nothing": false, "text:question": false, "-question": true, "^it": true, "NEAR(foo bar)": true,
		"": false, "   ": false, `"`: false, `""`: false, "*": false, "(((": false, "'; DROP TABLE words; --": false,
		"\x00": false, "open\x00": true, "\xff\xfe": false, "a\xffquestion": true, "\u0301": false, "\U0001e900": false,
		"{question}": true, "question\\": true, "question NEAR/2 foo": false, strings.Repeat("question ", 100_000): true,
	} {
		hits, err := db.Search(t.Context(), query, 10)
		if err != nil || (len(hits) == 1) != want {
			t.Errorf("Search(%.40q) = %d hits, %v; want one: %v", query, len(hits), err, want)
		}
		all, err := db.Sessions(t.Context(), Filter{Query: query})
		if blank := strings.TrimSpace(query) == ""; err != nil || (len(all) == 1) != (want || blank) {
			t.Errorf("Sessions(%.40q) = %d, %v; want one: %v", query, len(all), err, want)
		}
	}
	hits, _ := db.Search(t.Context(), "QUESTION", 1)
	if h := hits[0]; h.Snippet[h.Match[0]:h.Match[1]] != "question" || h.Seq != 1 || !strings.HasPrefix(h.Snippet, "It's a C++") {
		t.Errorf("hit %+v", h)
	}
}

// Two megabytes are no reason not to find the last word of them, and
// words by the hundred thousand are no reason to hold them all in memory.
func TestALongTextIsFoundByItsWords(t *testing.T) {
	db := fresh(t)
	begin(t, db, "long")
	tell(t, db, "long", "u", "Say much", hello("m", strings.Repeat("much and more of the same ", 80_000)+"finally")...)
	for _, query := range []string{"much", "finally"} {
		if hits, err := db.Search(t.Context(), query, 10); err != nil || len(hits) == 0 {
			t.Errorf("Search(%q) = %d hits, %v", query, len(hits), err)
		}
	}
	var numbers strings.Builder
	for i := range 300_000 {
		fmt.Fprintln(&numbers, i)
	}
	if n := len(once(numbers.String())); n > maxIndexed {
		t.Errorf("%d bytes of words go into the index", n)
	}
	if got := once("x" + strings.Repeat(" ", maxIndexed)); got != "x " {
		t.Errorf("%q", got)
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"a", `"*(NEAR`, "\U0001e900\U0001e901", "क्षि", "ก็", "\xff", "a\x00b", "东京b京", "ß", "İ", "ﬁ", "\u0345"} {
		f.Add(s, s)
	}
	db := fresh(f)
	n := 0
	f.Fuzz(func(t *testing.T, text, query string) {
		n++
		id := event.SessionID(fmt.Sprint("s", n))
		begin(t, db, id)
		tell(t, db, id, "u", "x"+text, hello("m", text)...)
		hits, err := db.Search(t.Context(), query, 5)
		if err != nil {
			t.Fatalf("Search(%q) = %v", query, err)
		}
		for _, h := range hits {
			if h.Match[0] < 0 || h.Match[1] > len(h.Snippet) || h.Match[0] > h.Match[1] {
				t.Fatalf("Match %v of %q", h.Match, h.Snippet)
			}
		}
	})
}

func TestDraftsPromptsAndTheQueue(t *testing.T) {
	db := fresh(t)
	ctx := t.Context()
	begin(t, db, "s")
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	draft := func(id event.SessionID) string {
		text, err := db.Draft(ctx, id)
		must(err)
		return text
	}
	must(db.SetDraft(ctx, "", "to nobody yet"), db.SetDraft(ctx, "s", "half a"), db.SetDraft(ctx, "s", "half a thought"))
	if got := draft("s"); got != "half a thought" {
		t.Errorf("Draft() = %q", got)
	}
	wait := func(id string) event.UserMessage { return event.UserMessage{ID: id, Content: event.Say("wait " + id)} }
	must(db.Queue(ctx, "s", wait("u1")), db.Queue(ctx, "s", wait("u2")), db.Queue(ctx, "s", wait("u3")), db.Unqueue(ctx, "s", "u2"), db.Unqueue(ctx, "s", "u9"))
	tell(t, db, "s", "u1", "sent", hello("m", "ok")...)
	if draft("s") != "" || draft("") != "" {
		t.Errorf("after the first message the drafts are %q, %q", draft("s"), draft(""))
	}
	queued, err := db.Queued(ctx, "s")
	if err != nil || len(queued) != 1 || queued[0].ID != "u3" || queued[0].Content.Text() != "wait u3" {
		t.Errorf("Queued() = %+v, %v", queued, err)
	}
	must(db.SetDraft(ctx, "", "another"), db.SetDraft(ctx, "s", "gone"), db.SetDraft(ctx, "s", ""))
	tell(t, db, "s", "u4", "more", hello("m4", "ok")...)
	if draft("") != "another" || draft("s") != "" {
		t.Errorf("drafts are %q, %q", draft(""), draft("s"))
	}
	for _, p := range []string{"a", "b", "b", "", "c"} {
		must(db.AddPrompt(ctx, p))
	}
	prompts, err := db.Prompts(ctx, 2)
	if err != nil || strings.Join(prompts, " ") != "c b" {
		t.Errorf("Prompts(2) = %q, %v", prompts, err)
	}
	if all, _ := db.Prompts(ctx, 10); len(all) != 3 {
		t.Errorf("Prompts(10) = %q, want three", all)
	}
	states := db.States()
	must(states.Set(ctx, "a/1", []byte{0, 255}), states.Set(ctx, "a/2", nil), states.Set(ctx, "b", []byte("x")), states.Delete(ctx, "b"), states.Delete(ctx, "none"))
	got, ok, err := states.Get(ctx, "a/1")
	if string(got) != "\x00\xff" || !ok || err != nil {
		t.Errorf("Get() = %q, %v, %v", got, ok, err)
	}
	if has, _ := states.Has(ctx, "b"); has {
		t.Error("b is still there")
	}
	if ids, err := states.List(ctx, "a/"); err != nil || strings.Join(ids, " ") != "a/1 a/2" {
		t.Errorf("List() = %q, %v", ids, err)
	}
}

// A stream that stalls is on the disk in time, though nothing more is shown.
func TestTextIsKeptWhenTheStreamStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := fresh(t)
		begin(t, db, "s")
		p := db.Presenter("s")
		show(t, p, event.UserMessage{ID: "u", Content: event.Say("go")}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "on and"})
		text := func() string {
			_, events, _ := readLive(db.livePath("s"))
			var b strings.Builder
			for _, e := range events {
				if d, ok := e.Data.(event.TextDelta); ok {
					b.WriteString(d.Text)
				}
			}
			return b.String()
		}
		time.Sleep(250 * time.Millisecond)
		if got := text(); got != "on and" {
			t.Errorf("250 ms later the file has %q", got)
		}
		show(t, p, event.TextDelta{Text: strings.Repeat("x", 5000)})
		synctest.Wait()
		time.Sleep(time.Millisecond)
		if got := len(text()); got != 5006 {
			t.Errorf("after 4 kB the file has %d bytes, want 5006", got)
		}
		db.Close()
	})
}

// Who has a session has it alone, and others are told who that is (F121).
func TestOneWriterForASession(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	begin(t, db, "t")
	other := open(t, db.path)
	release, err := db.Lock(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Lock(t.Context(), "s")
	use, ok := errors.AsType[*InUseError](err)
	if !ok || use.PID == 0 || use.Since.IsZero() || !errors.Is(err, ErrBusy) {
		t.Errorf("Lock() = %v, want who has it", err)
	}
	if _, err := db.Lock(t.Context(), "s"); !errors.Is(err, ErrBusy) {
		t.Errorf("Lock() twice = %v, want ErrBusy", err)
	}
	ask := event.Event{Data: event.UserMessage{ID: "u", Content: event.Say("hi")}}
	if err := other.Presenter("s").Present(t.Context(), "", ask); !errors.Is(err, ErrBusy) {
		t.Errorf("Present() = %v, want ErrBusy", err)
	}
	if err := other.Delete(t.Context(), "s"); !errors.Is(err, ErrBusy) {
		t.Errorf("Delete() = %v, want ErrBusy", err)
	}
	tell(t, other, "t", "u", "another session", hello("m", "goes on")...)
	tell(t, db, "s", "u", "the owner", hello("m", "goes on")...)
	release()
	release()
	tell(t, other, "s", "u2", "now I", hello("m2", "may")...)
	if log, err := db.Events(t.Context(), "s"); err != nil || len(log) != 8 {
		t.Errorf("%d events, %v; want 8", len(log), err)
	}
}

// On a network file system there is no shared memory: one process, a journal.
func TestOnANetwork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := Open(t.Context(), path, Options{Network: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin(t, db, "s")
	shown := tell(t, db, "s", "u", "hi", hello("m", "hello")...)
	if left := glob(t, path+"-shm"); len(left) > 0 {
		t.Errorf("%v is there", left)
	}
	if log, err := db.Events(t.Context(), "s"); err != nil || wire(t, log) != wire(t, kept(shown)) {
		t.Errorf("Events() = %s, %v", wire(t, log), err)
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check() = %v, %v", problems, err)
	}
	if err := db.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db")); err != nil {
		t.Error(err)
	}
}
