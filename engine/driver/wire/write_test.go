package wire

import (
	"encoding/json"
	"testing"

	"agentx/engine/event"
)

// Parts are alike where they say the same, whoever holds them, and nowhere else:
// what differs in the least is written anew.
func TestAlike(t *testing.T) {
	parts := func() []event.Part {
		return []event.Part{
			event.Text{}, event.Text{Text: "a"}, event.Thinking{Text: "a"}, event.Thinking{Text: "a", Signature: "s"}, event.Thinking{Signature: "s"},
			event.Aside{Text: "a"}, event.Aside{Kind: event.AsideSearch, Text: "a"}, event.Aside{Text: "a", URL: "u"},
			event.ToolCall{}, event.ToolCall{ID: "a"}, event.ToolCall{Name: "a"}, event.ToolCall{Input: json.RawMessage{}}, event.ToolCall{Input: json.RawMessage("{}")},
			event.ToolCall{InputError: "a"}, event.ToolCall{Raw: "a"},
			event.ToolReturn{}, event.ToolReturn{ID: "a"}, event.ToolReturn{Name: "a"}, event.ToolReturn{Output: event.Output{Kind: event.OutputError}},
			event.ToolReturn{Output: event.Output{Text: "a"}}, event.ToolReturn{Output: event.Output{JSON: json.RawMessage("{}")}},
			event.ToolReturn{Output: event.Output{Parts: event.Parts{event.Text{Text: "a"}}}}, event.ToolReturn{Output: event.Output{Parts: event.Parts{event.Image{URL: "a"}}}},
			event.Image{}, event.Image{MediaType: "a"}, event.Image{Data: []byte{}}, event.Image{Data: []byte{1}}, event.Image{URL: "a"}, event.Image{Name: "a"},
			event.File{}, event.File{MediaType: "a"}, event.File{Data: []byte{1}}, event.File{Filename: "a"},
		}
	}
	others := parts()
	for i, a := range parts() {
		for j, b := range others {
			if got := alike(Turn{Parts: []event.Part{a}}, Turn{Parts: []event.Part{b}}); got != (i == j) {
				t.Errorf("%#v and %#v are alike: %v", a, b, got)
			}
		}
		if alike(Turn{Parts: []event.Part{a}}, Turn{Parts: []event.Part{a}, Assistant: true}) || alike(Turn{Parts: []event.Part{a}}, Turn{Parts: []event.Part{a, a}}) {
			t.Errorf("%#v is the same of whomever, or twice", a)
		}
	}
}
