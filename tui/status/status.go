// Package status says what the agent is doing: a word from state events, and
// for how long. It is silent when nothing happens.
package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/text"
	"agentx/tui/theme"
)

// silence is after how long without any event the status says so.
const silence = 8 * time.Second

// Model is a line about what is going on, or nothing.
type Model struct {
	ascii, quiet bool

	word    string
	why     string    // it is tried again
	began   time.Time // of the turn
	heard   time.Time // of the last event
	retryAt time.Time
	tools   int // that are at work
	bytes   int // of the answer so far, thoughts included
	counted int64
}

// New returns a status that has nothing to say. A quiet one does not turn.
func New(ascii, quiet bool) Model { return Model{ascii: ascii, quiet: quiet} }

// Begin says that a message has been sent at a moment, before any event.
func (m Model) Begin(at time.Time) Model {
	m = m.End()
	m.word, m.began, m.heard = "sending", at, at
	return m
}

// Stopping says that the user has asked for the end of the answer.
func (m Model) Stopping() Model {
	if m.Active() {
		m.word, m.retryAt = "stopping", time.Time{}
	}
	return m
}

// End says that nothing is going on any more.
func (m Model) End() Model { return New(m.ascii, m.quiet) }

// Active says whether there is something to say, which changes ten times a second.
func (m Model) Active() bool { return m.word != "" }

// Word is what is going on, or empty.
func (m Model) Word() string {
	if m.because() {
		return m.word + " after " + text.Truncate(m.why, 40)
	}
	return m.word
}

// Apply shows one event.
func (m Model) Apply(e event.Event) Model {
	switch d := e.Data.(type) {
	case event.UserMessage:
		m = m.Begin(e.At)
		m.word = "waiting"
	case event.ConversationEnd:
		return m.End()
	case event.State:
		m = m.state(d)
	case event.Stream:
		m = m.stream(e.At, d)
	}
	if m.Active() && e.At.After(m.heard) {
		m.heard = e.At
	}
	return m
}

// state finds the word for what has changed.
func (m Model) state(d event.State) Model {
	if m.word == "stopping" {
		return m
	}
	m.retryAt = time.Time{}
	switch d := d.(type) {
	case event.ConversationStart:
		m.word = "waiting"
	case event.ConversationThinking:
		m.word = "thinking"
	case event.ConversationResponding:
		m.word = "responding"
	case event.ToolPlanned:
		m.word = "preparing " + name(d.ToolName)
	case event.ToolExecuting:
		m.tools++
		m.word = "calling " + name(d.ToolName)
	case event.ToolCompleted, event.ToolFailed:
		if m.tools--; m.tools <= 0 {
			m.tools, m.word = 0, "waiting"
		}
	case event.ConversationInterrupted:
		m.word = "stopping"
	}
	return m
}

// stream counts what comes.
func (m Model) stream(at time.Time, d event.Stream) Model {
	if !m.Active() {
		return m
	}
	if r, ok := d.(event.Retrying); ok {
		m.word, m.why = "retrying", text.Line(r.Reason)
		if r.MaxAttempts > 0 {
			m.word = fmt.Sprintf("retrying (%d of %d)", r.Attempt, r.MaxAttempts)
		}
		m.retryAt = at.Add(time.Duration(r.DelayMs) * time.Millisecond)
		return m
	}
	m.retryAt = time.Time{}
	switch d := d.(type) {
	case event.TextDelta:
		m.bytes += len(d.Text)
	case event.ThinkingDelta:
		m.bytes += len(d.Text)
	case event.InputJSONDelta:
		m.bytes += len(d.PartialJSON)
	case event.MessageDelta:
		m.counted += d.Usage.OutputTokens
	}
	return m
}

// View draws the line, at most width cells wide. Stop is the key that ends the
// answer. What does not fit is left out, the least dear first.
func (m Model) View(width int, now time.Time, th *theme.Theme, stop string) string {
	if !m.Active() || width < 1 {
		return ""
	}
	for dear := 0; ; dear++ {
		fields := m.fields(now, stop, dear)
		line := m.spin(now) + " " + strings.Join(fields, " · ")
		if room := width - text.Width(line) - text.Width(" · "); m.because() && room >= min(leastReason, text.Width(m.why)) {
			fields = slices.Insert(fields, 1, text.Truncate(m.why, room))
			line = m.spin(now) + " " + strings.Join(fields, " · ")
		} else if m.because() && dear < ofStop {
			continue // why it waits is dearer than for how long
		}
		if text.Width(line) <= width || dear == dearest {
			line = text.Truncate(line, width)
			mark := line[:min(len(m.spin(now)), len(line))]
			return th.Spinner.Render(mark) + th.Status.Render(line[len(mark):])
		}
	}
}

// leastReason is the fewest cells that are worth a reason.
const leastReason = 16

// because says whether there is a reason to tell: for what is tried again, until
// something comes of it.
func (m Model) because() bool {
	return m.why != "" && strings.HasPrefix(m.word, "retrying")
}

// dearest is the rank of what is never left out.
const dearest = 4

// ofStop is the rank of how to stop.
const ofStop = 2

// fields are the parts of the line that are at least that dear, in their order.
func (m Model) fields(now time.Time, stop string, dear int) []string {
	out := []string{m.what(now)}
	add := func(rank int, says bool, s string) {
		if says && rank >= dear {
			out = append(out, s)
		}
	}
	silent := now.Sub(m.heard)
	add(3, silent >= silence && m.tools == 0 && m.retryAt.IsZero(), "no data for "+span(silent))
	add(1, true, span(now.Sub(m.began)))
	add(0, m.tokens() > 0, fmt.Sprintf("~%d tokens", m.tokens()))
	add(ofStop, stop != "" && m.word != "stopping", stop+" to stop")
	return out
}

func (m Model) what(now time.Time) string {
	if wait := m.retryAt.Sub(now); wait > 0 {
		return strings.Replace(m.word, "retrying", "retrying in "+span(wait+time.Second-1), 1)
	}
	return m.word
}

// tokens is what has come so far, by the rule of four bytes a token until the
// provider counts.
func (m Model) tokens() int64 { return max(m.counted, int64(m.bytes/4)) }

func (m Model) spin(now time.Time) string {
	pictures := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	if m.ascii {
		pictures = []string{"|", "/", "-", "\\"}
	}
	if m.quiet {
		return pictures[0]
	}
	return pictures[int(max(now.Sub(m.began), 0)/(100*time.Millisecond))%len(pictures)]
}

func name(tool string) string { return text.Truncate(text.Line(tool), 30) }

// span is a duration in whole seconds.
func span(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}
