package wire

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"agentx/engine/event"
)

// frames finds out whether the answer is a stream at all. A content type that
// is missing or odd does no harm where the first bytes are those of a stream.
func (a *attempt) frames(resp *http.Response, body io.Reader) (*Reader, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if a.call.Lines {
		r := NewLineReader(body, a.client.maxLine())
		head, err := r.Peek(1)
		if err == nil && len(head) > 0 && head[0] != '{' {
			err = a.noStream(kind)
		}
		return r, err
	}
	r := NewReader(body, a.client.maxLine())
	head, err := r.Peek(len("retry:"))
	switch {
	case err != nil && len(head) == 0:
		return nil, err
	case len(head) == 0:
		return r, nil
	case head[0] == '{' || head[0] == '[':
		if p, ok := ParseProblem(r.Rest(maxProblem)); ok {
			return nil, a.call.FaultFrom(http.StatusOK, p)
		}
		return nil, a.noStream(kind)
	case head[0] != '<' && (kind == "text/event-stream" || fieldLike(head)):
		return r, nil
	}
	return nil, a.noStream(kind)
}

func (a *attempt) noStream(kind string) error {
	if kind == "" {
		kind = "no content type"
	}
	expected := "an event stream"
	if a.call.Lines {
		expected = "lines of JSON"
	}
	return a.call.fault(event.CodeProtocol, "expected %s, got %q from %s", expected, a.call.clean(kind), a.call.host())
}

func fieldLike(head []byte) bool {
	if head[0] == ':' {
		return true
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(head, []byte(field)) {
			return true
		}
	}
	return false
}
