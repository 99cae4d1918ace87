package record

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"agentx/engine/event"
)

// A Finder returns where in a text something stands that must not be given
// away, by bytes. What it finds may overlap.
type Finder func(text string) iter.Seq2[int, int]

// Redact writes a copy of a recording in which everything that find finds is
// masked by letters of the same number of bytes, also where it is cut into
// pieces, and attachments are left out. What follows from the inputs is derived
// anew, so that the copy tells one story. It returns how much was masked.
func Redact(out io.Writer, h Header, steps []Step, find Finder) (places int, err error) {
	m := &masker{find: find, running: map[event.AgentID]*turnText{}}
	h.Agentx, h.Model, h.Provider = m.text(h.Agentx), m.text(h.Model), m.text(h.Provider)
	clean := make([]Step, len(steps))
	for i, s := range steps {
		if clean[i], err = m.step(s); err != nil {
			return 0, &FormatError{s.Line, fmt.Sprintf("it cannot be redacted: %v", err)}
		}
		m.collect(&clean[i])
	}
	for _, t := range m.turns {
		t.mask(m)
	}
	w := NewWriter(out, h)
	var machine Machine
	for _, s := range clean {
		w.Step(machine.Play(s))
	}
	return m.places, w.Flush()
}

// A masker masks texts, and remembers those that come in pieces.
type masker struct {
	find    Finder
	places  int
	running map[event.AgentID]*turnText // the turns that go on
	turns   []*turnText                 // all of them
}

// text masks a text that stands alone.
func (m *masker) text(s string) string { return m.blank(s, m.mark(s, make([]bool, len(s)))) }

// mark marks every byte of s that is to be masked. A character is masked whole.
func (m *masker) mark(s string, marks []bool) []bool {
	for from, to := range m.find(s) {
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		for i := from; i < to; i++ {
			marks[i] = true
		}
	}
	return marks
}

// blank masks what is marked, and counts it.
func (m *masker) blank(s string, marks []bool) string {
	b := []byte(s)
	for i, marked := range marks {
		if !marked {
			continue
		}
		b[i] = masked(b[i])
		if i == 0 || !marks[i-1] {
			m.places++
		}
	}
	return string(b)
}

// masked is what stands in the place of a byte. Lines stay lines.
func masked(c byte) byte {
	if c == '\n' {
		return c
	}
	return 'x'
}

// word masks a text that is one of a few words of ours, unless it is one.
func (m *masker) word(s string) string {
	if len(s) <= 20 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "" {
		return s
	}
	return m.text(s)
}

// step masks all of a step but the pieces of longer texts.
func (m *masker) step(s Step) (Step, error) {
	s.Agent, s.Session, s.Model = event.AgentID(m.text(string(s.Agent))), event.SessionID(m.text(string(s.Session))), m.text(s.Model)
	priced := s.Priced
	s.Priced = nil
	for _, p := range priced {
		p.Model = m.text(p.Model)
		s.Priced = append(s.Priced, p)
	}
	var err error
	s.In.Data, err = m.data(s.In.Data)
	return s, err
}

func (m *masker) data(d event.Data) (event.Data, error) {
	switch d := d.(type) {
	case event.UserMessage:
		d.ID, d.ParentID, d.Content = m.text(d.ID), m.text(d.ParentID), event.Content(m.parts(event.Parts(d.Content)))
		return d, nil
	case event.MessageStart:
		d.MessageID, d.Model = m.text(d.MessageID), m.text(d.Model)
		return d, nil
	case event.ThinkingDelta:
		d.Signature = m.text(d.Signature)
		return d, nil
	case event.TextDelta:
		return d, nil
	case event.InputJSONDelta:
		d.ToolCallID = m.text(d.ToolCallID)
		return d, nil
	case event.ToolUseStart:
		d.ToolCallID, d.ToolName = m.text(d.ToolCallID), m.text(d.ToolName)
		return d, nil
	case event.ToolUseStop:
		d.ToolCallID, d.Input = m.text(d.ToolCallID), m.json(d.Input)
		return d, nil
	case event.ToolResult:
		d.ToolCallID, d.Result = m.text(d.ToolCallID), m.output(d.Result)
		return d, nil
	case event.MessageDelta:
		return d, nil
	case event.MessageStop:
		d.StopReason, d.StopSequence = event.StopReason(m.word(string(d.StopReason))), m.text(d.StopSequence)
		return d, nil
	case event.ErrorReceived:
		d.Message, d.ErrorCode = m.text(d.Message), event.ErrorCode(m.word(string(d.ErrorCode)))
		return d, nil
	case event.Interrupted:
		d.Reason = event.InterruptReason(m.word(string(d.Reason)))
		return d, nil
	case event.Retrying:
		d.Reason = m.text(d.Reason)
		return d, nil
	}
	raw, err := event.MarshalData(d)
	if err != nil {
		return nil, err
	}
	return event.UnmarshalData(m.word(d.Type()), m.json(raw))
}

// parts masks what was said, and leaves the bytes of attachments out: they
// cannot be looked into.
func (m *masker) parts(parts event.Parts) event.Parts {
	var clean event.Parts
	for _, p := range parts {
		switch d := p.(type) {
		case event.Text:
			p = event.Text{Text: m.text(d.Text)}
		case event.Thinking:
			p = event.Thinking{Text: m.text(d.Text), Signature: m.text(d.Signature)}
		case event.ToolCall:
			d.ID, d.Name, d.Input = m.text(d.ID), m.text(d.Name), m.json(d.Input)
			d.InputError, d.Raw = m.text(d.InputError), string(m.json([]byte(d.Raw)))
			p = d
		case event.ToolReturn:
			p = event.ToolReturn{ID: m.text(d.ID), Name: m.text(d.Name), Output: m.output(d.Output)}
		case event.Image:
			p = event.Image{MediaType: m.text(d.MediaType), URL: m.text(d.URL), Name: m.text(d.Name)}
		case event.File:
			p = event.File{MediaType: m.text(d.MediaType), Filename: m.text(d.Filename)}
		}
		clean = append(clean, p)
	}
	return clean
}

func (m *masker) output(o event.Output) event.Output {
	o.Text, o.JSON, o.Parts = m.text(o.Text), m.json(o.JSON), m.parts(o.Parts)
	return o
}

func (m *masker) json(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	return json.RawMessage(m.inJSON(string(raw), make([]bool, len(raw))))
}

// A turnText is what comes in pieces in a turn of an agent.
type turnText struct {
	said, thought pieces
	inputs        map[string]*pieces // by call
	last          string             // the call that was opened last
	kind          *pieces            // that came last
}

// pieces are a text and the places where it is cut.
type pieces struct {
	of   []*Step
	text strings.Builder
	ends []int // of each piece
	runs []int // where the text goes on after something else
}

func (p *pieces) add(s *Step, text string) {
	p.text.WriteString(text)
	p.of, p.ends = append(p.of, s), append(p.ends, p.text.Len())
}

// collect notes the piece that a step brings.
func (m *masker) collect(s *Step) {
	t := m.running[s.Agent]
	if t == nil || s.First {
		t = &turnText{inputs: map[string]*pieces{}}
		m.running[s.Agent], m.turns = t, append(m.turns, t)
	}
	switch d := s.In.Data.(type) {
	case event.TextDelta:
		t.grow(&t.said, s, d.Text)
	case event.ThinkingDelta:
		t.grow(&t.thought, s, d.Text)
	case event.ToolUseStart:
		t.kind, t.last = nil, d.ToolCallID
		if t.inputs[d.ToolCallID] == nil {
			t.inputs[d.ToolCallID] = &pieces{}
		}
	case event.InputJSONDelta:
		t.input(d.ToolCallID).add(s, d.PartialJSON)
	default:
		t.kind = nil
	}
}

func (t *turnText) grow(p *pieces, s *Step, text string) {
	if t.kind != p {
		p.runs = append(p.runs, p.text.Len())
	}
	t.kind = p
	p.add(s, text)
}

// input is that of the call, without a name of the one that was opened last.
func (t *turnText) input(id string) *pieces {
	if id == "" {
		id = t.last
	}
	if t.inputs[id] == nil {
		t.inputs[id] = &pieces{}
	}
	return t.inputs[id]
}

func (t *turnText) mask(m *masker) {
	for _, p := range []*pieces{&t.said, &t.thought} {
		p.cut(m.blank(p.text.String(), m.whole(p)))
	}
	for _, p := range t.inputs {
		p.cut(m.inJSON(p.text.String(), m.whole(p)))
	}
}

// whole marks all that is found in a text, in one of its runs, or in a piece:
// what stands behind other words may look like no secret, and be one where it is
// shown alone.
func (m *masker) whole(p *pieces) []bool {
	s := p.text.String()
	marks := m.mark(s, make([]bool, len(s)))
	for _, ends := range [][]int{append(p.runs, len(s)), p.ends} {
		from := 0
		for _, to := range ends {
			m.mark(s[from:to], marks[from:to])
			from = to
		}
	}
	return marks
}

// cut gives the steps their pieces back.
func (p *pieces) cut(s string) {
	from := 0
	for i, step := range p.of {
		piece := s[from:p.ends[i]]
		from = p.ends[i]
		switch d := step.In.Data.(type) {
		case event.TextDelta:
			d.Text = piece
			step.In.Data = d
		case event.ThinkingDelta:
			d.Text = piece
			step.In.Data = d
		case event.InputJSONDelta:
			d.PartialJSON = piece
			step.In.Data = d
		}
	}
}
