package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentx/tui/composer"
	"agentx/tui/dialog"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
	"github.com/dustin/go-humanize"
)

// A shell is the command of the user that is running, if one is.
type shell struct {
	command string
	stop    context.CancelFunc // nil where none is
}

func (s shell) running() bool { return s.stop != nil }

// toRun asks for a command, or whether one may run.
func (m Model) toRun(command string) (Model, tea.Cmd) {
	if command == "" {
		m.composer = m.composer.SetTyped("!" + m.composer.Text())
		return m, nil
	}
	return m.askToRun(Message{Text: command})
}

// askToRun shows what would run, and where. Nothing runs without a yes; until
// there is one the command stands in the composer. What earlier commands have
// printed stays there.
func (m Model) askToRun(d Message) (Model, tea.Cmd) {
	command, _ := d.Without(composer.Output)
	command = strings.TrimSpace(command)
	earlier := d.Only(composer.Output)
	m.composer = m.composer.SetTyped("!" + command)
	if !earlier.Empty() {
		m.composer = m.composer.Append(earlier)
	}
	switch {
	case m.backend == nil:
		written := m.composer.Text()
		return m, soon(func(m Model) (Model, tea.Cmd) {
			if m.composer.Text() != written {
				return m, nil // the user has thought of something else
			}
			return m.askToRun(d)
		})
	case m.shell.running():
		return m.say(transcript.Info, "A command is running. Esc stops it."), nil
	}
	ask := dialog.Confirm{
		Title: "Run this command?", Default: "no", Guard: true,
		Body:    text.Clean(command) + "\n\nin " + text.Line(m.backend.Folder()) + ". What it prints goes with your next message.",
		Choices: []dialog.Choice{{Value: "no", Letter: "n", Label: "do not run it"}, {Value: "yes", Letter: "y", Label: "run it"}},
	}
	m = m.question(func(c dialog.Config) dialog.Model { return c.Confirm(ask) }, func(m Model, a dialog.Answer) (Model, tea.Cmd) {
		if a.Choice != "yes" {
			return m, nil
		}
		m.composer = m.composer.Reset()
		if !earlier.Empty() {
			m.composer = m.composer.Append(earlier)
		}
		return m.runCommand(command)
	})
	return m, nil
}

// runCommand runs what the user has said yes to.
func (m Model) runCommand(command string) (Model, tea.Cmd) {
	ctx, stop := context.WithCancel(m.ctx)
	m.shell = shell{command: command, stop: stop}
	m, save := m.keepDraft()
	b, release := m.backend, m.term.hold()
	return m, tea.Batch(save, func() tea.Msg {
		defer release()
		defer stop()
		ran, err := b.Run(ctx, command)
		return result{func(m Model) (Model, tea.Cmd) { return m.ran(command, ran, err) }}
	})
}

// halt ends the command that is running, and what it has started.
func (m Model) halt() Model {
	if m.shell.running() {
		m.shell.stop()
	}
	return m
}

// ran shows what a command has printed, and puts it under the next message.
func (m Model) ran(command string, r Ran, err error) (Model, tea.Cmd) {
	m.shell = shell{}
	if err != nil {
		return m.say(transcript.Failure, sentence(err, ""), "Nothing was run."), nil
	}
	m = m.say(transcript.Info, append([]string{"! " + command}, append(excerpt(r.Output), r.how()+" after "+took(r.Took))...)...)
	m.composer = m.composer.Append(m.output(command, r))
	m, save := m.keepDraft()
	return m.fit(), save
}

// how says how a command has ended.
func (r Ran) how() string {
	if r.How != "" {
		return r.How
	}
	return fmt.Sprintf("exit %d", r.Code)
}

func took(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// maxShown is how many lines of an output stand in the conversation.
const maxShown = 24

// excerpt is the beginning and the end of an output.
func excerpt(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if over := len(lines) - maxShown; over > 0 {
		half := maxShown / 2
		cut := append(lines[:half:half], fmt.Sprintf("… %d more lines", over))
		lines = append(cut, lines[len(lines)-half:]...)
	}
	for i, l := range lines {
		if l == "" {
			lines[i] = " " // an empty sentence would be left out
		}
	}
	if len(lines) == 1 && lines[0] == " " {
		return nil
	}
	return lines
}

// output is what a command has printed as a part of a message.
func (m Model) output(command string, r Ran) Message {
	said := fmt.Sprintf("<shell command=%q result=%q seconds=\"%.1f\">\n%s\n</shell>", command, r.how(), r.Took.Seconds(), strings.TrimRight(r.Output, "\n"))
	dot := " · "
	if m.prefs.ascii {
		dot = ", "
	}
	lines := humanize.Comma(int64(r.Lines)) + " lines"
	if r.Lines == 1 {
		lines = "1 line"
	}
	label := "[! " + text.Truncate(text.Line(command), maxName) + dot + r.how() + dot + lines + "]"
	return Message{Text: said, Chips: []composer.Chip{{Len: len(said), Kind: composer.Output, Label: label}}}
}

// shellLines says what is running.
func (m Model) shellLines() []string {
	if !m.shell.running() {
		return nil
	}
	stop, _ := m.table.named("stop")
	says := "  running: " + text.Line(m.shell.command)
	hint := " (" + stop.hintOf() + " stops it)"
	return []string{m.prefs.theme.Muted.Render(text.Truncate(says, max(m.width-text.Width(hint), 1)) + text.Truncate(hint, m.width))}
}
