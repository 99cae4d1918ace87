package ollama

import (
	"bytes"

	"agentx/engine/driver/wire"
)

// scan reads a chunk of the kind that nearly all are: it says or thinks
// something and is not the last. Of any other it reports false. Once the message
// has begun nobody asks for its model.
func (c *chunk) scan(data []byte, begun bool) bool {
	if !bytes.HasSuffix(data, []byte(`,"done":false}`)) {
		return false
	}
	s := wire.Scan(data)
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "message":
			c.Message.scan(&s)
		case "model":
			if begun {
				s.Skip()
			} else {
				c.Model = s.String()
			}
		case "created_at", "done":
			s.Skip()
		default:
			return false
		}
	}
	return s.Done()
}

func (m *said) scan(s *wire.Scanner) {
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "content":
			m.Content = s.String()
		case "thinking":
			m.Thinking = s.String()
		case "role":
			s.Skip()
		default:
			s.Fail()
		}
	}
}
