// Package enginetest helps to test whatever is around the engine: recorded
// traces with what follows from them, a clock that ticks, and conformance kits
// that any driver, presenter or store can be put through.
package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/engine/mealy"

	"github.com/google/go-cmp/cmp"
)

// A Trace is a recorded conversation and what the engine makes of it: a txtar
// archive with these sections.
//
//	about    what it shows, in words
//	stream   user messages and what a driver answered to each (see package script); or
//	inputs   events of any layer, for the machine alone
//	prices   of models, in dollars for a million tokens (optional)
//	events   all that follows, one JSON event a line
type Trace struct {
	Name   string
	About  string
	Turns  []script.Turn // of the section stream
	Inputs []event.Event // of the section inputs
	Prices engine.Pricer // nil where the trace has none
	Golden []byte

	path  string
	files []script.File
}

// Traces reads the traces that pattern names, such as "testdata/traces/*.txtar".
func Traces(t testing.TB, pattern string) []Trace {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no traces at %s: %v", pattern, err)
	}
	var all []Trace
	for _, path := range paths {
		all = append(all, ReadTrace(t, path))
	}
	return all
}

// ReadTrace reads one trace.
func ReadTrace(t testing.TB, path string) Trace {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr := Trace{Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, files: script.ParseArchive(text)}
	for _, f := range tr.files {
		switch f.Name {
		case "about":
			tr.About = strings.TrimSpace(string(f.Data))
		case "stream":
			tr.Turns, err = script.Read(f.Data)
		case "inputs":
			tr.Inputs, err = readEvents(f.Data)
		case "prices":
			tr.Prices, err = readPrices(f.Data)
		case "events":
			tr.Golden = f.Data
		default:
			err = fmt.Errorf("unknown section %q", f.Name)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", path, f.Name, err)
		}
	}
	return tr
}

func readEvents(lines []byte) ([]event.Event, error) {
	var all []event.Event
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// readPrices reads {"model": {"input", "output", "cacheRead", "cacheWrite", "cacheWrite1h"}}.
func readPrices(text []byte) (engine.Pricer, error) {
	var table map[string]struct{ Input, Output, CacheRead, CacheWrite, CacheWrite1h float64 }
	if err := json.Unmarshal(text, &table); err != nil {
		return nil, err
	}
	each := func(perMillion float64) event.USD {
		return event.USD(math.Round(perMillion * float64(event.Dollar) / 1e6))
	}
	return func(model string, u event.Usage) (event.USD, bool) {
		p, known := table[model]
		if !known {
			return 0, false
		}
		return engine.Price{Input: each(p.Input), Output: each(p.Output), CacheRead: each(p.CacheRead), CacheWrite: each(p.CacheWrite), CacheWrite1h: each(p.CacheWrite1h)}.Cost(u)
	}, nil
}

// Run puts the trace through the engine, one turn after the other, at the times
// of [Clock]; or its inputs through the machine, at their own.
func (tr Trace) Run(t testing.TB) []event.Event {
	t.Helper()
	var all []event.Event
	if len(tr.Inputs) > 0 {
		var s engine.State
		for _, in := range tr.Inputs {
			for e := range mealy.Follow(engine.StepWith(tr.Prices), &s, in) {
				all = append(all, e)
			}
		}
		return all
	}
	var history []event.Message
	e := engine.Engine{Driver: script.Answers(tr.Turns, 0), Now: Clock(), Price: tr.Prices}
	for _, turn := range tr.Turns {
		req := engine.Request{Agent: "agent_1", History: history, Message: turn.Message}
		for ev, err := range e.Events(context.Background(), req) {
			if err != nil {
				break // it is among the events as error_received
			}
			all = append(all, ev)
			if m, ok := ev.Data.(event.Message); ok {
				history = append(history, m)
			}
		}
	}
	return all
}

// Compare fails t where got is not what the trace has recorded. With update it
// records got instead.
func (tr Trace) Compare(t testing.TB, got []event.Event, update bool) {
	t.Helper()
	lines := Lines(t, got)
	if !update {
		if diff := cmp.Diff(strings.Split(string(tr.Golden), "\n"), strings.Split(string(lines), "\n")); diff != "" {
			t.Errorf("%s: %s\n-want +got\n%s", tr.path, tr.About, diff)
		}
		return
	}
	files := append(tr.files[:len(tr.files):len(tr.files)], script.File{Name: "events", Data: lines})
	for i, f := range tr.files {
		if f.Name == "events" {
			files = files[:len(tr.files)]
			files[i].Data = lines
		}
	}
	if err := os.WriteFile(tr.path, script.FormatArchive(files), 0o644); err != nil {
		t.Fatal(err)
	}
}

// T is as much of a test as is needed here; a property of package rapid has it
// too.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Lines writes events as JSON, one a line.
func Lines(t T, events []event.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%T: %v", e.Data, err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Clock returns a clock that shows 1 s after the beginning of 1970 when it is
// first read, and 10 ms more each time.
func Clock() func() time.Time {
	now := time.UnixMilli(990).UTC()
	return func() time.Time {
		now = now.Add(10 * time.Millisecond)
		return now
	}
}
