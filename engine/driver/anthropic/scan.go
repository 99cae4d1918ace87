package anthropic

import "agentx/engine/driver/wire"

// scan reads an event of the kind that nearly all are: a delta of text. Of any
// other it reports false.
func (f *frame) scan(data []byte) bool {
	*f = frame{}
	s := wire.Scan(data)
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "type":
			if string(s.Bytes()) != "content_block_delta" {
				return false
			}
			f.Type = "content_block_delta"
		case "index":
			f.Index = s.Int()
		case "delta":
			f.scanDelta(&s)
		default:
			return false
		}
	}
	return s.Done() && f.Type != ""
}

func (f *frame) scanDelta(s *wire.Scanner) {
	d := &f.Delta
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "type":
			switch string(s.Bytes()) {
			case "text_delta":
				d.Type = "text_delta"
			case "thinking_delta":
				d.Type = "thinking_delta"
			case "input_json_delta":
				d.Type = "input_json_delta"
			default:
				s.Fail()
			}
		case "text":
			d.Text = s.String()
		case "thinking":
			d.Thinking = s.String()
		case "partial_json":
			d.PartialJSON = s.String()
		default:
			s.Fail()
		}
	}
}
