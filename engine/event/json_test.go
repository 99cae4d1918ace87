package event_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine/enginetest"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

// fields are the names that everybody sees: every field of every type. One that
// may be absent ends with a question mark.
const fields = `
message_start            messageId model
thinking_delta           text signature?
text_delta               text
tool_use_start           toolCallId toolName
input_json_delta         partialJson toolCallId?
tool_use_stop            toolCallId? input?
tool_result              toolCallId result isError?
message_delta            usage
message_stop             stopReason stopSequence?
error_received           message errorCode? retryable?
interrupted              reason
retrying                 attempt maxAttempts delayMs reason
aside                    kind text url?

conversation_queued      messageId
conversation_start       messageId
conversation_thinking
conversation_responding
tool_planned             toolId toolName
tool_executing           toolId toolName input
tool_completed           toolId toolName result
tool_failed              toolId toolName error
conversation_interrupted reason
error_occurred           code message recoverable
conversation_end         reason

user_message             role id content timestamp parentId?
assistant_message        role id content timestamp model? stopReason? incomplete? usage? parentId?
tool_call_message        role id toolCall timestamp parentId?
tool_result_message      role id toolCallId toolResult timestamp parentId?
error_message            role id content errorCode? timestamp parentId?

turn_request             turnId messageId content timestamp
turn_response            turnId messageId durationMs timeToFirstTokenMs usage costUsd model stopReason toolCalls messages timestamp requests?
`

// Every event is read by its name, and has the fields that everybody sees
// (F30).
func TestTheNamesOnTheWire(t *testing.T) {
	for line := range strings.Lines(fields) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name, want := words[0], words[1:]
		d, err := event.UnmarshalData(name, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, unknown := d.(event.Unknown); unknown || d.Type() != name {
			t.Fatalf("%s is read as %T, a %s", name, d, d.Type())
		}
		required := slices.DeleteFunc(slices.Clone(want), func(f string) bool { return strings.HasSuffix(f, "?") })
		if got := keys(t, d); !same(got, required) {
			t.Errorf("an empty %s has %q, want %q", name, got, required)
		}
		full := rapid.Custom(func(t *rapid.T) event.Data {
			rapid.Bool().Draw(t, "nothing") // some types have no fields, and a draw must draw
			return fill(t, reflect.TypeOf(d), true).Interface().(event.Data)
		}).Example(1)
		for i, f := range want {
			want[i] = strings.TrimSuffix(f, "?")
		}
		if got := keys(t, full); !same(got, want) {
			t.Errorf("a full %s has %q, want %q", name, got, want)
		}
	}
}

func same(a, b []string) bool {
	slices.Sort(a)
	b = slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func keys(t *testing.T, d event.Data) []string {
	t.Helper()
	b, err := event.MarshalData(d)
	if err != nil {
		t.Fatalf("%s: %v", d.Type(), err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil {
		t.Fatalf("%s: %s: %v", d.Type(), b, err)
	}
	var names []string
	for name := range object {
		names = append(names, name)
	}
	return names
}

// all is one event of each type.
func all() []event.Data {
	var data []event.Data
	for _, e := range enginetest.Conversation() {
		data = append(data, e.Data)
	}
	return data
}

// Every event of every type is the same after it was written and read (F30).
func TestEventsSurviveTheWire(t *testing.T) {
	for _, d := range all() {
		if _, ok := d.(event.Unknown); ok {
			continue
		}
		t.Run(d.Type(), rapid.MakeCheck(func(t *rapid.T) {
			e := event.Event{
				At:   time.UnixMilli(rapid.Int64Range(0, 1e13).Draw(t, "at")).UTC(),
				Data: fill(t, reflect.TypeOf(d), rapid.Bool().Draw(t, "full")).Interface().(event.Data),
			}
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatalf("%+v: %v", e, err)
			}
			if bytes.ContainsRune(line, '\n') {
				t.Fatalf("more than a line: %q", line)
			}
			var back event.Event
			if err := json.Unmarshal(line, &back); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if !reflect.DeepEqual(e, back) {
				t.Fatalf("%s\nwas  %#v\nread %#v", line, e, back)
			}
		}))
	}
}

// fill makes a value of a type: every field drawn, and with full none empty.
func fill(t *rapid.T, typ reflect.Type, full bool) reflect.Value {
	text := rapid.StringN(boolInt(full), -1, -1)
	raw := rapid.SampledFrom([]json.RawMessage{json.RawMessage(`{"a":[1,2.5,null]}`), json.RawMessage(`[]`), json.RawMessage(`true`)})
	switch typ {
	case reflect.TypeFor[json.RawMessage]():
		return reflect.ValueOf(raw.Draw(t, "json"))
	case reflect.TypeFor[event.USD]():
		return reflect.ValueOf(event.USD(rapid.Int64Range(-1e18, 1e18).Draw(t, "usd")))
	case reflect.TypeFor[event.Output]():
		return reflect.ValueOf(output(t, raw.Draw(t, "json"), text))
	case reflect.TypeFor[event.Part]():
		return part(t, full)
	case reflect.TypeFor[event.OutputKind]():
		return reflect.ValueOf(event.OutputText)
	}
	v := reflect.New(typ).Elem()
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			v.Field(i).Set(fill(t, typ.Field(i).Type, full))
		}
		if r, ok := v.Interface().(event.ToolResult); ok { // the flag and the kind say the same
			r.IsError = r.Result.Kind == event.OutputError || r.Result.Kind == event.OutputDenied
			return reflect.ValueOf(r)
		}
	case reflect.Pointer:
		if full || rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(typ.Elem()))
			v.Elem().Set(fill(t, typ.Elem(), full))
		}
	case reflect.Slice:
		for range rapid.IntRange(1, 3).Draw(t, "length") {
			v = reflect.Append(v, fill(t, typ.Elem(), full))
		}
	case reflect.String:
		v.SetString(text.Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(full || rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(1, 1e12).Draw(t, "number"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	default:
		t.Fatalf("nobody knows how to fill a %s", typ)
	}
	return v
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func output(t *rapid.T, raw json.RawMessage, text *rapid.Generator[string]) event.Output {
	switch kind := rapid.SampledFrom([]event.OutputKind{event.OutputText, event.OutputJSON, event.OutputError, event.OutputDenied, event.OutputContent}).Draw(t, "output"); kind {
	case event.OutputJSON:
		return event.Output{Kind: kind, JSON: raw}
	case event.OutputContent:
		return event.Output{Kind: kind, Parts: event.Parts{event.Text{Text: text.Draw(t, "text")}, event.Image{MediaType: "image/png", Data: []byte{1}}}}
	default:
		return event.Output{Kind: kind, Text: text.Draw(t, "text")}
	}
}

// part draws a part; a tool's return is not nested in another.
func part(t *rapid.T, full bool) reflect.Value {
	typ := rapid.SampledFrom([]reflect.Type{
		reflect.TypeFor[event.Text](), reflect.TypeFor[event.Thinking](), reflect.TypeFor[event.ToolCall](),
		reflect.TypeFor[event.ToolReturn](), reflect.TypeFor[event.Image](), reflect.TypeFor[event.File](),
	}).Draw(t, "part")
	return fill(t, typ, full)
}

// Content that is one text is a string on the wire; whoever writes a list of
// one part means the same.
func TestContentIsAStringOrParts(t *testing.T) {
	for in, want := range map[string]string{
		`"hi"`:                          `"hi"`,
		`[{"type":"text","text":"hi"}]`: `"hi"`,
		`[]`:                            `[]`,
		` [ {"type":"image","url":"x","mediaType":"image/png"} ] `: `[{"type":"image","mediaType":"image/png","url":"x"}]`,
	} {
		var c event.Content
		if err := json.Unmarshal([]byte(in), &c); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got, err := json.Marshal(c); err != nil || string(got) != want {
			t.Errorf("%s becomes %s, %v; want %s", in, got, err, want)
		}
	}
}

// What this version does not know it passes on, byte for byte.
func TestUnknownEventsAreKeptWhole(t *testing.T) {
	const line = `{"type":"of_tomorrow","timestamp":1700000000000,"data":{"b":1,"a":[1.50,{"x":null}],"html":"<&>"}}`
	var e event.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(back), `"x":null`) || e.Data.Type() != "of_tomorrow" || event.LayerOf(e.Data) != event.StreamLayer {
		t.Errorf("%s became %s, %v", line, back, err)
	}
}

func TestMoneyIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := event.USD(rapid.Int64Range(-9e18, 9e18).Draw(t, "amount"))
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back event.USD
		if err := json.Unmarshal(text, &back); err != nil || back != a {
			t.Fatalf("%d is written %s and read %d, %v", a, text, back, err)
		}
	})
	for text, want := range map[string]event.USD{"0.0165": 16_500_000_000, "1e-6": 1_000_000, "3": 3 * event.Dollar, "-0.5": -event.Dollar / 2} {
		var got event.USD
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{`"1"`, "1e300", "null", "{}"} {
		var got event.USD
		if err := got.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is read as %d", text, got)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, e := range enginetest.Conversation() {
		line, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"type":"assistant_message","data":{"content":[{"type":"tool-result","output":{"type":"content","value":[{"type":"text"}]}}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var e event.Event
		if json.Unmarshal(line, &e) != nil {
			return
		}
		first, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%q was read, and cannot be written: %v", line, err)
		}
		var again event.Event
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%q was written, and cannot be read: %v", first, err)
		}
		second, err := json.Marshal(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%q became %q, %v", first, second, err)
		}
	})
}
