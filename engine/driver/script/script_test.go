package script_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

const trace = `-- about --
Two questions; the second answer breaks off.
-- stream --
{"type":"user_message","timestamp":1000,"data":{"id":"u1","role":"user","content":"one","timestamp":1000}}
{"type":"message_start","timestamp":1500,"data":{"messageId":"m1","model":"mock"}}
{"type":"text_delta","timestamp":1600,"data":{"text":"Good morning."}}
{"type":"conversation_responding","timestamp":1600,"data":{}}
{"type":"message_stop","timestamp":3600,"data":{"stopReason":"end_turn"}}

{"type":"user_message","timestamp":9000,"data":{"id":"u2","role":"user","content":"two","timestamp":9000}}
{"type":"message_start","timestamp":9100,"data":{"messageId":"m2","model":"mock"}}
{"type":"driver_fails","timestamp":9200,"data":{"message":"The connection was closed.","errorCode":"network","retryable":true}}
-- events --
`

// A trace is played with its pauses, at half of them, or without (F15).
func TestATraceIsPlayedAtItsOwnPace(t *testing.T) {
	turns, err := script.Trace([]byte(trace))
	if err != nil {
		t.Fatal(err)
	}
	for speed, want := range map[float64]string{
		1: "500ms message_start, 600ms text_delta, 2.6s message_stop",
		2: "250ms message_start, 300ms text_delta, 1.3s message_stop",
		0: "0s message_start, 0s text_delta, 0s message_stop",
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var got []string
			for e, err := range script.Answers(turns, speed).Receive(t.Context(), engine.Request{Message: turns[0].Message}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, time.Since(began).String()+" "+e.Type())
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("at speed %v: %s, want %s", speed, got, want)
			}
		})
	}
}

// Each message is answered with the turn that was recorded for it (F15).
func TestEachMessageHasItsAnswer(t *testing.T) {
	turns, err := script.Trace([]byte(trace))
	if err != nil {
		t.Fatal(err)
	}
	d := script.Answers(turns, 0)
	ask := func(history []event.Message, m event.UserMessage) (types []string, failed error) {
		for e, err := range d.Receive(t.Context(), engine.Request{History: history, Message: m}) {
			if err != nil {
				return types, err
			}
			types = append(types, e.Type())
		}
		return types, nil
	}
	if _, err := ask(nil, turns[0].Message); err != nil {
		t.Error(err)
	}
	types, err := ask([]event.Message{turns[0].Message}, turns[1].Message)
	if f, ok := errors.AsType[*engine.Fault](err); !ok || f.Code != event.CodeNetwork || !f.Retryable || !slices.Equal(types, []string{"message_start"}) {
		t.Errorf("the second answer is %q, %v", types, err)
	}
	if _, err := ask([]event.Message{turns[0].Message, turns[1].Message}, event.UserMessage{ID: "u3", Content: event.Say("three")}); err == nil {
		t.Error("there is a third answer")
	}
}

// A script that is cancelled in a pause ends at once, with the cause (F63).
func TestAScriptStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		d := script.Driver{Speed: 1, Steps: []script.Step{{Event: event.MessageStart{MessageID: "m"}}, {After: time.Hour, Event: event.TextDelta{Text: "late"}}}}
		began := time.Now()
		time.AfterFunc(time.Second, func() { cancel(engine.Interrupt(event.ByUser)) })
		var last error
		for e, err := range d.Receive(ctx, engine.Request{}) {
			if _, late := e.(event.TextDelta); late {
				t.Error("it went on")
			}
			last = err
		}
		if took := time.Since(began); took != time.Second || !errors.Is(last, engine.Interrupt(event.ByUser)) {
			t.Errorf("it ended after %v with %v", took, last)
		}
	})
}

func TestSplittingKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		n := rapid.IntRange(-1, 9).Draw(t, "n")
		d := script.Say(event.MessageStart{MessageID: "m"}, event.TextDelta{Text: text}, event.MessageStop{StopReason: event.EndTurn})
		var joined strings.Builder
		for e := range d.Split(script.Runes(n), time.Second).Receive(context.Background(), engine.Request{}) {
			if piece, ok := e.(event.TextDelta); ok {
				joined.WriteString(piece.Text)
				if runes := []rune(piece.Text); len(runes) > max(n, 1) {
					t.Fatalf("a piece of %d characters", len(runes))
				}
			}
		}
		if joined.String() != text {
			t.Fatalf("%q became %q", text, joined.String())
		}
	})
}

func TestBrokenTracesSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"-- events --\n":                `no section "stream"`,
		"-- stream --\n{}\n{\"type\"\n": "line 2",
		"-- stream --\n" + `{"type":"text_delta","data":{"text":5}}`: "text_delta",
	} {
		if _, err := script.Trace([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestArchivesSurviveFormatting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var files []script.File
		for range rapid.IntRange(0, 4).Draw(t, "files") {
			name := rapid.StringMatching(`[a-z.]{1,8}`).Draw(t, "name")
			lines := rapid.SliceOf(rapid.StringMatching(`[a-z {}"-]{0,12}`)).Draw(t, "lines")
			var data []byte
			for _, l := range lines {
				if !strings.HasPrefix(l, "--") {
					data = append(data, l+"\n"...)
				}
			}
			files = append(files, script.File{Name: name, Data: data})
		}
		back := script.ParseArchive(script.FormatArchive(files))
		if !slices.EqualFunc(files, back, func(a, b script.File) bool { return a.Name == b.Name && string(a.Data) == string(b.Data) }) {
			t.Fatalf("%q became %q", files, back)
		}
	})
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(trace))
	f.Fuzz(func(t *testing.T, text []byte) {
		turns, err := script.Trace(text)
		if err != nil {
			return
		}
		for _, turn := range turns {
			for _, s := range turn.Answer.Steps {
				if s.After < 0 || (s.Event == nil) == (s.Err == nil) {
					t.Fatalf("a step %+v", s)
				}
			}
		}
	})
}
