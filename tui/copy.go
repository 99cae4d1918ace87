package tui

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentx/tui/markdown"
	"agentx/tui/palette"
	"agentx/tui/screen"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// copies are what /copy can copy, by the word for it. Without a word it is the
// answer as it was written.
func copies() map[string]copying {
	return map[string]copying{
		"":         {"answer", Model.answer},
		"raw":      {"answer", Model.answer},
		"markdown": {"answer", Model.answer},
		"text": {"answer", func(m Model, n int) (string, bool) {
			s, ok := m.answer(n)
			return markdown.Text(s), ok
		}},
		"code":   {"block of code", Model.code},
		"prompt": {"message", func(m Model, n int) (string, bool) { return m.transcript.Prompt(n) }},
		"tool":   {"result of a tool", func(m Model, n int) (string, bool) { return m.transcript.Result(n) }},
	}
}

// A copying finds the nth of its kind from the end.
type copying struct {
	what string // for people
	find func(m Model, n int) (string, bool)
}

const howToCopy = "/copy copies the last answer, /copy 2 the one before it; so do /copy text, code, prompt and tool, which may have a number, too."

// copy puts something into the clipboard, for the user and nobody else.
func (m Model) copy(arg string) (Model, tea.Cmd) {
	words := strings.Fields(strings.ToLower(arg))
	word, n, counted := "", 1, false
	if len(words) > 0 {
		if i, err := strconv.Atoi(words[len(words)-1]); err == nil {
			n, counted, words = i, true, words[:len(words)-1]
		}
	}
	if len(words) > 0 {
		word, words = words[0], words[1:]
	}
	c, ok := copies()[word]
	if !ok || len(words) > 0 || n < 1 {
		return m.say(transcript.Info, howToCopy), nil
	}
	if word == "code" && !counted {
		answer, _ := m.transcript.Answer(1)
		if blocks := markdown.Codes(answer); len(blocks) > 1 {
			return m.chooseCode("Code of the last answer, from its end", blocks)
		}
	}
	s, ok := c.find(m, n)
	if !ok {
		return m.say(transcript.Info, "There is no such "+c.what+" to copy."), nil
	}
	return m.clip(s)
}

func (m Model) answer(n int) (string, bool) { return m.transcript.Answer(n) }

// code is the nth block of code from the end.
func (m Model) code(n int) (string, bool) {
	for i := 1; ; i++ {
		answer, ok := m.transcript.Answer(i)
		if !ok {
			return "", false
		}
		blocks := markdown.Codes(answer)
		if n <= len(blocks) {
			return blocks[len(blocks)-n].Text, true
		}
		n -= len(blocks)
	}
}

// chooseCode copies a block of code, and asks which where there are several.
func (m Model) chooseCode(title string, blocks []markdown.Code) (Model, tea.Cmd) {
	if len(blocks) == 1 {
		return m.clip(blocks[0].Text)
	}
	slices.Reverse(blocks)
	var list []palette.Item
	for i, b := range blocks {
		lines := strings.Split(strings.TrimSpace(text.Clean(b.Text)), "\n")
		size := "1 line"
		if len(lines) > 1 {
			size = fmt.Sprintf("%d lines", len(lines))
		}
		list = append(list, palette.Item{
			ID: strconv.Itoa(i), Title: pad(strconv.Itoa(i+1), 3) + text.Line(lines[0]),
			Hint: strings.TrimSpace(text.Line(b.Lang) + " " + size), Preview: lines[:min(len(lines), 12)],
		})
	}
	c := palette.Config{Title: title, Enter: "copy", Actions: []palette.Action{{Key: "space", Help: "preview", Preview: true}}}
	return m.choose(c, list, func(m Model, _ palette.Model, out tea.Msg) (Model, tea.Cmd) {
		chosen, ok := out.(palette.Chosen)
		if i, err := strconv.Atoi(chosen.ID); ok && err == nil {
			return m.close().clip(blocks[i].Text)
		}
		return m, nil
	}), nil
}

// clip puts s into the clipboard, and says so where the user looks.
func (m Model) clip(s string) (Model, tea.Cmd) {
	s = strings.TrimRight(text.Clean(s), "\n")
	reading := m.full.focus != none
	return m, m.toClip(s, func(m Model, err error) (Model, tea.Cmd) {
		says := fmt.Sprintf("Copied %d characters", utf8.RuneCountInString(s))
		switch {
		case reading && err != nil:
			m.full.find.said = "Too long to copy; /export writes it to a file"
		case reading:
			m.full.find.said = says
		case err != nil:
			return m.say(transcript.Failure, "Not copied: "+sentence(err, ""), "/export writes the conversation to a file."), nil
		default:
			return m.say(transcript.Info, says+"."), nil
		}
		return m, nil
	})
}

// toClip is the command that copies s, and then tells how it went.
func (m Model) toClip(s string, then func(Model, error) (Model, tea.Cmd)) tea.Cmd {
	t := m.term
	return func() tea.Msg {
		err := t.copy(s)
		return result{func(m Model) (Model, tea.Cmd) { return then(m, err) }}
	}
}

// maxClip is how many bytes are given to a terminal for its clipboard: some drop
// what is larger and say nothing.
const maxClip = 74_994

// clipTime is how long a program may take to take a text.
const clipTime = 2 * time.Second

// copy gives s to the terminal, which has the clipboard of whoever sits before
// it, and to a program of this machine that has one. Its error is that neither
// could have it.
func (c *console) copy(s string) error {
	return toClipboard(c.options.Env, s, func(seq string) { c.screen.Tell(screen.Once, seq) })
}

func (d *dictation) copy(s string) error {
	return toClipboard(d.options.Env, s, func(seq string) { fmt.Fprint(d.options.Out, seq) })
}

func toClipboard(env []string, s string, tell func(seq string)) error {
	fits := len(s) <= maxClip
	if fits {
		tell("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(s)) + "\x1b\\")
	}
	err := handOver(clipboards(lookup(env)), s)
	if fits {
		return nil // whether the terminal has taken it, none of them says
	}
	return err
}

// clipboards are the commands that put their input into a clipboard which the
// environment speaks of. Far away, only the multiplexer and a forwarded display
// lead to the user.
func clipboards(get func(string) string) [][]string {
	var all [][]string
	if get("TMUX") != "" {
		all = append(all, []string{"tmux", "load-buffer", "-w", "-"})
	}
	far := get("SSH_CONNECTION") != "" || get("SSH_TTY") != ""
	if !far && get("WAYLAND_DISPLAY") != "" {
		all = append(all, []string{"wl-copy"})
	}
	if get("DISPLAY") != "" {
		all = append(all, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
	}
	if !far {
		all = append(all, []string{"pbcopy"}, []string{"termux-clipboard-set"})
	}
	return all
}

// handOver gives s to the first of the commands that takes it.
func handOver(commands [][]string, s string) error {
	failed := fmt.Errorf("%d kB are more than a terminal takes, and no program here has a clipboard", len(s)/1000)
	for _, argv := range commands {
		path, err := exec.LookPath(argv[0])
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		if err == nil {
			err = feed(path, argv[1:], s)
		}
		if err == nil {
			return nil
		}
		failed = fmt.Errorf("%s: %w", argv[0], err)
	}
	return failed
}

// feed runs a program with s as its input.
func feed(path string, args []string, s string) error {
	ctx, cancel := context.WithTimeout(context.Background(), clipTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(s)
	cmd.WaitDelay = clipTime / 4
	return cmd.Run() // what it says goes nowhere: it may stay on behind us, and would hold us up
}
