package composer_test

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"agentx/tui/composer"
	"agentx/tui/storytest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// naive is an editor as one would explain it: a string, a place in it, and everything found anew by walking from the start.
type naive struct {
	s  string
	at int
}

// borders are the offsets between clusters; lines are segmented each by itself.
func (n naive) borders() []int {
	out, at := []int{0}, 0
	for i, line := range strings.Split(n.s, "\n") {
		if i > 0 {
			at++
			out = append(out, at)
		}
		for line != "" {
			c, _ := ansi.FirstGraphemeCluster(line, ansi.GraphemeWidth)
			at, line = at+len(c), line[len(c):]
			out = append(out, at)
		}
	}
	return out
}

func (n naive) snap() naive {
	for _, b := range n.borders() {
		if b >= n.at {
			n.at = b
			break
		}
	}
	return n
}

func (n naive) left() int {
	prev := 0
	for _, b := range n.borders() {
		if b >= n.at {
			break
		}
		prev = b
	}
	return prev
}

func (n naive) right() int {
	for _, b := range n.borders() {
		if b > n.at {
			return b
		}
	}
	return len(n.s)
}

func (n naive) home() int { return strings.LastIndexByte(n.s[:n.at], '\n') + 1 }

func (n naive) end() int {
	if i := strings.IndexByte(n.s[n.at:], '\n'); i >= 0 {
		return n.at + i
	}
	return len(n.s)
}

var (
	wordBack  = regexp.MustCompile(`[0-9A-Za-z_]*[^0-9A-Za-z_]*$`)
	wordAhead = regexp.MustCompile(`^[^0-9A-Za-z_]*[0-9A-Za-z_]*`)
	fieldBack = regexp.MustCompile(`\S*\s*$`)
)

func (n naive) wordLeft() int  { return wordBack.FindStringIndex(n.s[:n.at])[0] }
func (n naive) wordRight() int { return n.at + wordAhead.FindStringIndex(n.s[n.at:])[1] }
func (n naive) fieldLeft() int { return fieldBack.FindStringIndex(n.s[:n.at])[0] }

func (n naive) cut(to int) naive {
	from := min(n.at, to)
	to = max(n.at, to)
	return naive{n.s[:from] + n.s[to:], from}.snap()
}

// orElse is a unless a key at a line's edge takes the newline.
func (n naive) orElse(to, other int) int {
	if to == n.at {
		return other
	}
	return to
}

func (n naive) press(key string) naive {
	switch key {
	case "left", "ctrl+b":
		n.at = n.left()
	case "right", "ctrl+f":
		n.at = n.right()
	case "home", "ctrl+a":
		n.at = n.home()
	case "end", "ctrl+e":
		n.at = n.end()
	case "ctrl+home":
		n.at = 0
	case "ctrl+end":
		n.at = len(n.s)
	case "alt+b":
		n.at = n.wordLeft()
	case "alt+f":
		n.at = n.wordRight()
	case "backspace":
		return n.cut(n.left())
	case "delete", "ctrl+d":
		return n.cut(n.right())
	case "ctrl+w":
		return n.cut(n.fieldLeft())
	case "alt+backspace":
		return n.cut(n.wordLeft())
	case "alt+d":
		return n.cut(n.wordRight())
	case "ctrl+u":
		return n.cut(n.orElse(n.home(), n.left()))
	case "ctrl+k":
		return n.cut(n.orElse(n.end(), n.right()))
	}
	return n
}

func (n naive) insert(s string) naive {
	return naive{n.s[:n.at] + s + n.s[n.at:], n.at + len(s)}.snap()
}

var (
	byCluster = []string{"left", "right", "home", "end", "ctrl+home", "ctrl+end", "backspace", "delete", "ctrl+u", "ctrl+k"}
	byWord    = []string{"alt+b", "alt+f", "ctrl+w", "alt+backspace", "alt+d"}
	pieces    = []string{"a", "word", " ", "  ", "_", "-", "7", "\n", "\t", "x\ny", "e", "\u0301", "世界", "。", "한", "👩", "\u200d", "🏽", "🇩", "🇪", "❤", "\ufe0f", "\u202e", "\u200b", "क", "्", "ष", "ا", "؀"}
	ascii     = []string{"a", "word", " ", "  ", "_", "-", "7", "\n", "x\ny", "foo_bar, baz"}
)

// TestAgainstNaive writes at random into the composer and into the naive editor.
func TestAgainstNaive(t *testing.T) {
	for _, c := range []struct {
		name         string
		pieces, keys []string
	}{{"clusters", pieces, byCluster}, {"words", ascii, append(byCluster, byWord...)}} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s, n := newScreen(composer.Config{}), naive{}
				s.model = s.model.SetSize(rapid.IntRange(1, 30).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height"))
				for range rapid.IntRange(1, 40).Draw(t, "steps") {
					if rapid.Bool().Draw(t, "write") {
						piece := rapid.SampledFrom(c.pieces).Draw(t, "piece")
						s.now = s.now.Add(time.Second)
						s.paste(piece)
						n = n.insert(piece)
					} else {
						k := rapid.SampledFrom(c.keys).Draw(t, "key")
						s.press("<" + k + ">")
						n = n.press(k)
					}
					if got := s.model.Text(); got != n.s {
						t.Fatalf("text %q, want %q", got, n.s)
					}
					if got := before(s.model); got != n.s[:n.at] {
						t.Fatalf("the caret stands behind %q, want %q", got, n.s[:n.at])
					}
					check(t, s.model)
				}
			})
		})
	}
}

// before is the text before the caret, found by writing a mark there.
func before(m composer.Model) string {
	head, _, _ := strings.Cut(m.Insert("☃").Text(), "☃")
	return head
}

// check holds for every picture: it fits, it hides nothing and the caret is in it.
func check(t interface {
	Fatalf(string, ...any)
	Helper()
}, m composer.Model) {
	t.Helper()
	view := m.View()
	if rows := strings.Count(view, "\n") + 1; rows != m.Height() {
		t.Fatalf("Height() = %d, the view has %d lines", m.Height(), rows)
	}
	width, height := m.Size()
	storytest.Fits(t, view, m.Cursor(), width, height)
}

// everything is each key that the composer knows.
var everything = strings.Fields(`a / @ \ x <space> <enter> <shift+enter> <tab> <esc> <up> <down> <left> <right> <home> <end> <ctrl+home> <ctrl+end>
	<ctrl+p> <ctrl+n> <alt+b> <alt+f> <ctrl+w> <alt+backspace> <alt+d> <ctrl+u> <ctrl+k> <ctrl+y> <alt+y> <ctrl+t> <ctrl+_> <alt+_>
	<delete> <backspace> <ctrl+r> <ctrl+s> <ctrl+g> 世 👩 é`)

// TestAnyKeys presses everything in any order: no panic, no picture that does
// not fit, and a model that was left behind stays as it was.
func TestAnyKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScreen(composer.Config{Placeholder: "Ask anything\x1b[2J", MaxRows: rapid.IntRange(0, 5).Draw(t, "rows")})
		s.model = s.model.SetCommands(commands()).SetHistory([]string{"one", "", "two\nlines", "two\nlines", "/quit", strings.Repeat("long ", 5000)})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			old, picture, all := s.model, s.model.View(), s.model.Text()
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				s.model = s.model.SetSize(rapid.IntRange(-1, 1000).Draw(t, "width"), rapid.IntRange(-1, 20).Draw(t, "height"))
			case 1:
				s.paste(rapid.SampledFrom(append(pieces, strings.Repeat("paste\n", 20), "\x1b[201~\r\n\x9b2J\xff")).Draw(t, "paste"))
			case 2:
				s.model = s.model.SetMentions(rapid.SampledFrom([]string{"", "a", "x"}).Draw(t, "part"), []composer.Command{{Name: "a file\n\x1b[2J", Help: "\u202e"}, {Name: "ax"}})
			default:
				s.press(rapid.SampledFrom(everything).Draw(t, "key"))
			}
			check(t, s.model)
			if old.View() != picture || old.Text() != all {
				t.Fatalf("an earlier model has changed from %q to %q", picture, old.View())
			}
		}
	})
}

// TestUndoAll goes back to the empty text and forth to the last, whatever was done.
func TestUndoAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScreen(composer.Config{})
		edits := []string{"a", "b", "<space>", "<left>", "<backspace>", "<ctrl+w>", "<ctrl+u>", "<ctrl+k>", "<ctrl+y>", "<alt+y>", "<ctrl+t>", "<shift+enter>", "<up>"}
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			s.press(rapid.SampledFrom(edits).Draw(t, "key"))
		}
		final := s.model.Text()
		s.press(strings.Repeat("<ctrl+_>", 60))
		if got := s.model.Text(); got != "" {
			t.Fatalf("undone to %q, want nothing", got)
		}
		s.press(strings.Repeat("<alt+_>", 60))
		if got := s.model.Text(); got != final {
			t.Fatalf("redone to %q, want %q", got, final)
		}
	})
}

// TestDraftComesBack: what SetText is given is what would be sent, folded or not.
func TestDraftComesBack(t *testing.T) {
	for name, s := range map[string]string{
		"short":        "a\nb",
		"long line":    "head\n" + strings.Repeat("x", 100_000) + "\ntail",
		"ten thousand": strings.Repeat("a line\n", 10_000),
		"huge":         strings.Repeat("0123456789\n", 300_000),
	} {
		t.Run(name, func(t *testing.T) {
			m := composer.New(composer.Config{}).SetText(s)
			if got := m.Draft().Text; got != s {
				t.Errorf("the draft of %d bytes came back as %d", len(s), len(got))
			}
			check(t, m)
		})
	}
}

// TestPasteIsSentWhole: what goes out is what came in, to the byte.
func TestPasteIsSentWhole(t *testing.T) {
	s := newScreen(composer.Config{})
	big := strings.Repeat("0123456789abcde\n", 10<<20/16)
	s.paste(big)
	s.press("<enter>")
	if out, ok := s.outs[0].(composer.Submit); !ok || out.Text != big {
		t.Fatalf("the paste was not sent as it was")
	}
	if view := s.model.View(); strings.Contains(view, "pasted") {
		t.Errorf("the chip is still there: %q", view)
	}
	s.outs = nil
	s.paste(big + "x")
	if _, ok := s.outs[0].(composer.Notice); !ok || s.model.Text() != "" {
		t.Errorf("a paste above the limit: out %T, %d bytes of text", s.outs[0], len(s.model.Text()))
	}
	s.outs = nil
	s.paste(big[:9<<20])
	s.paste(big[:2<<20])
	if len(s.outs) != 1 || len(s.model.Text()) != 9<<20 {
		t.Errorf("two pastes that are too much together: %d notices, %d bytes", len(s.outs), len(s.model.Text()))
	}
}

// TestBurst is a paste in a terminal that does not mark it: no line end sends, no slash commands.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := composer.New(composer.Config{})
		var outs []tea.Msg
		send := func(msgs ...tea.Msg) {
			for _, msg := range msgs {
				var out tea.Msg
				if m, out, _ = m.Update(msg); out != nil {
					outs = append(outs, out)
				}
			}
		}
		send(msgs("make it so, please<enter>and then<tab>that<enter>")...)
		if want := "make it so, please\nand then\tthat\n"; m.Text() != want || len(outs) != 0 {
			t.Fatalf("text %q and %d outs, want %q and none", m.Text(), len(outs), want)
		}
		time.Sleep(200 * time.Millisecond)
		send(msgs("<enter>")...)
		if len(outs) != 1 {
			t.Fatalf("Enter by hand says %d things, want 1", len(outs))
		}
		outs = nil

		send(tea.PasteMsg{Content: "rest: "})
		time.Sleep(20 * time.Millisecond)
		if !m.Open() {
			t.Fatal("what follows a paste is not the composer's alone")
		}
		send(msgs("rm -rf /<enter><ctrl+g><ctrl+u>")...)
		if want := "rest: rm -rf /\n"; m.Text() != want || len(outs) != 0 {
			t.Fatalf("what follows a paste at once: text %q and %d outs, want %q and none", m.Text(), len(outs), want)
		}
		time.Sleep(200 * time.Millisecond)
		if m.Open() {
			t.Fatal("a paste never ends")
		}
		send(msgs("<ctrl+u><ctrl+u><ctrl+u>/quit")...)
		time.Sleep(200 * time.Millisecond)
		send(msgs("<enter>")...)
		if len(outs) != 1 || !outs[0].(composer.Submit).Slash {
			t.Fatalf("a slash word by hand says %v", outs)
		}
	})
}

// TestLineAtOnce is a program that types a line and Enter in one go: it is sent
// as soon as nothing comes behind it.
func TestLineAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := composer.New(composer.Config{})
		var out tea.Msg
		var last tea.Cmd
		for _, msg := range msgs("make it so, please<enter>") {
			if m, out, last = m.Update(msg); out != nil {
				t.Fatalf("before the pause it says %v", out)
			}
		}
		if last == nil {
			t.Fatal("nobody waits for the end of the line")
		}
		m, out, _ = m.Update(last())
		if s, ok := out.(composer.Submit); !ok || s.Text != "make it so, please" {
			t.Fatalf("after the pause it says %v, want the line", out)
		}
		if !m.Empty() {
			t.Errorf("the composer still has %q", m.Text())
		}
	})
}

func msgs(script string) []tea.Msg {
	var out []tea.Msg
	for _, k := range storytest.Keys(script) {
		out = append(out, k)
	}
	return out
}

func FuzzUpdate(f *testing.F) {
	f.Add("hello <ctrl+w>", "paste\r\n", 20, 5)
	f.Add("see @ma<tab><esc>bdw2ifoo<esc>ccx<esc>uPJ", "@\"a", 31, 4)
	f.Add("/mo<tab><up><ctrl+r>x<enter>", "\x1b[201~\u202e\xff", 1, 1)
	f.Fuzz(func(t *testing.T, script, paste string, width, height int) {
		if len(script) > 500 {
			return
		}
		s := newScreen(composer.Config{})
		s.model = s.model.SetCommands(commands()).SetHistory([]string{paste, script}).SetSize(width%1000, height%50).SetVi(width%2 == 1)
		s.press(script)
		check(t, s.model)
		s.paste(paste)
		check(t, s.model)
		s.press("<up><ctrl+left><ctrl+k><ctrl+y><ctrl+_>" + script)
		check(t, s.model)
	})
}

// TestPastesAreLetGo: pastes that only undo and kills still hold do not fill the memory.
func TestPastesAreLetGo(t *testing.T) {
	s := newScreen(composer.Config{})
	var last string
	for i := range 12 {
		last = strings.Repeat(string(rune('a'+i))+"23456789\n", 900_000)
		s.press("<ctrl+u>")
		s.paste(last)
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mb := mem.HeapAlloc >> 20; mb > 70 {
		t.Errorf("after twelve pastes of 9 MB, of which one is left, the heap holds %d MB", mb)
	}
	s.press("<enter>")
	if got := s.outs[len(s.outs)-1].(composer.Submit).Text; got != last {
		t.Errorf("the last paste went out as %d bytes, want %d", len(got), len(last))
	}
}

// TestYankAfterSubmit: what was cut out, a folded paste too, survives the message that is sent in between.
func TestYankAfterSubmit(t *testing.T) {
	s := newScreen(composer.Config{})
	s.press("see ")
	s.paste(strings.Repeat("line\n", 20))
	s.press("<ctrl+u>other<enter><ctrl+y>")
	if want := "see " + strings.Repeat("line\n", 20); s.model.Text() != want {
		t.Errorf("Text() = %q, want %q", s.model.Text(), want)
	}
}

// TestUndoEnds: undo goes back a thousand steps at least, and its memory has an end.
func TestUndoEnds(t *testing.T) {
	s := newScreen(composer.Config{})
	s.press(strings.Repeat("a<shift+enter>", 3000))
	steps := 0
	for was := s.model.Changed(); ; steps++ {
		s.press("<ctrl+_>")
		if s.model.Changed() == was {
			break
		}
		was = s.model.Changed()
	}
	if steps < 1000 || steps > 2001 {
		t.Errorf("undo went back %d steps, want 1000 to 2001", steps)
	}
}

// TestBlur: without the focus no key is taken and no caret shown.
func TestBlur(t *testing.T) {
	s := newScreen(composer.Config{})
	s.model = s.model.Blur()
	before := s.model.Changed()
	s.press("x")
	if s.model.Focused() || s.model.Text() != "" || s.model.Cursor() != nil || s.model.Changed() != before {
		t.Errorf("a blurred composer took a key: %q", s.model.Text())
	}
	s.model = s.model.Focus()
	if s.press("x"); s.model.Text() != "x" || s.model.Cursor() == nil || s.model.Changed() == before {
		t.Errorf("a focused composer took no key")
	}
}

// TestPastedSlashStaysText: kept in the history and recalled, it is still no command.
func TestPastedSlashStaysText(t *testing.T) {
	s := newScreen(composer.Config{})
	s.paste("/quit")
	s.press("<enter>")
	s.model = s.model.SetHistory([]string{s.outs[0].(composer.Submit).Entry()})
	if s.press("<up><enter>"); s.outs[1].(composer.Submit).Slash {
		t.Error("a pasted slash word has become a command by way of the history")
	}
	s.press("/quit<enter>")
	s.model = s.model.SetHistory([]string{s.outs[2].(composer.Submit).Entry()})
	if s.press("<up><enter>"); !s.outs[3].(composer.Submit).Slash {
		t.Error("a typed slash word is no command when it is recalled")
	}
}

// TestASCII: a terminal that has nothing else gets no mark that it cannot show.
func TestASCII(t *testing.T) {
	s := newScreen(composer.Config{ASCII: true})
	s.model = s.model.SetCommands(commands()).SetSize(40, 6)
	for _, script := range []string{"", "/s<down>", "<ctrl+u>1<ctrl+j>2<ctrl+j>3<ctrl+j>4<ctrl+j>5<ctrl+j>6<ctrl+j>7", "<up><up><up><up>", "<ctrl+r>"} {
		s.press(script)
		s.paste(strings.Repeat("line\n", 12))
		if view := s.model.View(); strings.ContainsFunc(view, func(r rune) bool { return r > unicode.MaxASCII }) {
			t.Errorf("after %q the view is\n%s", script, view)
		}
	}
}
