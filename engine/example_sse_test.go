package engine_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// sse sends what a driver streams as server-sent events, each as it comes.
func sse(w http.ResponseWriter) engine.Presenter {
	line := http.NewResponseController(w)
	return engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Stream) error {
		data, err := event.MarshalData(d)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", d.Type(), data); err != nil {
			return err
		}
		return line.Flush()
	})
}

// A page answers questions over HTTP.
type page struct{ engine engine.Engine }

func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	question, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	if err != nil {
		http.Error(w, "the question is too long", http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	e := p.engine // a value: this request has one of its own
	e.Presenters = append(e.Presenters[:len(e.Presenters):len(e.Presenters)], sse(w))
	req := engine.Request{Agent: "web", Message: event.UserMessage{ID: "u1", Content: event.Say(string(question))}}
	if err := e.Receive(r.Context(), req); err != nil { // whoever closes the page interrupts the answer
		slog.Error("answering", "error", err)
	}
}

// One engine answers any number of pages at once (F24).
func ExamplePresenter_sse() {
	server := httptest.NewServer(page{engine.Engine{Driver: parrot{}}})
	defer server.Close()
	resp, err := http.Post(server.URL, "text/plain", strings.NewReader("Land ahoy"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	// Output:
	// event: message_start
	// data: {"messageId":"re_u1","model":"parrot-1"}
	//
	// event: text_delta
	// data: {"text":"Land "}
	//
	// event: text_delta
	// data: {"text":"ahoy"}
	//
	// event: message_stop
	// data: {"stopReason":"end_turn"}
}
