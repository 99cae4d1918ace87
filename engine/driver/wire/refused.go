package wire

import (
	"fmt"
	"iter"

	"agentx/engine/event"
)

// refused finds the messages that were new to a provider when it refused the
// request that they came with, by their place in the history.
func refused(history iter.Seq[event.Message]) map[int]bool {
	all := map[int]bool{}
	var fresh []int
	n := -1
	for m := range history {
		n++
		switch m := m.(type) {
		case event.UserMessage, event.ToolResultMessage:
			fresh = append(fresh, n)
		case event.AssistantMessage:
			fresh = fresh[:0] // what it answers has been read
		case event.ErrorMessage:
			if unwelcome(m.ErrorCode) {
				for _, i := range fresh {
					all[i] = true
				}
				fresh = fresh[:0]
			}
		}
	}
	return all
}

// unwelcome reports whether a failure may be for what was shown. A network that
// was down, a key and a quota are not.
func unwelcome(code event.ErrorCode) bool {
	return code == event.CodeInvalidRequest || code == event.CodeContentFilter || code == event.CodeContextOverflow
}

// withoutMedia are the parts with a line of text in the place of each image and
// file.
func withoutMedia[P ~[]event.Part](parts P) P {
	var kept P
	for _, p := range parts {
		switch media := p.(type) {
		case event.Image:
			p = event.Text{Text: "[An image was here. It was refused and has been left out.]"}
		case event.File:
			p = event.Text{Text: fmt.Sprintf("[The file %q was here. It was refused and has been left out.]", media.Filename)}
		}
		kept = append(kept, p)
	}
	return kept
}
