package gemini

import (
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A plain chunk is of the kind that nearly all are: it says something, or
// nothing, and counts.
type plain struct {
	text  string
	usage usage
}

func (d *decoder) plain(out []event.Stream, p plain) ([]event.Stream, error) {
	d.usage.tally(&p.usage)
	if p.text == "" && d.finish == "" {
		return out, wire.ErrPing
	}
	return d.text(out, p.text), nil
}

// scan reads a plain chunk. Of any other it reports false.
func (d *decoder) scan(data []byte) (p plain, ok bool) {
	s := wire.Scan(data)
	said, counted := false, false
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "candidates":
			once(&s, &said)
			p.candidates(&s)
		case "usageMetadata":
			once(&s, &counted)
			d.count(&s, &p.usage)
		case "modelVersion", "responseId", "createTime":
			s.Skip()
		default:
			return p, false
		}
	}
	return p, s.Done()
}

// once gives up where a field comes again.
func once(s *wire.Scanner, seen *bool) {
	if *seen {
		s.Fail()
	}
	*seen = true
}

func (p *plain) candidates(s *wire.Scanner) {
	n, said := 0, false
	for ok := s.EnterList(); ok; ok = s.Item() {
		if n++; n > 1 {
			s.Fail()
		}
		for key, ok := s.Enter(); ok; key, ok = s.Field() {
			switch string(key) {
			case "content":
				once(s, &said)
				p.content(s)
			case "index":
				if s.Int() != 0 {
					s.Fail()
				}
			default:
				s.Fail()
			}
		}
	}
}

func (p *plain) content(s *wire.Scanner) {
	said := false
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "parts":
			once(s, &said)
			p.parts(s)
		case "role":
			s.Skip()
		default:
			s.Fail()
		}
	}
}

func (p *plain) parts(s *wire.Scanner) {
	n := 0
	for ok := s.EnterList(); ok; ok = s.Item() {
		if n++; n > 1 {
			s.Fail()
		}
		for key, ok := s.Enter(); ok; key, ok = s.Field() {
			if string(key) != "text" {
				s.Fail()
				return
			}
			p.text = s.String()
		}
	}
}

func (d *decoder) count(s *wire.Scanner, u *usage) {
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "promptTokenCount":
			u.Prompt = d.number(s, 0)
		case "cachedContentTokenCount":
			u.Cached = d.number(s, 1)
		case "toolUsePromptTokenCount":
			u.Tools = d.number(s, 2)
		case "candidatesTokenCount":
			u.Answer = d.number(s, 3)
		case "thoughtsTokenCount":
			u.Thought = d.number(s, 4)
		case "totalTokenCount", "promptTokensDetails", "cacheTokensDetails", "toolUsePromptTokensDetails", "candidatesTokensDetails":
			s.Skip()
		case "trafficType":
			u.Traffic = s.String()
		case "serviceTier":
			u.Tier = s.String()
		default:
			s.Fail()
		}
	}
}

func (d *decoder) number(s *wire.Scanner, i int) *int64 {
	d.told[i] = int64(s.Int())
	return &d.told[i]
}
