package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"
	"agentx/engine/record"
)

const traces = "../../testdata/traces/*.txtar"

// recorded puts a trace through an engine that is recorded, and returns the
// file. Traces of inputs alone go to the machine as one long turn.
func recorded(t testing.TB, tr enginetest.Trace) []byte {
	t.Helper()
	var file bytes.Buffer
	w := record.NewWriter(&file, record.Header{Agentx: "test", Model: "mock-1", Provider: "mock", Timestamp: 1000})
	if len(tr.Inputs) > 0 {
		machine(tr, w.Step)
	}
	e := engine.Engine{Driver: script.Answers(tr.Turns, 0), Now: enginetest.Clock(), Price: tr.Prices, Record: w.Step}
	var history []event.Message
	for _, turn := range tr.Turns {
		req := engine.Request{Agent: "agent_1", Session: "s1", Model: "mock-1", History: history, Message: turn.Message}
		for ev, err := range e.Events(context.Background(), req) {
			if m, ok := ev.Data.(event.Message); ok && err == nil {
				history = append(history, m)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// machine puts inputs through the machine alone, as the engine does.
func machine(tr enginetest.Trace, tell func(engine.Transition)) {
	var s engine.State
	next := engine.Transition{Agent: "agent_1", First: true}
	step := engine.StepWith(nil)
	if tr.Prices != nil {
		step = engine.StepWith(func(model string, u event.Usage) (event.USD, bool) {
			cost, known := tr.Prices(model, u)
			next.Priced = append(next.Priced, engine.Priced{Model: model, Usage: u, Cost: cost, Known: known})
			return cost, known
		})
	}
	for _, in := range tr.Inputs {
		next.In, next.Outs, next.Priced = in, nil, nil
		for e := range mealy.Follow(step, &s, in) {
			next.Outs = append(next.Outs, e)
		}
		next.Outs, next.State = next.Outs[1:], s
		tell(next)
		next.First = false
	}
}

// read reads a whole file.
func read(t testing.TB, file []byte) []record.Step {
	t.Helper()
	r, err := record.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	steps, err := r.All(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func verify(t testing.TB, file []byte) (record.Count, *record.Difference) {
	t.Helper()
	r, err := record.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	n, diff, err := record.Verify(r.Steps())
	if err != nil {
		t.Fatal(err)
	}
	return n, diff
}

// Whatever goes through the engine can be written down, read, and happens again
// as it did: also step by step, from any moment, after everything that came later
// (F123).
func TestTracesHappenAgain(t *testing.T) {
	for _, tr := range enginetest.Traces(t, traces) {
		t.Run(tr.Name, func(t *testing.T) {
			file := recorded(t, tr)
			n, diff := verify(t, file)
			if diff != nil {
				t.Fatal(diff)
			}
			steps := read(t, file)
			if n.Inputs != len(steps) || n.Inputs+n.Outputs != bytes.Count(tr.Golden, []byte("\n")) {
				t.Errorf("%+v compared, of %d steps; the trace has %d events", n, len(steps), bytes.Count(tr.Golden, []byte("\n")))
			}
			var m record.Machine
			var past []engine.State
			for i, s := range steps {
				if i > 0 && !s.First {
					backAndForth(t, steps, past)
				}
				past = append(past, m.Play(s).State)
			}
		})
	}
}

// backAndForth steps from each state that a machine has been in to the next.
func backAndForth(t *testing.T, steps []record.Step, past []engine.State) {
	for i := len(past) - 1; i > 0; i-- {
		if steps[i].First {
			continue
		}
		state := past[i-1]
		var outs []event.Event
		priced := func(model string, u event.Usage) (event.USD, bool) {
			if len(steps[i].Priced) == 0 {
				return 0, false
			}
			return steps[i].Priced[0].Cost, steps[i].Priced[0].Known
		}
		for e := range mealy.Follow(engine.StepWith(priced), &state, steps[i].In) {
			outs = append(outs, e)
		}
		var was []byte
		for _, o := range steps[i].Outs {
			was = append(append(was, o.Raw...), '\n')
		}
		if is := enginetest.Lines(t, outs[1:]); !bytes.Equal(was, is) {
			t.Fatalf("line %d, a second time:\n%s\nthe first time:\n%s", steps[i].Line, is, was)
		}
		if state.Summary() != past[i].Summary() {
			t.Fatalf("line %d: %+v, and was %+v", steps[i].Line, state.Summary(), past[i].Summary())
		}
	}
}

// What `-o stream-json` prints is the events in envelopes: its inputs are enough
// to ask whether the rest follows, costs included.
func TestStreamsOfEventsHappenAgain(t *testing.T) {
	for _, tr := range enginetest.Traces(t, traces) {
		if len(tr.Inputs) > 0 {
			continue // no agent says these
		}
		t.Run(tr.Name, func(t *testing.T) {
			events := enginetest.Lines(t, tr.Run(t))
			n, diff := verify(t, stream(t, events))
			if diff != nil {
				t.Fatal(diff)
			}
			if all := bytes.Count(events, []byte("\n")); n.Inputs+n.Outputs != all {
				t.Errorf("%+v compared, of %d events", n, all)
			}
		})
	}
}

// stream puts events into the envelopes of stream-json, with what is said
// around them.
func stream(t testing.TB, events []byte) []byte {
	var b bytes.Buffer
	b.WriteString(`{"type":"init","version":"test","session_id":"s1","model":"mock-1"}` + "\n")
	b.WriteString(`{"type":"agent_receive_request","timestamp":1,"data":{},"source":"command","category":"request","intent":"request","context":{},"requestId":"r1"}` + "\n")
	for line := range bytes.Lines(events) {
		line = bytes.TrimSuffix(line, []byte("}\n"))
		fmt.Fprintf(&b, `%s,"source":"agent","category":"stream","intent":"notification","context":{"agentId":"a1","sessionId":"s1"}}`+"\n", line)
	}
	b.WriteString(`{"type":"result","subtype":"success"}` + "\n")
	return b.Bytes()
}

// A file that says something else than the engine of today is found out, at the
// line where it says it.
func TestDifferencesAreFound(t *testing.T) {
	file := string(recorded(t, enginetest.ReadTrace(t, "../../testdata/traces/cost_with_cache.txtar")))
	for name, c := range map[string]struct{ from, to, what string }{
		"another output":   {`"durationMs":`, `"durationMs":1`, "output"},
		"another input":    {`"text":"`, `"text":"not `, "the state"},
		"a price":          {`"known":true`, `"known":false`, "the state"},
		"a state":          {`"phase":"thinking"`, `"phase":"idle"`, "the state"},
		"an output gone":   {`"out":[{"type":"conversation_responding"`, `"was":[{"type":"conversation_responding"`, "output 1"},
		"one that is new":  {`"out":[`, `"out":[{"type":"conversation_start","timestamp":1,"data":{}},`, "output 1"},
		"a field that was": {`"stopReason":"end_turn",`, `"stopReason":"end_turn","lost":1,`, "output"},
	} {
		t.Run(name, func(t *testing.T) {
			tampered := strings.Replace(file, c.from, c.to, 1)
			_, diff := verify(t, []byte(tampered))
			if diff == nil {
				t.Fatal("no difference was found")
			}
			at := 1 + strings.Count(file[:strings.Index(file, c.from)], "\n")
			if diff.Line != at || !strings.HasPrefix(diff.What, c.what) || diff.Recorded == diff.Today {
				t.Errorf("the difference is at line %d, %s; it should be at %d, %s\n%s", diff.Line, diff.What, at, c.what, diff)
			}
		})
	}
}

// Spaces and the order of keys are nobody's difference.
func TestLayoutIsNoDifference(t *testing.T) {
	file := recorded(t, enginetest.ReadTrace(t, "../../testdata/traces/plain_text.txtar"))
	var b bytes.Buffer
	for line := range bytes.Lines(file) {
		var v any // which has its keys sorted
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
		b.WriteString("  \n\n")
	}
	if _, diff := verify(t, b.Bytes()); diff != nil {
		t.Error(diff)
	}
}

// A recording can be cut anywhere, by a crash or a full disk: all its whole
// lines are there.
func TestCutFilesAreReadUpToTheLastWholeLine(t *testing.T) {
	file := recorded(t, enginetest.ReadTrace(t, "../../testdata/traces/tool_call_one_message.txtar"))
	head := bytes.IndexByte(file, '\n') + 1
	for n := head; n <= len(file); n++ {
		r, err := record.NewReader(bytes.NewReader(file[:n]))
		if err != nil {
			t.Fatal(err)
		}
		steps, err := r.All(1 << 20)
		if err != nil {
			t.Fatalf("at byte %d: %v", n, err)
		}
		whole := bytes.Count(file[head:n], []byte("\n"))
		partial := file[n-1] != '\n'
		complete := partial && file[min(n, len(file)-1)] == '\n'
		if complete {
			whole, partial = whole+1, false // all but its newline
		}
		if len(steps) != whole || r.Cut != partial {
			t.Fatalf("at byte %d: %d steps, cut %t; want %d, %t", n, len(steps), r.Cut, whole, partial)
		}
	}
}

// An endless reader gives one line that never ends.
type endless struct{ head io.Reader }

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.head.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Files that are no recording are refused with one clear error.
func TestHostileFiles(t *testing.T) {
	const head = `{"type":"trace","version":1}` + "\n"
	for name, c := range map[string]struct {
		in   io.Reader
		says string
	}{
		"empty":               {strings.NewReader(""), "it is empty"},
		"blank":               {strings.NewReader("\n \n\t\n"), "it is empty"},
		"binary":              {strings.NewReader("\x7fELF\x02\x01\x00\x00"), "neither a trace nor"},
		"text":                {strings.NewReader("hello\n"), "neither a trace nor"},
		"other JSON":          {strings.NewReader("[1,2]\n"), "neither a trace nor"},
		"an export":           {strings.NewReader(`{"type":"session","id":"x"}` + "\n"), "neither a trace nor"},
		"a later version":     {strings.NewReader(`{"type":"trace","version":2}` + "\n"), "version 2, and this program reads up to version 1"},
		"no version":          {strings.NewReader(`{"type":"trace"}` + "\n"), "version"},
		"a version of words":  {strings.NewReader(`{"type":"trace","version":"` + strings.Repeat("x", 1000) + `"}` + "\n"), "version"},
		"a bad line":          {strings.NewReader(head + "hello\n" + head), "line 2: it is not JSON"},
		"no input":            {strings.NewReader(head + `{"type":"step"}` + "\n"), "line 2: its input is no event"},
		"null":                {strings.NewReader(head + `{"type":"step","in":null}` + "\n"), "line 2: it has no input"},
		"an odd input":        {strings.NewReader(head + `{"type":"step","in":{"type":"text_delta","data":{"text":7}}}` + "\n"), "line 2: its input is no event"},
		"deep":                {strings.NewReader(head + `{"type":"step","in":` + strings.Repeat("[", 1_000_000)), "line 2: it is nested more than 128 deep"},
		"endless first line":  {&endless{strings.NewReader("{")}, "line 1: it is longer than 64 MB"},
		"endless second line": {&endless{strings.NewReader(head)}, "line 2: it is longer than 64 MB"},
		"effect first":        {strings.NewReader(`{"type":"init"}` + "\n" + `{"type":"conversation_start","source":"agent","data":{}}` + "\n"), "line 2: conversation_start follows from nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := record.NewReader(c.in)
			if err == nil {
				_, _, err = record.Verify(r.Steps())
			}
			if wrong, ok := errors.AsType[*record.FormatError](err); !ok || !strings.Contains(wrong.Error(), c.says) || len(wrong.Error()) > 200 {
				t.Errorf("the error is %v, and should say %q", err, c.says)
			}
		})
	}
}

// A recording that is larger than memory should hold is not taken into it.
func TestTooLargeForMemory(t *testing.T) {
	file := recorded(t, enginetest.ReadTrace(t, "../../testdata/traces/plain_text_many_deltas.txtar"))
	r, err := record.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.All(int64(len(file)) / 2); err == nil {
		t.Error("it was taken")
	}
}

// A writer that cannot write says so, and leaves no gap behind.
func TestAFullDisk(t *testing.T) {
	full := &disk{room: 4000}
	w := record.NewWriter(full, record.Header{})
	w.Step(engine.Transition{Agent: "a", First: true, In: event.Event{At: time.UnixMilli(1), Data: event.Unknown{Name: "odd", Raw: json.RawMessage("{")}}})
	if w.Err() == nil {
		t.Error("what is no JSON was written")
	}
	w = record.NewWriter(full, record.Header{})
	for i := range 100 {
		w.Step(engine.Transition{Agent: "a", First: i == 0, In: event.Event{At: time.UnixMilli(int64(i) * 1000), Data: event.TextDelta{Text: "hello"}}})
	}
	if !errors.Is(w.Flush(), io.ErrShortWrite) {
		t.Errorf("Flush() = %v", w.Flush())
	}
	r, err := record.NewReader(bytes.NewReader(full.b))
	if err != nil {
		t.Fatal(err)
	}
	if steps, err := r.All(1 << 20); err != nil || len(steps) == 0 || !r.Cut {
		t.Errorf("%d steps can be read, cut %t: %v", len(steps), r.Cut, err)
	}
}

type disk struct {
	b    []byte
	room int
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room-len(d.b))
	d.b = append(d.b, p[:n]...)
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// While an answer comes, what is on the disk is at most a quarter of a second
// behind it; between turns nothing is.
func TestACrashCostsLittle(t *testing.T) {
	var file bytes.Buffer
	w := record.NewWriter(&file, record.Header{})
	var m record.Machine
	at := time.UnixMilli(1_000_000)
	say := func(d event.Data) {
		s := record.Step{Agent: "a", In: event.Event{At: at, Data: d}}
		_, s.First = d.(event.UserMessage)
		w.Step(m.Play(s))
	}
	say(event.UserMessage{ID: "u", Content: event.Say("Hello")})
	say(event.MessageStart{MessageID: "m"})
	for range 100 {
		at = at.Add(10 * time.Millisecond)
		say(event.TextDelta{Text: "hello "})
		steps := read(t, file.Bytes())
		if last := steps[len(steps)-1].In.At; at.Sub(last) > 250*time.Millisecond {
			t.Fatalf("the last step on the disk is %v old", at.Sub(last))
		}
	}
	say(event.MessageStop{StopReason: event.EndTurn})
	if steps := read(t, file.Bytes()); len(steps) != 103 {
		t.Errorf("%d steps are on the disk", len(steps))
	}
}

// Two agents may answer at once into one file; each has its own story.
func TestTwoAgentsInOneFile(t *testing.T) {
	var file bytes.Buffer
	w := record.NewWriter(&file, record.Header{})
	tr := enginetest.ReadTrace(t, "../../testdata/traces/tool_call_one_message.txtar")
	var one, other []engine.Transition
	machine(enginetest.Trace{Inputs: inputs(t, tr)}, func(t engine.Transition) { one = append(one, t) })
	machine(enginetest.Trace{Inputs: inputs(t, tr)}, func(t engine.Transition) { t.Agent = "agent_2"; other = append(other, t) })
	for i := range one {
		w.Step(one[i])
		w.Step(other[i])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, diff := verify(t, file.Bytes()); diff != nil || n.Inputs != 2*len(one) {
		t.Errorf("%+v, %v", n, diff)
	}
}

func inputs(t testing.TB, tr enginetest.Trace) []event.Event {
	var all []event.Event
	for _, s := range read(t, recorded(t, tr)) {
		all = append(all, s.In)
	}
	return all
}

// The machine is given whatever a file says, and never breaks; what it could read
// it can write, and reads again as the same.
func FuzzReader(f *testing.F) {
	for _, tr := range enginetest.Traces(f, traces) {
		f.Add(recorded(f, tr))
		if len(tr.Inputs) == 0 {
			f.Add(stream(f, tr.Golden))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := record.NewReader(bytes.NewReader(file))
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := record.NewWriter(&again, r.Header)
		var m record.Machine
		n := 0
		for s, err := range r.Steps() {
			if err != nil {
				break
			}
			w.Step(m.Play(s))
			n++
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got, diff := verify(t, again.Bytes()); diff != nil || got.Inputs != n {
			t.Fatalf("%d steps were written, %d read: %v", n, got.Inputs, diff)
		}
	})
}
