package gemini

import (
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

// fresh is a decoder of an answer that has not begun.
func fresh() wire.Decoder { return newDecoder(wire.Call{Provider: "P"}, "asked") }

func TestStreams(t *testing.T) { wiretest.TestStreams(t, fresh) }

func FuzzDecode(f *testing.F) { wiretest.Fuzz(f, fresh) }

const begun = `data: {"candidates":[{"content":{"parts":[{"text":"Well"}]}}],"responseId":"r"}` + "\r\n\r\n"

// TestFailures tells what is said of an answer that fails in its stream, and
// whether the same question may be asked again.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		data    string
		code    event.ErrorCode
		again   bool
		message string
	}{
		{`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, event.CodeOverloaded, true, "P is overloaded (503): The model is overloaded"},
		{`[{"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED"}}]`, event.CodeRateLimit, true, "P was asked too often (429): Slow down"},
		{`{"error":{"message":"gone","status":"NOT_FOUND"}}`, event.CodeNotFound, false, "P does not know the model or the address (404): gone"},
		{`{"error":{"message":"no idea"}}`, event.CodeServer, true, "P failed: no idea"},
		{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, event.CodeContentFilter, false, "P refused the content (PROHIBITED_CONTENT)"},
		{`{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"A name."}}`, event.CodeContentFilter, false, "P refused the content (OTHER): A name"},
		{`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(\u001b[2J)"}]}`, event.CodeServer, true, "P broke off its answer (MALFORMED_FUNCTION_CALL): Malformed function call: print(␛[2J)"},
		{`{"candidates":[{"finishReason":"TOO_MANY_TOOL_CALLS"}]}`, event.CodeServer, false, "P broke off its answer (TOO_MANY_TOOL_CALLS)"},
	} {
		events, err := wiretest.Decode(fresh(), []byte(begun+"data: "+test.data+"\r\n\r\n"))
		f := engine.FaultOf(err)
		if err == nil || f.Code != test.code || f.Retryable != test.again || f.Message != test.message {
			t.Errorf("%s\nis %+v, want %s: %s", test.data, f, test.code, test.message)
		}
		if n := len(events); n < 2 || events[1] != (event.TextDelta{Text: "Well"}) {
			t.Errorf("%s: what came before is lost: %v", test.data, events)
		}
	}
}

// TestFiltered tells what is said where the filter has left nothing.
func TestFiltered(t *testing.T) {
	events, err := wiretest.Decode(fresh(), []byte(`data: {"candidates":[{"finishReason":"SAFETY","finishMessage":"Not this."}]}`+"\r\n\r\n"))
	if f := engine.FaultOf(err); err == nil || f.Code != event.CodeContentFilter || f.Retryable || f.Message != "P refused the content (SAFETY): Not this" {
		t.Errorf("%v, error %v", events, err)
	}
}

// TestReasons tells why an answer ends, and that one without a reason does not.
func TestReasons(t *testing.T) {
	for reason, want := range map[string]event.StopReason{
		"STOP": event.EndTurn, "MAX_TOKENS": event.MaxTokens,
		"SAFETY": event.ContentFilter, "RECITATION": event.ContentFilter, "BLOCKLIST": event.ContentFilter, "PROHIBITED_CONTENT": event.ContentFilter, "SPII": event.ContentFilter,
		"OTHER": event.StopOther, "LANGUAGE": event.StopOther, "FROM_THE_FUTURE": event.StopOther,
		"": "",
	} {
		events, err := wiretest.Decode(fresh(), []byte(begun+`data: {"candidates":[{"finishReason":"`+reason+`"}]}`+"\n\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := event.StopReason("")
		if stop, ok := events[len(events)-1].(event.MessageStop); ok {
			got = stop.StopReason
		}
		if got != want {
			t.Errorf("%q ends with %q, want %q", reason, got, want)
		}
	}
}

// TestTooMany gives up on a message that calls without end.
func TestTooMany(t *testing.T) {
	calls := strings.Repeat(`{"functionCall":{"name":"t"}},`, wire.MaxCalls) + `{"functionCall":{"name":"t"}}`
	events, err := wiretest.Decode(fresh(), []byte(`data: {"candidates":[{"content":{"parts":[`+calls+`]}}]}`+"\n\n"))
	if f := engine.FaultOf(err); f.Code != event.CodeTooLarge {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestLongInput breaks an input of too many pieces, and says so.
func TestLongInput(t *testing.T) {
	piece := `data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"` + strings.Repeat("x", 1<<15) + `"}],"willContinue":true}}]}}]}` + "\n\n"
	stream := `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","willContinue":true}}]}}],"responseId":"r"}` + "\n\n" + strings.Repeat(piece, 40) +
		`data: {"candidates":[{"finishReason":"STOP"}]}` + "\n\n"
	events, err := wiretest.Decode(fresh(), []byte(stream))
	if err != nil || len(events) != 5 || events[2] != (event.InputJSONDelta{PartialJSON: "a piece at $.a has no place", ToolCallID: "call_r_1"}) {
		t.Errorf("%v, error %v", events, err)
	}
}
