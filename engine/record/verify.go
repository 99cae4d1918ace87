package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"

	"agentx/engine/event"
)

// A Count says how much was compared.
type Count struct{ Inputs, Outputs int }

// A Difference is the first place where the engine of today does something else
// than was recorded.
type Difference struct {
	Line     int    // in the file
	After    string // type of the input
	What     string // output 2, state, …
	Recorded string // JSON, or "nothing"
	Today    string
}

func (d *Difference) String() string {
	return fmt.Sprintf("line %d: %s after %s differs\n  recorded  %s\n  today     %s", d.Line, d.What, d.After, d.Recorded, d.Today)
}

// Verify plays the steps with the engine of today and compares all that follows
// with what was recorded. The first difference ends it.
func Verify(steps iter.Seq2[Step, error]) (Count, *Difference, error) {
	var n Count
	var m Machine
	for s, err := range steps {
		if err != nil {
			return n, nil, err
		}
		t := m.Play(s)
		d, err := s.differs(t.Outs)
		if d == nil && err == nil && len(s.State) > 0 {
			d, err = s.stands(t.State.Summary())
		}
		if d != nil || err != nil {
			return n, d, err
		}
		n.Inputs++
		n.Outputs += len(t.Outs)
	}
	return n, nil, nil
}

// differs compares the outputs.
func (s Step) differs(today []event.Event) (*Difference, error) {
	for i := range max(len(s.Outs), len(today)) {
		d := Difference{Line: s.Line, After: s.In.Data.Type(), What: fmt.Sprintf("output %d", i+1), Recorded: "nothing", Today: "nothing"}
		if i < len(s.Outs) {
			d.Line, d.Recorded = s.Outs[i].Line, string(s.Outs[i].Raw)
		}
		if i < len(today) {
			raw, err := today[i].MarshalJSON()
			if err != nil {
				return nil, err
			}
			d.Today = string(raw)
		}
		if i >= len(s.Outs) || i >= len(today) || !sameJSON([]byte(d.Recorded), []byte(d.Today)) {
			return &d, nil
		}
	}
	return nil, nil
}

// stands compares the summaries of the state, in what the recording says of it.
func (s Step) stands(today any) (*Difference, error) {
	raw, err := json.Marshal(today)
	if err != nil || bytes.Equal(raw, s.State) {
		return nil, err
	}
	var was, is map[string]json.RawMessage
	if err := json.Unmarshal(s.State, &was); err != nil {
		return nil, &FormatError{s.Line, fmt.Sprintf("its state is no object: %v", err)}
	}
	if err := json.Unmarshal(raw, &is); err != nil {
		return nil, err
	}
	for key, value := range was {
		if !sameJSON(value, is[key]) {
			return &Difference{Line: s.Line, After: s.In.Data.Type(), What: "the state", Recorded: string(s.State), Today: string(raw)}, nil
		}
	}
	return nil, nil
}

// sameJSON reports whether two texts are the same value.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err := value(a)
	y, wrong := value(b)
	return err == nil && wrong == nil && reflect.DeepEqual(x, y)
}

func value(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
