package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// causes are the inputs among the lines of a conversation: what the user said,
// and what the driver streamed. All the rest follows from them.
func causes(lines io.Reader) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for dec := json.NewDecoder(lines); ; {
			var e event.Event
			if err := dec.Decode(&e); err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Println(err)
				}
				return
			}
			_, said := e.Data.(event.UserMessage)
			if (said || event.LayerOf(e.Data) == event.StreamLayer) && !yield(e) {
				return
			}
		}
	}
}

// A conversation is a function of its inputs. Take the causes out of a recording
// and let them happen again: every effect comes back, to the byte (F123).
func Example_replay() {
	clock := time.UnixMilli(1000)
	tick := func() time.Time { clock = clock.Add(25 * time.Millisecond); return clock }

	var live, again bytes.Buffer
	record := json.NewEncoder(&live)
	e := engine.Engine{Driver: abacus{}, Now: tick}
	req := engine.Request{Message: event.UserMessage{ID: "u1", Content: event.Say("1 2 3"), Timestamp: 1000}}
	for ev, err := range e.Events(context.Background(), req) {
		if err == nil {
			err = record.Encode(ev)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	recording := live.Bytes()

	replay := json.NewEncoder(&again)
	inputs, all := 0, 0
	for range causes(bytes.NewReader(recording)) {
		inputs++
	}
	for ev := range mealy.Replay(engine.Step, engine.State{}, causes(bytes.NewReader(recording))) {
		all++
		if err := replay.Encode(ev); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(inputs, "inputs,", all, "events, the same bytes:", bytes.Equal(recording, again.Bytes()))
	// Output:
	// 9 inputs, 20 events, the same bytes: true
}
