package openai

import (
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A plain chunk is of the kind that nearly all are: it says or thinks something,
// or goes on with the input of a call, and no more.
type plain struct {
	text, thought string

	index   int // of the call
	input   string
	writing bool
}

func (d *decoder) plain(out []event.Stream, p plain) ([]event.Stream, error) {
	before := len(out)
	if p.thought != "" {
		out = append(out, event.ThinkingDelta{Text: p.thought})
	}
	if p.text != "" {
		out = append(out, event.TextDelta{Text: p.text})
	}
	if p.writing {
		out = d.piece(out, &toolCall{Index: &p.index}, p.input)
	}
	if len(d.calls) > wire.MaxCalls {
		return out, wire.TooManyCalls()
	}
	if len(out) == before && d.finish == "" && !p.writing {
		return out, wire.ErrPing
	}
	return out, nil
}

// scan reads a plain chunk. Of any other it reports false.
func scan(data []byte) (p plain, ok bool) {
	s := wire.Scan(data)
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "choices":
			p.choices(&s)
		case "usage", "error", "x_groq":
			notNull(&s)
		case "id", "object", "created", "model", "service_tier", "system_fingerprint", "provider", "obfuscation", "p":
			s.Skip()
		default:
			return p, false
		}
	}
	return p, s.Done()
}

// notNull gives up where there is something.
func notNull(s *wire.Scanner) {
	if !s.Null() {
		s.Fail()
	}
}

func (p *plain) choices(s *wire.Scanner) {
	n := 0
	for ok := s.EnterList(); ok; ok = s.Item() {
		if n++; n > 1 {
			s.Fail()
		}
		for key, ok := s.Enter(); ok; key, ok = s.Field() {
			switch string(key) {
			case "delta":
				p.delta(s)
			case "finish_reason":
				notNull(s)
			case "index", "logprobs", "native_finish_reason", "seed", "token_ids", "content_filter_results":
				s.Skip()
			default:
				s.Fail()
			}
		}
	}
	if n == 0 {
		s.Fail()
	}
}

func (p *plain) delta(s *wire.Scanner) {
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "content":
			if !s.Null() {
				p.text = s.String()
			}
		case "reasoning_content", "reasoning":
			if p.thought != "" {
				s.Skip() // the same again
			} else if !s.Null() {
				p.thought = s.String()
			}
		case "role", "token_id", "channel":
			s.Skip()
		case "tool_calls":
			if !s.Null() {
				p.calls(s)
			}
		case "refusal", "function_call":
			notNull(s)
		default:
			s.Fail()
		}
	}
}

// calls reads a list of one call that goes on: it has an index, no id and no
// name.
func (p *plain) calls(s *wire.Scanner) {
	indexed := false
	for ok := s.EnterList(); ok; ok = s.Item() {
		if p.writing {
			s.Fail()
		}
		p.writing = true
		for key, ok := s.Enter(); ok; key, ok = s.Field() {
			switch string(key) {
			case "index":
				p.index, indexed = s.Int(), true
			case "type":
				s.Skip()
			case "function":
				p.function(s)
			default:
				s.Fail()
			}
		}
	}
	if !indexed {
		s.Fail()
	}
}

func (p *plain) function(s *wire.Scanner) {
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		if string(key) != "arguments" {
			s.Fail()
			return
		}
		p.input = s.String()
	}
}
