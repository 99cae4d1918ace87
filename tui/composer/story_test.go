package composer_test

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentx/tui/composer"
	"agentx/tui/storytest"
	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "write the frames anew")

// screen runs a composer; a key comes every fifty milliseconds.
type screen struct {
	model composer.Model
	now   time.Time
	outs  []tea.Msg
}

func newScreen(c composer.Config) *screen {
	s := &screen{now: time.Unix(0, 0)}
	if c.Now == nil {
		c.Now = func() time.Time { return s.now }
	}
	s.model = composer.New(c)
	return s
}

func (s *screen) send(msg tea.Msg) {
	var out tea.Msg
	s.model, out, _ = s.model.Update(msg)
	if out != nil {
		s.outs = append(s.outs, out)
	}
}

func (s *screen) press(script string) {
	for _, k := range storytest.Keys(script) {
		s.now = s.now.Add(50 * time.Millisecond)
		s.send(k)
	}
}

func (s *screen) paste(content string) {
	s.send(tea.PasteMsg{Content: content})
	s.now = s.now.Add(time.Second)
}

// picture is the view with the caret drawn in, and what was said since the last one.
func (s *screen) picture(width int) string {
	var b strings.Builder
	caret := s.model.Cursor()
	for y, line := range strings.Split(s.model.View(), "\n") {
		says := ""
		if _, marked, ok := strings.Cut(line, "\x1b[7m"); ok {
			marked, _, _ = strings.Cut(marked, "\x1b[m")
			line, says = ansi.Strip(line), fmt.Sprintf(" marked %q", marked)
		}
		line += strings.Repeat(" ", max(0, width-text.Width(line)))
		if caret != nil && caret.Y == y {
			line = withCaret(line, caret.X)
		}
		b.WriteString(storytest.Line(line, 0, says))
	}
	for _, out := range s.outs {
		b.WriteString("  out " + said(out) + "\n")
	}
	s.outs = nil
	return b.String()
}

func withCaret(line string, x int) string {
	col, at := 0, 0
	for at < len(line) && col < x {
		c, w := ansi.FirstGraphemeCluster(line[at:], ansi.GraphemeWidth)
		at, col = at+len(c), col+w
	}
	return line[:at] + "‸" + line[at:]
}

func said(out tea.Msg) string {
	switch out := out.(type) {
	case composer.Submit:
		if len(out.Mentions) > 0 {
			return fmt.Sprintf("submit %q with %q", out.Text, out.Mentions)
		}
		if out.Bang {
			return "bang " + strconv.Quote(out.Text)
		}
		if len(out.Chips) > 0 {
			return fmt.Sprintf("submit %q with chips %q", clip(out.Text), labels(out.Chips))
		}
		if out.Slash {
			return "slash " + strconv.Quote(out.Text)
		}
		return "submit " + strconv.Quote(out.Text)
	case composer.Mentioned:
		return fmt.Sprintf("mentioned %q as %q", out.Name, out.Word)
	case composer.Mention:
		return "mention " + strconv.Quote(out.Part)
	case composer.Edit:
		return "edit " + strconv.Quote(out.Text)
	case composer.Notice:
		return "notice " + strconv.Quote(out.Text)
	}
	return fmt.Sprintf("%T", out)
}

func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

// labels are chips with their kind and what of the text they are.
func labels(chips []composer.Chip) []string {
	var out []string
	for _, c := range chips {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s at %d+%d", c.Kind, c.Path, c.Label, c.At, c.Len)))
	}
	return out
}

func commands() []composer.Command {
	return []composer.Command{
		{Name: "model", Help: "choose the model"}, {Name: "new", Help: "begin a new session"}, {Name: "sessions", Help: "open a saved session"},
		{Name: "system", Help: "change the system prompt"}, {Name: "quit", Help: "leave"},
	}
}

// TestStories writes, and shows what comes of it (F118).
func TestStories(t *testing.T) { storytest.Test(t, *update, stage) }

func stage() storytest.Stage {
	s := newScreen(composer.Config{Placeholder: "Ask anything", Busy: "An answer is running; write ahead"})
	s.model = s.model.SetCommands(commands())
	width, height := 40, 14
	s.model = s.model.SetSize(width, height)
	return func(verb, arg string) (string, error) {
		unquoted, err := strconv.Unquote(`"` + arg + `"`)
		if err != nil {
			unquoted = arg
		}
		switch verb {
		case "size":
			if _, err := fmt.Sscan(arg, &width, &height); err != nil {
				return "", err
			}
			s.model = s.model.SetSize(width, height)
		case "keys":
			s.press(arg)
		case "paste":
			s.paste(unquoted)
		case "pastelines":
			n, err := strconv.Atoi(arg)
			if err != nil {
				return "", err
			}
			s.paste(strings.Repeat("a line of the paste\n", n))
		case "history":
			s.model = s.model.SetHistory(strings.Split(unquoted, "|"))
		case "text":
			s.model = s.model.SetText(unquoted)
		case "found":
			part, names, _ := strings.Cut(arg, ": ")
			part = strings.TrimSuffix(part, ":")
			var found []composer.Command
			for name := range strings.SplitSeq(names, ",") {
				found = append(found, composer.Command{Name: name, Help: "file"})
			}
			s.model = s.model.SetMentions(part, found)
		case "attach": // word, path
			word, path, _ := strings.Cut(arg, " ")
			if word == "-" {
				word = ""
			}
			s.model = s.model.Attach(word, "@"+path, composer.Chip{Kind: composer.Attached, Path: path, Label: "[" + path + " · text · 2 kB]", Size: 2000})
		case "vi":
			s.model = s.model.SetVi(true)
			return "", nil
		case "forget":
			s.model = s.model.Forget(arg)
		case "reopen": // after a crash
			d := s.model.Draft()
			s.model = s.model.Reset().SetDraft(d)
		case "busy":
			s.model = s.model.SetBusy(true)
		case "blur":
			s.model = s.model.Blur()
		default:
			return "", storytest.ErrUnknown
		}
		return s.picture(width), nil
	}
}
