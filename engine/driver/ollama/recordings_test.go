package ollama

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"testing/iotest"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

var reading = wiretest.Reading{
	Driver: func(_ string, c *wire.Client) engine.Driver { return Driver{Client: c} },
	Shapes: shapes,
	Stop:   stopOf,
	Usage:  usageOf,
}

func TestRecordings(t *testing.T) { reading.Test(t, wiretest.Recordings(t, "ollama")) }

// shapes are ways in which the same lines may arrive.
func shapes(body []byte) wiretest.Shapes {
	all := wiretest.Lines(body)
	all["halves"] = func() io.Reader { return iotest.HalfReader(bytes.NewReader(body)) }
	all["blank lines"] = wiretest.Whole(bytes.ReplaceAll(body, []byte("\n"), []byte("\n\n \n")))
	all["no last end"] = wiretest.Whole(bytes.TrimSpace(body))
	all["unknown fields"] = wiretest.Whole(bytes.ReplaceAll(body, []byte(`"done":`), []byte(`"future":{"x":[1,"\n"]},"done":`)))
	return all
}

func stopOf(r wiretest.Recording) event.StopReason {
	stop := map[string]event.StopReason{"stop": event.EndTurn, "length": event.MaxTokens}[r.Expected.StopReason]
	if stop == event.EndTurn && len(r.ToolCalls()) > 0 {
		return event.ToolUse
	}
	return stop
}

func usageOf(t *testing.T, r wiretest.Recording) event.Usage {
	var u struct {
		Input  int64 `json:"prompt_eval_count"`
		Output int64 `json:"eval_count"`
	}
	if err := json.Unmarshal(r.Expected.Usage, &u); err != nil {
		t.Fatal(err)
	}
	return event.Usage{InputTokens: u.Input, OutputTokens: u.Output}
}

// TestRecordedRefusals checks that none is mistaken for an answer or for a fault of ours.
func TestRecordedRefusals(t *testing.T) {
	codes := map[int]event.ErrorCode{400: event.CodeInvalidRequest, 404: event.CodeNotFound}
	reading.TestRefusals(t, wiretest.Recordings(t, "ollama"), func(t *testing.T, r wiretest.Recording, f *engine.Fault) {
		if want := codes[r.Status]; f.Code != want {
			t.Errorf("code %q, want %q", f.Code, want)
		}
	})
}
