package dialog_test

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"agentx/tui/dialog"
	"agentx/tui/storytest"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the frames anew")

func remove() dialog.Confirm {
	return dialog.Confirm{
		ID: "rm", Title: "Delete this session?", Body: "“Trip to Rome”, 12 messages. This cannot be undone.",
		Choices: []dialog.Choice{{Value: "yes", Letter: "y", Label: "delete", Destructive: true}, {Value: "no", Letter: "n", Label: "keep"}},
		Default: "yes", // which it must not take
	}
}

func permit() dialog.Confirm {
	return dialog.Confirm{
		ID: "run", Title: "Run this?", Body: "bash in ~/work:\n\n\trm -rf build\x1b[2K && make\r\n\techo done", Guard: true, Twice: true,
		Choices: []dialog.Choice{{"once", "y", "once", false}, {"session", "s", "for this session", false}, {"pattern", "p", "always this pattern", true}, {"no", "n", "no", false}},
	}
}

func help() dialog.Text {
	t := dialog.Text{ID: "help", Title: "Keys", Body: "What the keys do while you write."}
	for _, s := range []string{"Writing|", "enter|send", "shift+enter|a new line", "ctrl+r|search the history, again for the one before, enter takes it", "Leaving|", "ctrl+c|stop, clear, quit", "ctrl+d|quit when empty"} {
		left, right, _ := strings.Cut(s, "|")
		t.Rows = append(t.Rows, dialog.Row{Left: left, Right: right})
	}
	return t
}

// TestStories shows the questions, and what comes of the keys.
func TestStories(t *testing.T) { storytest.Test(t, *update, stage) }

func stage() storytest.Stage {
	now := time.Unix(0, 0)
	c := dialog.Config{Now: func() time.Time { return now }}
	var m dialog.Model
	width, height := 44, 10
	return func(verb, arg string) (string, error) {
		var outs []tea.Msg
		switch verb {
		case "open":
			m = map[string]dialog.Model{
				"remove": c.Confirm(remove()), "permit": c.Confirm(permit()), "help": c.Text(help()),
				"rename": c.Prompt(dialog.Prompt{ID: "t", Title: "A new title", Value: "Trip to Rome"}),
				"key":    c.Prompt(dialog.Prompt{ID: "k", Title: "Key for anthropic", Body: "It is kept in the system's keyring.", Secret: true}),
			}[arg].SetSize(width, height)
		case "size":
			if _, err := fmt.Sscan(arg, &width, &height); err != nil {
				return "", err
			}
			m = m.SetSize(width, height)
		case "wait":
			d, err := time.ParseDuration(arg)
			now = now.Add(d)
			return "", err
		case "keys":
			for _, k := range storytest.Keys(arg) {
				var out tea.Msg
				if m, out, _ = m.Update(k); out != nil {
					outs = append(outs, out)
				}
			}
		default:
			return "", storytest.ErrUnknown
		}
		return picture(m, width, outs), nil
	}
}

// picture is the view, where the caret is, and what was said.
func picture(m dialog.Model, width int, outs []tea.Msg) string {
	var b strings.Builder
	for y, l := range strings.Split(m.View(), "\n") {
		caret := ""
		if at := m.Cursor(); at != nil && at.Y == y {
			caret = fmt.Sprintf(" caret at %d", at.X)
		}
		b.WriteString(storytest.Line(l, width, caret))
	}
	for _, out := range outs {
		fmt.Fprintf(&b, "  out %s\n", strings.TrimPrefix(fmt.Sprintf("%T%+[1]v", out), "dialog."))
	}
	return b.String()
}

// TestGuard: keys on their way to the composer answer no question that jumps in between.
func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := dialog.Config{}.Confirm(permit())
		press := func(script string) (out tea.Msg) {
			for _, k := range storytest.Keys(script) {
				var o tea.Msg
				if m, o, _ = m.Update(k); o != nil {
					out = o
				}
			}
			return out
		}
		for range 40 { // two seconds of typing
			time.Sleep(50 * time.Millisecond)
			if out := press("y<enter>"); out != nil {
				t.Fatalf("a key that was meant for the composer says %v", out)
			}
		}
		time.Sleep(dialog.Guard)
		if out := press("<enter>"); out != nil {
			t.Fatalf("Enter alone says %v", out)
		}
		if out := press("y"); out != nil {
			t.Fatalf("one letter says %v", out)
		}
		if want := (dialog.Answer{ID: "run", Choice: "once"}); press("<enter>") != want {
			t.Fatalf("the letter and Enter do not say %v", want)
		}
	})
}

func check(t *rapid.T, m dialog.Model, width, height int) {
	t.Helper()
	if view := m.View(); strings.Count(view, "\n")+1 != m.Height() {
		t.Fatalf("Height() = %d of %q", m.Height(), view)
	}
	storytest.Fits(t, m.View(), m.Cursor(), max(width, 1), max(height, 1))
}

// TestAnyKeys: whatever is asked and pressed at whatever size, it fits.
func TestAnyKeys(t *testing.T) {
	piece := rapid.SampledFrom([]string{"", "a", "\x1b[2J", "世界", "é\n", "👩\u200d👧", "\u202e", "two words", strings.Repeat("long ", 50), "\u0301", strings.Repeat("line\n", 40)})
	choice := rapid.Custom(func(t *rapid.T) dialog.Choice {
		return dialog.Choice{Value: piece.Draw(t, "value"), Letter: piece.Draw(t, "letter"), Label: piece.Draw(t, "label"), Destructive: rapid.Bool().Draw(t, "destructive")}
	})
	rapid.Check(t, func(t *rapid.T) {
		var m dialog.Model
		c := dialog.Config{Plain: rapid.Bool().Draw(t, "plain")}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			m = c.Confirm(dialog.Confirm{Title: piece.Draw(t, "title"), Body: piece.Draw(t, "body"), Choices: rapid.SliceOfN(choice, 0, 5).Draw(t, "choices"), Default: piece.Draw(t, "default")})
		case 1:
			m = c.Prompt(dialog.Prompt{Title: piece.Draw(t, "title"), Body: piece.Draw(t, "body"), Value: piece.Draw(t, "value"), Secret: rapid.Bool().Draw(t, "secret")})
		case 2:
			m = c.Text(dialog.Text{Title: piece.Draw(t, "title"), Body: piece.Draw(t, "body"), Rows: []dialog.Row{{piece.Draw(t, "left"), piece.Draw(t, "right")}, {"a", "b"}}})
		}
		width, height := 80, 24
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			old, picture := m, m.View()
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				width, height = rapid.IntRange(-1, 1000).Draw(t, "width"), rapid.IntRange(-1, 30).Draw(t, "height")
				m = m.SetSize(width, height)
			case 1:
				m, _, _ = m.Update(tea.PasteMsg{Content: piece.Draw(t, "paste")})
			default:
				script := rapid.SampledFrom([]string{"a", "y", " ", "世", "<tab>", "<up>", "<down>", "<pgup>", "<pgdown>", "<home>", "<end>", "<left>", "<right>", "<backspace>", "<delete>", "<ctrl+w>", "<ctrl+u>", "<ctrl+k>", "<enter>"}).Draw(t, "key")
				m, _, _ = m.Update(storytest.Keys(script)[0])
			}
			check(t, m, width, height)
			if old.View() != picture {
				t.Fatalf("an earlier model has changed from %q to %q", picture, old.View())
			}
		}
	})
}

// TestASCII: a terminal that has nothing else gets no mark that it cannot show.
func TestASCII(t *testing.T) {
	c := dialog.Config{ASCII: true}
	ask := remove()
	ask.Body = strings.Repeat("line\n", 20)
	for _, m := range []dialog.Model{c.Confirm(ask), c.Text(help()), c.Prompt(dialog.Prompt{Value: "key", Secret: true})} {
		m, _, _ = m.SetSize(60, 6).Update(storytest.Keys("<down>")[0])
		if view := m.View(); strings.ContainsFunc(view, func(r rune) bool { return r > unicode.MaxASCII }) {
			t.Errorf("the view is\n%s", view)
		}
	}
}

// TestLongBody: what is too long to show is left out, and that is said.
func TestLongBody(t *testing.T) {
	m := dialog.Config{}.Text(dialog.Text{Body: strings.Repeat("a line of forty characters or nearly so\n", 10_000)})
	m, _, _ = m.Update(storytest.Keys("<end>")[0])
	if view := m.View(); !strings.Contains(view, "more bytes") {
		t.Errorf("the end does not say what is missing:\n%s", view)
	}
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{10, 5_000} {
		b.Run("lines="+strconv.Itoa(n), func(b *testing.B) {
			m := dialog.Config{}.Text(dialog.Text{Title: "Help", Body: strings.Repeat("a line of forty characters or nearly so\n", n)})
			both, i := storytest.Keys("<down><up>"), 0
			for b.Loop() {
				m, _, _ = m.Update(both[i%2])
				i++
				if m.View() == "" {
					b.Fatal("nothing is shown")
				}
			}
		})
	}
}
