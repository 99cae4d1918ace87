package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"
	"agentx/engine/record"

	"pgregory.net/rapid"
)

// secrets of the test: a key, one with characters that JSON spells otherwise, a
// folder, a name outside ASCII.
var secrets = []string{"sk-ant-0123456789", `pa"ss\wo/rd<&>`, "/home/alice", "Łucja"}

func find(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for _, s := range secrets {
			for from := 0; ; from++ {
				n := strings.Index(text[from:], s)
				if n < 0 {
					break
				}
				if from += n; !yield(from, from+len(s)) {
					return
				}
			}
		}
	}
}

// prose is words with secrets among them, some of them glued to a word.
func prose() *rapid.Generator[string] {
	words := append([]string{"the", "key", "is", "naïve ", "\n", "`", "sk-ant-", "/home/bob", "😀"}, secrets...)
	return rapid.Map(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom(words).Draw(t, "word") + rapid.SampledFrom([]string{"", " "}).Draw(t, "gap")
	}), 1, 8), func(words []string) string { return strings.Join(words, "") })
}

// pieces cuts a text anywhere between two characters.
func pieces(t *rapid.T, s string) []string {
	var all []string
	for s != "" {
		runes := []rune(s)
		n := rapid.IntRange(0, min(len(runes), 6)).Draw(t, "piece")
		all, s = append(all, string(runes[:n])), string(runes[n:])
	}
	return all
}

// spelt is an object in JSON with some of its characters escaped.
func spelt(t *rapid.T, value string) string {
	plain, _ := json.Marshal(map[string]any{"path": value, "n": 7, "list": []string{value, "x"}})
	var b strings.Builder
	for i, r := range string(plain) {
		if (r >= 'a' && r <= 'z' || r == '-') && plain[max(i-1, 0)] != '\\' && !escaped(plain, i) && rapid.IntRange(0, 5).Draw(t, "escape") == 0 {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escaped reports whether i lies in a \uXXXX.
func escaped(s []byte, i int) bool {
	return bytes.Contains(s[max(0, i-5):i], []byte(`\u`))
}

// No secret survives, in whatever pieces it came, whatever said it; and the copy
// tells a story that holds, as long as the one it was made of.
func TestNoSecretSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		w := record.NewWriter(&file, record.Header{Agentx: "1", Model: "m"})
		var m record.Machine
		at := time.UnixMilli(1000)
		tell := func(d event.Data) {
			s := record.Step{Agent: "a", Session: "s", In: event.Event{At: at, Data: d}}
			_, s.First = d.(event.UserMessage)
			w.Step(m.Play(s))
			at = at.Add(time.Millisecond)
		}
		tell(event.UserMessage{ID: "u", Content: event.Content{
			event.Text{Text: prose().Draw(t, "question")},
			event.File{MediaType: "application/pdf", Data: []byte(secrets[0]), Filename: prose().Draw(t, "name")},
			event.Image{MediaType: "image/png", URL: "https://example.org/" + secrets[0]},
		}})
		tell(event.MessageStart{MessageID: "m", Model: prose().Draw(t, "model")})
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			said := prose().Draw(t, "said")
			switch rapid.IntRange(0, 4).Draw(t, "part") {
			case 0:
				for _, p := range pieces(t, said) {
					tell(event.TextDelta{Text: p})
				}
			case 1:
				for _, p := range pieces(t, said) {
					tell(event.ThinkingDelta{Text: p})
				}
			case 2:
				tell(event.ToolUseStart{ToolCallID: "c", ToolName: "read"})
				for _, p := range pieces(t, spelt(t, said)) {
					tell(event.InputJSONDelta{PartialJSON: p, ToolCallID: rapid.SampledFrom([]string{"", "c"}).Draw(t, "call")})
				}
				tell(event.ToolUseStop{ToolCallID: "c"})
				tell(event.ToolResult{ToolCallID: "c", Result: event.Output{Text: said}, IsError: rapid.Bool().Draw(t, "failed")})
			case 3:
				tell(event.ToolUseStart{ToolCallID: "d", ToolName: "write"})
				tell(event.ToolUseStop{ToolCallID: "d", Input: json.RawMessage(spelt(t, said))})
				tell(event.ToolResult{ToolCallID: "d", Result: event.Output{Kind: event.OutputJSON, JSON: json.RawMessage(spelt(t, said))}})
			case 4:
				tell(event.Retrying{Reason: said})
				tell(event.Unknown{Name: "odd", Raw: json.RawMessage(spelt(t, said))})
			}
		}
		tell(event.ErrorReceived{Message: prose().Draw(t, "error"), ErrorCode: event.CodeServer})
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		checkRedacted(t, file.Bytes())
	})
}

func checkRedacted(t *rapid.T, file []byte) {
	r, err := record.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := r.All(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	places, err := record.Redact(&out, r.Header, steps, find)
	if err != nil {
		t.Fatal(err)
	}
	said := everything(t, out.Bytes())
	for _, s := range secrets {
		if i := strings.Index(said, s); i >= 0 {
			t.Fatalf("%s survives after %q", s, said[max(0, i-80):i])
		}
	}
	if was := everything(t, file); places == 0 && containsAny(was, secrets) {
		t.Fatal("nothing was counted")
	}
	r, _ = record.NewReader(bytes.NewReader(out.Bytes()))
	n, diff, err := record.Verify(r.Steps())
	if err != nil || diff != nil || n.Inputs != len(steps) {
		t.Fatalf("%+v of %d steps: %v, %v", n, len(steps), diff, err)
	}
	r, _ = record.NewReader(bytes.NewReader(out.Bytes()))
	clean, err := r.All(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range clean {
		if shape(t, s.In.Data) != shape(t, steps[i].In.Data) {
			t.Fatalf("%s became %s", shape(t, steps[i].In.Data), shape(t, s.In.Data))
		}
	}
}

// shape is the type of an input, and how long the JSON of a piece of text is
// when it is read: masking changes neither.
func shape(t *rapid.T, d event.Data) string {
	switch d := d.(type) {
	case event.TextDelta:
		return fmt.Sprint(d.Type(), len(d.Text))
	case event.ThinkingDelta:
		return fmt.Sprint(d.Type(), len(d.Text))
	case event.InputJSONDelta:
		return fmt.Sprint(d.Type(), len(d.PartialJSON))
	case event.ToolResult:
		return fmt.Sprint(d.Type(), len(d.Result.Text), json.Valid(d.Result.JSON))
	}
	return d.Type()
}

// everything is all that a file says: its bytes, every string in it as it is
// read, strings of JSON within strings too, and each kind of text put together.
func everything(t *rapid.T, file []byte) string {
	var b strings.Builder
	b.Write(file)
	var text, thought, input strings.Builder
	for line := range bytes.Lines(file) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		collect(&b, v)
		var step struct{ In event.Event }
		if json.Unmarshal(line, &step) != nil {
			continue
		}
		switch d := step.In.Data.(type) {
		case event.TextDelta:
			text.WriteString(d.Text)
		case event.ThinkingDelta:
			thought.WriteString(d.Text)
		case event.InputJSONDelta:
			input.WriteString(d.PartialJSON)
		}
	}
	fmt.Fprintln(&b, text.String(), "\n", thought.String(), "\n", input.String())
	return b.String()
}

func collect(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString("\n" + v)
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil && inner != v {
			collect(b, inner)
		}
	case []any:
		for _, e := range v {
			collect(b, e)
		}
	case map[string]any:
		for key, e := range v {
			b.WriteString("\n" + key)
			collect(b, e)
		}
	}
}

func containsAny(s string, all []string) bool {
	for _, one := range all {
		if strings.Contains(s, one) {
			return true
		}
	}
	return false
}

// A recording without secrets is copied as it is.
func TestNothingToRedact(t *testing.T) {
	for _, tr := range enginetest.Traces(t, traces) {
		file := recorded(t, tr)
		r, err := record.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		places, err := record.Redact(&out, r.Header, read(t, file), func(string) iter.Seq2[int, int] { return func(func(int, int) bool) {} })
		if err != nil || places != 0 {
			t.Errorf("%s: %d places, %v", tr.Name, places, err)
		}
		if plain := !bytes.Contains(file, []byte(`"type":"image"`)) && !bytes.Contains(file, []byte(`"type":"file"`)); plain && !bytes.Equal(out.Bytes(), file) {
			t.Errorf("%s: the copy is another", tr.Name)
		}
	}
}

// Structure survives: the object that a tool was called with is still one.
func TestJSONStaysJSON(t *testing.T) {
	var s engine.State
	var file bytes.Buffer
	w := record.NewWriter(&file, record.Header{})
	var call event.ToolCall
	for i, d := range []event.Data{
		event.UserMessage{ID: "u", Content: event.Say("Hello")},
		event.MessageStart{MessageID: "m"},
		event.ToolUseStart{ToolCallID: "c", ToolName: "get"},
		event.InputJSONDelta{PartialJSON: `{"url":"/home/al`},
		event.InputJSONDelta{PartialJSON: `ice/x","\u0073k-ant-01234`},
		event.InputJSONDelta{PartialJSON: `56789":[true,null,-0.5e3]}`},
		event.ToolUseStop{ToolCallID: "c"},
	} {
		in := event.Event{At: time.UnixMilli(1), Data: d}
		var outs []event.Event
		for e := range mealy.Follow(engine.Step, &s, in) {
			outs = append(outs, e)
		}
		w.Step(engine.Transition{Agent: "a", First: i == 0, In: in, Outs: outs[1:], State: s})
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := record.Redact(&out, record.Header{}, read(t, file.Bytes()), find); err != nil {
		t.Fatal(err)
	}
	for _, step := range read(t, out.Bytes()) {
		for _, o := range step.Outs {
			if e, err := o.Event(); err == nil {
				if d, ok := e.Data.(event.ToolCallMessage); ok {
					call = d.ToolCall
				}
			}
		}
	}
	if want := `{"url":"xxxxxxxxxxx/x","xxxxxxxxxxxxxxxxxxxxxx":[true,null,-0.5e3]}`; string(call.Input) != want {
		t.Errorf("the call has\n%s, want\n%s", call.Input, want)
	}
}

// Whatever a file says and whatever is to be masked in it: there is a copy that
// holds, or one clear error.
func FuzzRedact(f *testing.F) {
	for _, name := range []string{"tool_call_two_messages", "thinking_text_thinking", "user_message_parts", "tool_bad_json", "cost_with_cache", "unicode"} {
		f.Add(recorded(f, enginetest.ReadTrace(f, "../../testdata/traces/"+name+".txtar")), "e")
	}
	f.Fuzz(func(t *testing.T, file []byte, secret string) {
		r, err := record.NewReader(bytes.NewReader(file))
		if err != nil || secret == "" {
			return
		}
		steps, err := r.All(1 << 20)
		if err != nil {
			return
		}
		var out bytes.Buffer
		_, err = record.Redact(&out, r.Header, steps, func(text string) iter.Seq2[int, int] {
			return func(yield func(int, int) bool) {
				for from := strings.Index(text, secret); from >= 0 && yield(from, from+len(secret)); {
					next := strings.Index(text[from+1:], secret)
					if from += 1 + next; next < 0 {
						return
					}
				}
			}
		})
		if _, ok := errors.AsType[*record.FormatError](err); ok {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if n, diff := verify(t, out.Bytes()); diff != nil || n.Inputs != len(steps) {
			t.Fatalf("%d of %d steps hold: %v", n.Inputs, len(steps), diff)
		}
	})
}
