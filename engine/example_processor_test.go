package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// WordsCounted is an event of our own: any type with a name can be the data of
// an event. It belongs to no layer.
type WordsCounted struct {
	Words int `json:"words"`
}

func (WordsCounted) Type() string { return "words_counted" }

// count counts the words of the messages of a turn. It reads what the engine's
// own processor has put out: whole messages, and the end of the turn.
func count(words int, in event.Event) (int, []event.Event) {
	switch d := in.Data.(type) {
	case event.AssistantMessage:
		return words + len(strings.Fields(d.Content.Text())), nil
	case event.TurnResponse:
		return 0, []event.Event{{At: in.At, Data: WordsCounted{words}}}
	}
	return words, nil
}

// A processor stands beside the engine's in one machine. Follow feeds the
// outputs of each back to both: that is re-injection (F28, F62).
func Example_processorOfOnesOwn() {
	type state struct {
		engine engine.State
		words  int
	}
	whole := func(e event.Event) bool { return event.LayerOf(e.Data) != event.StreamLayer }
	both := mealy.Combine(
		mealy.Field(func(s *state) *engine.State { return &s.engine }, engine.Step),
		mealy.Field(func(s *state) *int { return &s.words }, mealy.Filter(whole, count)),
	)
	var s state
	req := engine.Request{Message: event.UserMessage{ID: "u1", Content: event.Say("one two three four")}}
	follow := func(d event.Data) {
		for e := range mealy.Follow(both, &s, event.Event{Data: d}) {
			if w, ok := e.Data.(WordsCounted); ok {
				line, _ := json.Marshal(w)
				fmt.Println(w.Type(), string(line))
			}
		}
	}
	follow(req.Message)
	for d, err := range (parrot{}).Receive(context.Background(), req) {
		if err != nil {
			fmt.Println(err)
			return
		}
		follow(d)
	}
	// Output:
	// words_counted {"words":4}
}
