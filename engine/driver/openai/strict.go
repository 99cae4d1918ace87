package openai

import (
	"crypto/sha256"
	"math/big"
	"strings"
)

// strictly puts messages into the form that Mistral wants: calls are known by
// nine letters and digits, and behind their results it is the assistant's turn
// to speak.
func strictly(messages []message) []message {
	var all []message
	short := shortener{given: map[string]string{}, taken: map[string]bool{}}
	for _, m := range messages {
		for i := range m.ToolCalls {
			m.ToolCalls[i].ID = short.name(m.ToolCalls[i].ID)
		}
		if m.ToolCallID != "" {
			m.ToolCallID = short.name(m.ToolCallID)
		}
		if n := len(all); n > 0 && m.Role == "user" && all[n-1].Role == "tool" {
			all = append(all, message{Role: "assistant", Content: "I have the results."})
		}
		all = append(all, m)
	}
	return all
}

// A shortener gives every id a short one: itself where it is that.
type shortener struct {
	given map[string]string
	taken map[string]bool
}

const shortLength = 9

func (s shortener) name(id string) string {
	if short, ok := s.given[id]; ok {
		return short
	}
	short := id
	for salt := id; !isShort(short) || s.taken[short]; salt += "+" {
		sum := sha256.Sum256([]byte(salt))
		digits := new(big.Int).SetBytes(sum[:]).Text(62)
		short = strings.Repeat("0", max(0, shortLength-len(digits))) + digits[max(0, len(digits)-shortLength):]
	}
	s.given[id], s.taken[short] = short, true
	return short
}

func isShort(id string) bool {
	for _, r := range id {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			return false
		}
	}
	return len(id) == shortLength
}
