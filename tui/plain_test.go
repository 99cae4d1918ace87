package tui

import (
	"bufio"
	"context"
	"os"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

// On a terminal that cannot be drawn on the chat is lines, and no escape
// sequence is among them.
func TestPlain(t *testing.T) {
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{feed: NewFeed(), answers: script.Turns{
		script.Say(event.MessageStart{MessageID: "a"}, event.TextDelta{Text: "Some **bold** \x1b[2Jtext."}, event.MessageStop{StopReason: event.EndTurn}),
		{Steps: []script.Step{{Err: &engine.Fault{Code: event.CodeQuota, Message: "no credit left"}}}},
	}}
	over := make(chan Result, 1)
	go func() { // ends when the story does
		r, _ := Run(t.Context(), Options{In: in, Out: out, Env: []string{"TERM=dumb"}, Feed: d.feed,
			Start: func(context.Context) (Backend, Opened, error) { return d, Opened{Model: small, Saved: true}, nil }})
		out.Close()
		over <- r
	}()
	var said strings.Builder
	screen := bufio.NewReader(read)
	until := func(end string) {
		for !strings.HasSuffix(said.String(), end) {
			b, err := screen.ReadByte()
			if err != nil {
				t.Fatalf("%v after\n%s", err, said.String())
			}
			said.WriteByte(b)
		}
	}
	for _, line := range []string{"hello", "again", "/help", "/quit"} {
		until("> ")
		said.WriteString(line + "\n")
		_, _ = keys.WriteString(line + "\n")
	}
	if r := <-over; r.Code != 0 || !r.Said {
		t.Errorf("it ends with %+v", r)
	}
	want := `- test/small answers. /quit leaves, Ctrl+C stops an answer.
> hello
(waiting)

(responding)
* Some bold ␛[2Jtext.
> again
(waiting)

x No credit left.
  Your message is saved.
  Top up the account, or choose another model with /model.
> /help
Here there are only /quit and /retry.
> /quit
`
	if got := said.String(); got != want {
		t.Errorf("the chat was\n%s\nwant\n%s", got, want)
	}
}
