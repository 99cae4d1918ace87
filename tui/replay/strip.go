// Package replay draws the strip below a conversation that is played again: what
// went into the machine in one step, what came out, and where it stood. It knows
// no recording.
package replay

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/text"
	"agentx/tui/theme"
)

// A Step is one step of a recording, and where in it that is.
type Step struct {
	N, Of   int           // steps are counted from 1; 0 is before the first
	Line    int           // of the file
	At      time.Duration // since the beginning
	Playing bool
	Speed   float64

	In    event.Event
	Outs  []event.Event
	State []Field
}

// A Field is a value with its name, if it needs one. One that is 0 is not shown.
type Field struct{ Name, Value string }

// A Look is how things are drawn.
type Look struct {
	Theme *theme.Theme
	ASCII bool // no marks outside ASCII
}

// Keys are what can be done, in the order in which they may be left out.
const keys = "Space play · ← → step · [ ] message · Home End · + - speed · ↑ ↓ scroll · q quit"

// Rows returns how many rows the strip takes of a screen that has so many.
func Rows(screen int) int {
	switch {
	case screen >= 16:
		return 8
	case screen >= 10:
		return 5
	}
	return min(2, max(screen-1, 0))
}

// View draws the strip in as many rows as it is given, each as wide as it may
// be.
func View(s Step, width, rows int, l Look) []string {
	d := drawing{s, width, l}
	lines := []string{d.rule()}
	outs := rows - 5
	switch {
	case rows >= 6:
		lines = append(lines, d.head(), d.input())
		lines = append(lines, d.outputs(outs)...)
		lines = append(lines, d.state(), d.help())
	case rows == 5:
		lines = append(lines, d.head(), d.input(), d.state(), d.help())
	default:
		lines = append(lines, d.head())
	}
	lines = lines[:min(len(lines), rows)]
	for i, line := range lines {
		lines[i] = text.Truncate(line, width)
	}
	return lines
}

type drawing struct {
	step  Step
	width int
	Look
}

func (d drawing) rule() string {
	return d.Theme.Border.Render(strings.Repeat(d.pick("─", "-"), d.width))
}

func (d drawing) pick(mark, ascii string) string {
	if d.ASCII {
		return ascii
	}
	return mark
}

// head says where in the recording the step is.
func (d drawing) head() string {
	s := d.step
	mark, word := d.pick("▮▮", "||"), "stopped"
	if s.Playing {
		mark, word = d.pick("▶ ", "> "), "playing"
	}
	parts := []string{fmt.Sprintf("step %d of %d", s.N, s.Of), clock(s.At), strconv.FormatFloat(s.Speed, 'g', 3, 64) + d.pick("×", "x")}
	if s.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", s.Line))
	}
	return d.Theme.Accent.Render(mark+" "+word) + d.Theme.Muted.Render("  "+strings.Join(parts, d.dot()))
}

func (d drawing) dot() string { return d.pick(" · ", " - ") }

// clock is a time of a film: 1:02.345.
func clock(t time.Duration) string {
	t = max(t, 0)
	return fmt.Sprintf("%d:%02d.%03d", int(t.Minutes()), int(t.Seconds())%60, t.Milliseconds()%1000)
}

func (d drawing) input() string {
	if d.step.N == 0 {
		return d.label("in") + d.Theme.Faint.Render("nothing has happened yet")
	}
	return d.label("in") + d.event(d.step.In)
}

func (d drawing) label(s string) string { return d.Theme.Key.Render(fmt.Sprintf("%-6s", s)) }

// outputs are as many as there is room for; the rest is named.
func (d drawing) outputs(rows int) []string {
	lines := make([]string, 0, rows)
	outs := d.step.Outs
	for i, e := range outs {
		label := ""
		if i == 0 {
			label = "out"
		}
		if len(lines) == rows-1 && len(outs) > rows {
			lines = append(lines, d.label(label)+d.Theme.Muted.Render(fmt.Sprintf("and %d more: %s", len(outs)-i, names(outs[i:]))))
			break
		}
		lines = append(lines, d.label(label)+d.event(e))
	}
	if len(outs) == 0 && rows > 0 {
		lines = append(lines, d.label("out")+d.Theme.Faint.Render("nothing"))
	}
	for len(lines) < rows {
		lines = append(lines, "")
	}
	return lines
}

func names(events []event.Event) string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = text.Line(e.Data.Type())
	}
	return strings.Join(all, ", ")
}

// event is the type and the data of an event, as much of it as can be seen.
func (d drawing) event(e event.Event) string {
	data, err := event.MarshalData(e.Data)
	if err != nil {
		data = []byte(err.Error())
	}
	room := 4 * d.width // bytes that the row can have at most
	return d.Theme.Strong.Render(text.Line(e.Data.Type())) + "  " +
		d.Theme.Text.Render(text.Line(strings.ToValidUTF8(string(data[:min(len(data), room)]), "")))
}

func (d drawing) state() string {
	var parts []string
	for _, f := range d.step.State {
		switch {
		case f.Value == "" || f.Value == "0":
		case f.Name == "":
			parts = append(parts, text.Line(f.Value))
		default:
			parts = append(parts, d.Theme.Muted.Render(text.Line(f.Name))+" "+text.Line(f.Value))
		}
	}
	return d.label("state") + cmp.Or(strings.Join(parts, d.Theme.Faint.Render(d.dot())), d.Theme.Faint.Render("as in the beginning"))
}

// help leaves out what does not fit, but never how to leave.
func (d drawing) help() string {
	all := strings.Split(keys, " · ")
	if d.ASCII {
		all = strings.Split(strings.NewReplacer("←", "Left", "→", "Right", "↑", "Up", "↓", "Down").Replace(keys), " · ")
	}
	if d.step.Playing {
		all[0] = "Space stop"
	}
	for len(all) > 1 && text.Width(strings.Join(all, d.dot())) > d.width {
		all = append(all[:len(all)-2], all[len(all)-1])
	}
	return d.Theme.Muted.Render(strings.Join(all, d.dot()))
}
