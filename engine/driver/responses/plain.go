package responses

import "agentx/engine/driver/wire"

// scan reads an event of the kind that nearly all are: a piece of a text, of a
// thought or of a call's input. Of any other it reports false. The id of the
// item stands in id for as long as data is valid.
func (f *frame) scan(data []byte) (id []byte, ok bool) {
	*f = frame{}
	s := wire.Scan(data)
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "type":
			if f.Type = plain(s.Bytes()); f.Type == "" {
				return nil, false
			}
		case "delta":
			f.Delta = s.String()
		case "item_id":
			id = s.Bytes()
		case "output_index":
			f.index, f.indexed = s.Int(), true
		case "content_index":
			f.ContentIndex = s.Int()
		case "summary_index":
			f.SummaryIndex = s.Int()
		case "sequence_number", "logprobs", "obfuscation":
			s.Skip()
		default:
			return nil, false
		}
	}
	return id, s.Done() && f.Type != ""
}

// plain is the name of an event that carries a piece and no more, else nothing.
func plain(name []byte) string {
	switch string(name) {
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "response.reasoning_summary_text.delta":
		return "response.reasoning_summary_text.delta"
	case "response.reasoning_text.delta":
		return "response.reasoning_text.delta"
	case "response.function_call_arguments.delta":
		return "response.function_call_arguments.delta"
	}
	return ""
}
