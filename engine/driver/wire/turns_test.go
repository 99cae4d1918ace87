package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// TestRefusedAttachments tells what is shown again of a file that came with a
// question, or out of a tool, when that question went wrong.
func TestRefusedAttachments(t *testing.T) {
	pdf := event.File{MediaType: "application/pdf", Data: []byte("%PDF"), Filename: "plan.pdf"}
	picture := event.Image{MediaType: "image/png", Data: []byte{1}}
	asks := func(text string, parts ...event.Part) event.Message {
		return event.UserMessage{Content: append(event.Say(text), parts...)}
	}
	fails := func(code event.ErrorCode) event.Message { return event.ErrorMessage{ErrorCode: code} }
	answer := event.AssistantMessage{ID: "m", Content: event.Parts{event.Text{Text: "Yes."}}}
	call := event.AssistantMessage{ID: "n", StopReason: event.ToolUse, Content: event.Parts{event.ToolCall{ID: "a", Name: "look"}}}
	seen := event.ToolResultMessage{ParentID: "n", ToolCallID: "a", ToolResult: event.ToolReturn{ID: "a", Output: event.Output{Kind: event.OutputContent, Parts: event.Parts{picture, event.Text{Text: "seen"}}}}}
	for _, test := range []struct {
		name    string
		history []event.Message
		want    string // the turns, as tell has them
	}{
		{"refused", []event.Message{asks("read", pdf), fails(event.CodeInvalidRequest), asks("hi")}, `user: read, [The file "plan.pdf" was here. It was refused and has been left out.], hi`},
		{"too long", []event.Message{asks("read", pdf), fails(event.CodeContextOverflow), asks("hi")}, `user: read, [The file "plan.pdf" was here. It was refused and has been left out.], hi`},
		{"filtered", []event.Message{asks("look", picture), fails(event.CodeContentFilter), asks("hi")}, `user: look, [An image was here. It was refused and has been left out.], hi`},
		{"the network was down", []event.Message{asks("read", pdf), fails(event.CodeNetwork), asks("again")}, `user: read, plan.pdf, again`},
		{"the key was wrong, then the file", []event.Message{asks("read", pdf), fails(event.CodeAuthentication), asks("again"), fails(event.CodeInvalidRequest), asks("hi")}, `user: read, [The file "plan.pdf" was here. It was refused and has been left out.], again, hi`},
		{"attached again", []event.Message{asks("read", pdf), fails(event.CodeInvalidRequest), asks("now", pdf)}, `user: read, [The file "plan.pdf" was here. It was refused and has been left out.], now, plan.pdf`},
		{"it was read before", []event.Message{asks("read", pdf), answer, asks("look", picture), fails(event.CodeInvalidRequest), asks("hi")},
			`user: read, plan.pdf; model: Yes.; user: look, [An image was here. It was refused and has been left out.], hi`},
		{"a tool's", []event.Message{asks("look"), call, seen, fails(event.CodeInvalidRequest), asks("hi")},
			`user: look; model: look(); user: ([An image was here. It was refused and has been left out.], seen), hi`},
	} {
		if got := tell(wire.Turns(slices.Values(test.history), func(string) bool { return true })); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	if len(seen.ToolResult.Output.Parts) != 2 || seen.ToolResult.Output.Parts[0].(event.Image).Data == nil {
		t.Error("the history has been changed")
	}
}

// tell spells turns out.
func tell(turns []wire.Turn) string {
	var all []string
	for _, turn := range turns {
		who := map[bool]string{true: "model", false: "user"}[turn.Assistant]
		all = append(all, who+": "+spell(turn.Parts))
	}
	return strings.Join(all, "; ")
}

func spell(parts []event.Part) string {
	var all []string
	for _, p := range parts {
		switch p := p.(type) {
		case event.Text:
			all = append(all, p.Text)
		case event.File:
			all = append(all, p.Filename)
		case event.Image:
			all = append(all, "image")
		case event.ToolCall:
			all = append(all, p.Name+"()")
		case event.ToolReturn:
			all = append(all, fmt.Sprintf("(%s)", spell(p.Output.Parts)))
		}
	}
	return strings.Join(all, ", ")
}
