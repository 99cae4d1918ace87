package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// victim streams answers until it is killed, and says of each event that was
// presented how much text of the answer was on the disk by then.
func victim(path string) {
	ctx := context.Background()
	db, err := Open(ctx, path, Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	db.Create(ctx, Session{ID: "s"})
	p := db.Presenter("s")
	out := bufio.NewWriter(os.Stdout)
	for turn := 0; ; turn++ {
		s := engine.State{}
		show := func(d event.Data) {
			for e := range mealy.Follow(engine.Step, &s, event.Event{At: time.Now(), Data: d}) {
				if err := p.Present(ctx, "", e); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Fprintln(out, e.Data.Type(), onDisk(db))
				out.Flush()
			}
		}
		show(event.UserMessage{ID: fmt.Sprint("u", os.Getpid(), "-", turn), Content: event.Say("question")})
		show(event.MessageStart{MessageID: fmt.Sprint("a", os.Getpid(), "-", turn), Model: "m"})
		show(event.ToolUseStart{ToolCallID: "c", ToolName: "look"})
		show(event.InputJSONDelta{PartialJSON: `{"at":1}`})
		show(event.ToolUseStop{})
		show(event.MessageStop{StopReason: event.ToolUse})
		show(event.ToolResult{ToolCallID: "c", Result: event.Output{Text: "seen"}})
		show(event.MessageStart{MessageID: fmt.Sprint("b", os.Getpid(), "-", turn), Model: "m"})
		for range 250 {
			show(event.TextDelta{Text: "twelve bytes"})
			time.Sleep(4 * time.Millisecond)
		}
		show(event.MessageDelta{Usage: event.Usage{OutputTokens: 250}})
		show(event.MessageStop{StopReason: event.EndTurn})
	}
}

// onDisk is how many bytes of text the live file holds.
func onDisk(db *DB) int {
	n := 0
	_, events, _ := readLive(db.livePath("s"))
	for _, e := range events {
		if d, ok := e.Data.(event.TextDelta); ok {
			n += len(d.Text)
		}
	}
	return n
}

// A process is killed at random moments. Whoever opens the database next finds
// every message that was shown, the text that was written, every turn closed
// once, and a sound file. That text is written in time is told elsewhere, by a
// clock that no machine holds up (F8).
func TestKilledWhileStreaming(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	path := filepath.Join(t.TempDir(), "a.db")
	old := 0
	for round := range rounds {
		lines := killAfter(t, "AGENTX_TEST_VICTIM="+path, 1+rand.IntN(320), time.Duration(rand.IntN(8000))*time.Microsecond)
		db := open(t, path)
		log, err := db.Events(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		seen := witness(lines)
		t.Logf("round %d: killed while streaming: %v, %d bytes written", round, seen.streaming, seen.text)
		judge(t, round, seen, log[old:])
		old = len(log)
		if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("round %d: Check() = %v, %v", round, problems, err)
		}
		if left, _ := filepath.Glob(path + "-live/*"); len(left) > 0 {
			t.Errorf("round %d: %v is left", round, left)
		}
		if s, _ := db.Session(t.Context(), "s"); s.Open {
			t.Errorf("round %d: a turn is open", round)
		}
		db.Close()
	}
}

// killAfter runs this program as the one that role names, and kills it a little
// later than it has said so many lines.
func killAfter(t *testing.T, role string, lines int, later time.Duration) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(out)
	var said []string
	for scan.Scan() {
		if said = append(said, scan.Text()); len(said) == lines {
			time.AfterFunc(later, func() { cmd.Process.Kill() })
		}
	}
	cmd.Wait()
	return said
}

// A sight is what the victim had shown when it died.
type sight struct {
	users, answers, turns int
	text                  int // of the answer that was streaming, on the disk
	streaming             bool
}

func witness(lines []string) sight {
	var s sight
	for _, l := range lines {
		var name string
		var text int
		if _, err := fmt.Sscan(l, &name, &text); err != nil {
			continue // cut off
		}
		switch name {
		case "user_message":
			s.users++
		case "assistant_message":
			s.answers++
		case "turn_response":
			s.turns++
			s.streaming = false
		case "text_delta":
			s.streaming = true
		}
		s.text = text
	}
	return s
}

func judge(t *testing.T, round int, seen sight, log []event.Event) {
	t.Helper()
	asked, answered := 0, 0
	var users, assistants int
	var last string
	ids := map[string]int{}
	for _, e := range log {
		switch d := e.Data.(type) {
		case event.UserMessage:
			users++
			last = ""
		case event.AssistantMessage:
			assistants++
			last = d.Content.Text()
			ids[d.ID]++
			if d.Incomplete && d.StopReason != event.StopInterrupted {
				t.Errorf("round %d: an incomplete message stopped for %s", round, d.StopReason)
			}
		case event.TurnRequest:
			asked++
		case event.TurnResponse:
			answered++
		}
	}
	if asked != answered || asked != users {
		t.Errorf("round %d: %d messages, %d turns asked, %d answered", round, users, asked, answered)
	}
	if users < seen.users || assistants < seen.answers || answered < seen.turns {
		t.Errorf("round %d: shown were %d, %d, %d; kept are %d, %d, %d",
			round, seen.users, seen.answers, seen.turns, users, assistants, answered)
	}
	if seen.streaming && len(last) < seen.text {
		t.Errorf("round %d: %d bytes kept, %d were written", round, len(last), seen.text)
	}
	if strings.Trim(last, "twelv bys") != "" {
		t.Errorf("round %d: kept %q", round, last)
	}
}
