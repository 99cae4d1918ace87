package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/text"
)

// A call of a tool is one line: its state, its name, what it was asked and
// what it said.
type call struct {
	id, name string
	input    string
	output   string
	state    progress
	since    time.Time
	asked    string // its input, as much as is kept
	askedAll int    // bytes of it
	said     string // its result
	saidAll  int
}

type progress byte

const (
	planned progress = iota
	running
	succeeded
	failed
)

// maxDetail is how many bytes of an input or a result are looked at for a line.
const maxDetail = 400

func (m Model) plan(at time.Time, d event.ToolUseStart) Model {
	m = m.endThought(at).endText().listing()
	m.message.streamed, m.message.said = true, true
	m.calls = append(slices.Clip(m.calls), call{id: d.ToolCallID, name: d.ToolName, since: at})
	return m
}

// call is a call whose input is known. Of a message that was not seen arriving
// the calls are parts, and are shown with it.
func (m Model) call(d event.ToolCallMessage) Model {
	return m.change(d.ToolCall.ID, func(c call) call {
		return c.of(d.ToolCall)
	})
}

// of is the call with the input that t has.
func (c call) of(t event.ToolCall) call {
	c.name, c.input, c.state = t.Name, input(t), running
	whole := string(t.Input)
	if t.InputError != "" {
		whole = t.Raw
	}
	c.asked, c.askedAll = kept(whole), len(whole)
	return c
}

// kept is the beginning of s that is kept.
func kept(s string) string {
	if len(s) > maxFold {
		return strings.Clone(strings.ToValidUTF8(s[:maxFold], ""))
	}
	return s
}

// replayed adds the calls of a message that is read from a store.
func (m Model) replayed(c event.ToolCall) Model {
	m = m.listing()
	m.message.said = true
	m.calls = append(slices.Clip(m.calls), call{id: c.ID}.of(c))
	return m
}

func (m Model) result(d event.ToolResultMessage) Model {
	r := d.ToolResult
	id := d.ToolCallID
	if id == "" {
		id = r.ID
	}
	if !slices.ContainsFunc(m.calls, func(c call) bool { return c.id == id }) {
		m = m.listing()
		m.calls = append(slices.Clip(m.calls), call{id: id, name: r.Name})
	}
	m = m.change(id, func(c call) call {
		whole := r.Output.String()
		c.state, c.output, c.said, c.saidAll = succeeded, brief(whole), kept(whole), len(whole)
		if r.Output.Kind == event.OutputJSON {
			c.output = brief(glance(r.Output.JSON))
		}
		if len(whole) >= 1000 && c.output != "" {
			c.output += " " + bytesOf(len(whole))
		}
		if r.Output.Failed() {
			c.state = failed
		}
		return c
	})
	return m.flushCalls(false)
}

// change changes the first call of that id that has no result.
func (m Model) change(id string, f func(call) call) Model {
	for i, c := range m.calls {
		if c.id == id && c.state < succeeded {
			m.calls = slices.Clone(m.calls)
			m.calls[i] = f(c)
			break
		}
	}
	return m
}

// flushCalls prints the calls that are done, in their order; all of them, as
// they are, where nothing more can come.
func (m Model) flushCalls(all bool) Model {
	n := 0
	for n < len(m.calls) && (all || m.calls[n].state >= succeeded) {
		n++
	}
	if n == 0 {
		return m
	}
	for _, c := range m.calls[:n] {
		if m.unfolded {
			m = m.print(m.Unfolded(c)...).fold(c)
		} else {
			m = m.print(m.Line(c)).fold(c)
		}
		m.listed = true
	}
	m.calls, m.listed = m.calls[n:], true
	return m
}

// listing sets calls apart from what is no call.
func (m Model) listing() Model {
	if len(m.calls) == 0 && !m.listed {
		m = m.apart()
	}
	return m
}

// still is the beat of what will never turn.
const still = -1

// line draws a call.
func (m Model) line(c call, beat int) string {
	l := m.look
	mark, style := l.planned, l.theme.Muted
	switch {
	case c.state == running && beat == still:
		mark = l.unknown
	case c.state == running:
		mark, style = l.spinner[max(beat, 0)%len(l.spinner)], l.theme.Spinner
	case c.state == succeeded:
		mark, style = l.ok, l.theme.Success
	case c.state == failed:
		mark, style = l.bad, l.theme.Error
	}
	head := style.Render(mark) + " " + l.theme.Tool.Render(text.Truncate(text.Line(c.name), max(m.inner()/2, 1)))
	room := m.width - text.Width(head) - 2
	in, out := parts(c, room)
	if in != "" {
		head += "  " + l.theme.Text.Render(in)
	}
	if out != "" {
		said := l.theme.Muted
		if c.state == failed {
			said = l.theme.Error
		}
		head += l.theme.Faint.Render(" "+l.arrow+" ") + said.Render(out)
	}
	return text.Truncate(head, m.width)
}

func (c call) folded(m Model) string { return m.line(c, still) }

// unfolded is the line, without what the rest of it says, and below it all that
// was asked and said.
func (c call) unfolded(m Model) []string {
	lines := []string{m.line(call{name: c.name, state: c.state}, still)}
	for _, part := range []struct{ name, text string }{{"input", c.question()}, {"result", c.answer()}} {
		if part.text == "" {
			continue
		}
		lines = append(lines, margin+m.look.theme.Faint.Render(part.name))
		lines = append(lines, m.rows(part.text)...)
	}
	return lines
}

func (c call) head() string {
	s := c.name
	if c.saidAll >= 1000 {
		s += " · " + bytesOf(c.saidAll)
	}
	return s
}

func (c call) body() string {
	var parts []string
	if s := c.question(); s != "" {
		parts = append(parts, "input\n"+s)
	}
	if s := c.answer(); s != "" {
		parts = append(parts, "result\n"+s)
	}
	return strings.Join(parts, "\n\n")
}

func (c call) weight() int { return len(c.asked) + len(c.said) }

func (c call) question() string { return readable(c.asked) + missing(c.askedAll, len(c.asked)) }

func (c call) answer() string { return readable(c.said) + missing(c.saidAll, len(c.said)) }

// readable is JSON with a line for each value, and any other text as it is.
func readable(s string) string {
	var b bytes.Buffer
	if first := strings.TrimLeft(s, " \n"); first == "" || first[0] != '{' && first[0] != '[' || json.Indent(&b, []byte(s), "", "  ") != nil {
		return s
	}
	return b.String()
}

// parts shares the room behind the name between input and result.
func parts(c call, room int) (in, out string) {
	in, out = c.input, c.output
	if c.state == running && in == "" || room < 8 {
		return text.Truncate(in, max(room, 0)), ""
	}
	if out == "" {
		return text.Truncate(in, room), ""
	}
	room -= 3
	in = text.Truncate(in, max(room/2, room-text.Width(out)))
	return in, text.Truncate(out, room-text.Width(in))
}

// input is a call's input in a few words: the values of a small object, else
// its JSON.
func input(c event.ToolCall) string {
	if c.InputError != "" {
		return brief(c.Raw)
	}
	raw := c.Input
	if len(raw) > maxDetail {
		return brief(string(raw[:maxDetail]))
	}
	var fields map[string]any
	if json.Unmarshal(raw, &fields) == nil && len(fields) == 1 {
		for _, v := range fields {
			if s, ok := v.(string); ok {
				return brief(s)
			}
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) == nil && b.String() != "{}" && b.String() != "null" {
		return brief(b.String())
	}
	return ""
}

// shortJSON is how many bytes of JSON are shown as they are.
const shortJSON = 80

// glance is a result that is JSON: itself while it is short, else the first
// text in it, which says more on a line than brackets and names do.
func glance(raw []byte) string {
	if len(raw) > shortJSON {
		if s := firstText(raw[:min(len(raw), 4*maxDetail)]); s != "" {
			return s + "\n…"
		}
	} else if hollow(raw) {
		return "nothing"
	}
	return string(raw)
}

// hollow says whether JSON is lists and objects with nothing in them.
func hollow(raw []byte) bool {
	if first := bytes.TrimSpace(raw); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return false
	}
	var v any
	return json.Unmarshal(raw, &v) == nil && empty(v)
}

func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(v any) bool { return !empty(v) })
	case map[string]any:
		for _, v := range v {
			if !empty(v) {
				return false
			}
		}
		return true
	}
	return false
}

// firstText is the first string that is no name. The end of raw may be missing.
func firstText(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	var open []byte // of each level: [ in a list, { before a name, : before its value
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		top := byte('[')
		if n := len(open); n > 0 {
			top = open[n-1]
			open[n-1] = map[byte]byte{'[': '[', '{': ':', ':': '{'}[top]
		}
		switch t := token.(type) {
		case string:
			if top != '{' && strings.TrimSpace(t) != "" {
				return t
			}
		case json.Delim:
			if t == '{' || t == '[' {
				open = append(open, byte(t))
			} else {
				open = open[:len(open)-1]
			}
		}
	}
}

// brief is the first line of s that says something, cut and cleaned.
func brief(s string) string {
	cut := len(s) > maxDetail
	if cut {
		s = s[:maxDetail]
	}
	s = strings.TrimSpace(s)
	line, rest, more := strings.Cut(s, "\n")
	line = text.Line(strings.ToValidUTF8(strings.TrimSpace(line), ""))
	if more && strings.TrimSpace(rest) != "" || cut {
		line += " …"
	}
	return line
}
