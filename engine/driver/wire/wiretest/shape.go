package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"testing/iotest"
)

// Shapes are ways in which the same stream may arrive, by their names.
type Shapes map[string]func() io.Reader

// Whole is a stream that arrives as it is.
func Whole(body []byte) func() io.Reader {
	return func() io.Reader { return bytes.NewReader(body) }
}

func oneByte(body []byte) func() io.Reader {
	return func() io.Reader { return iotest.OneByteReader(bytes.NewReader(body)) }
}

// Lines are the shapes of lines.
func Lines(body []byte) Shapes {
	crlf := replace(unix(body), "\n", "\r\n")
	return Shapes{
		"whole":    Whole(body),
		"one byte": oneByte(body),
		"data+EOF": func() io.Reader { return iotest.DataErrReader(bytes.NewReader(body)) },
		"crlf":     Whole(crlf),
		"crlf cut": oneByte(crlf),
		"bom":      Whole(append([]byte("\xEF\xBB\xBF"), body...)),
	}
}

// Events are the shapes of server-sent events.
func Events(body []byte) Shapes {
	all, lf := Lines(body), unix(body)
	comments := replace(lf, "\n\n", "\n\n: still here\n\n:\nretry: 1\nid: 7\n\n")
	if len(lf) < len(body) {
		comments = replace(comments, "\n", "\r\n")
	}
	all["comments"] = Whole(comments)
	all["cr"] = Whole(replace(lf, "\n", "\r"))
	all["no spaces"] = Whole(replace(lf, "data: ", "data:"))
	return all
}

func unix(body []byte) []byte { return replace(body, "\r\n", "\n") }

func replace(body []byte, from, to string) []byte {
	return bytes.ReplaceAll(body, []byte(from), []byte(to))
}

// Served answers every request with the same bytes.
type Served struct {
	Status int
	Header map[string]string
	Body   func() io.Reader
}

// RoundTrip answers. What the body was packed with is not said: recordings were
// kept as they read.
func (s Served) RoundTrip(req *http.Request) (*http.Response, error) {
	h := http.Header{}
	for k, v := range s.Header {
		if k != "content-encoding" {
			h.Set(k, v)
		}
	}
	return &http.Response{StatusCode: s.Status, Header: h, Body: io.NopCloser(s.Body()), Request: req}, nil
}
