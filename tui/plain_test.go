package tui

import (
	"bufio"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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
		script.Say(event.MessageStart{MessageID: "b"}, event.TextDelta{Text: "One.\n\n- two\n- three\n"}, event.MessageStop{StopReason: event.EndTurn}),
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
	until := func(ends ...string) {
		asks := func(end string) bool { return strings.HasSuffix(said.String(), end) && screen.Buffered() == 0 }
		for !slices.ContainsFunc(ends, asks) {
			_ = read.SetReadDeadline(time.Now().Add(ever))
			b, err := screen.ReadByte()
			if err != nil {
				t.Fatalf("%v after\n%s", err, said.String())
			}
			said.WriteByte(b)
		}
	}
	for _, line := range []string{"hello", "again", "/model", "large", "1", "/retry", "more", "/sessions", "delete 1", "1", "", "/rename", "A shady \x1b]2;garden", "/nothing", "/modle", "/help", "/quit"} {
		until("You: ", "Answer: ")
		said.WriteString(line + "\n")
		_, _ = keys.WriteString(line + "\n")
	}
	if r := <-over; r.Code != 0 || !r.Said {
		t.Errorf("it ends with %+v", r)
	}
	talk, help, _ := strings.Cut(said.String(), "You: /help\n")
	got := strings.ReplaceAll(states.ReplaceAllString(talk, ""), " Mar 2026\n", " Mar\n")
	if want := conversation; got != want {
		t.Errorf("the chat was\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(help, "\n/retry: ask the last message again\n") || strings.Contains(help, "/theme") {
		t.Errorf("the commands are\n%s", help)
	}
	if strings.Contains(strings.ReplaceAll(said.String(), "A shady \x1b]2;garden\n", ""), "\x1b") {
		t.Errorf("an escape sequence is in\n%q", said.String())
	}
}

// states are what is going on, which is said only where a machine is slow enough
// to show it, and blank lines, which then stand elsewhere.
var states = regexp.MustCompile(`(?m)^(?:\((?:waiting|responding)\))?\n`)

const conversation = `Note: test/small answers. /help says what else there is, /quit leaves,
  Ctrl+C stops an answer.
You: hello
Assistant: Some bold ␛[2Jtext.
You: again
Assistant: One.
  • two
  • three
You: /model
Models:
1. test/small, quick, now
2. test/large, slow and good
3. near, ask its server what it has, more
4. far, give it your key, set up
A number: use. Words narrow the list, an empty line goes back.
Answer: large
Models:
1. test/large, slow and good
A number: use. Words narrow the list, an empty line goes back.
Answer: 1
Note: test/large answers from the next message on.
You: /retry
You: again
Assistant: One.
  • two
  • three
You: more
Error: No credit left.
  Your message is saved.
  Top up the account, or choose another model with /model.
You: /sessions
Sessions:
1. Keys and models, 4 messages, 1 Mar
2. A plan for the garden, 8 messages, 2 Mar
3. untitled, 12 messages, 3 Mar
A number: open. Words narrow the list, an empty line goes back. With the first, for one: preview 1, rename 1, delete 1.
Answer: delete 1
Delete this session?
Keys and models
It cannot be brought back.
1. keep it
2. delete it
Answer with a number; an empty line changes nothing.
Answer: 1
Sessions:
1. Keys and models, 4 messages, 1 Mar
2. A plan for the garden, 8 messages, 2 Mar
3. untitled, 12 messages, 3 Mar
A number: open. Words narrow the list, an empty line goes back. With the first, for one: preview 1, rename 1, delete 1.
Answer: 
You: /rename
Title of the session:
An empty line leaves it as it is.
Answer: A shady ` + "\x1b" + `]2;garden
Note: This session is now called “A shady ␛]2;garden”.
You: /nothing
Note: There is no command /nothing. /help shows them; a space before the
  slash makes it a message.
You: /modle
Note: There is no command /modle. Did you mean /model?
`
