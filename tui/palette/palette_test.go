package palette_test

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"agentx/tui/palette"
	"agentx/tui/storytest"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the frames anew")

func models() []palette.Item {
	var out []palette.Item
	for _, s := range []string{"anthropic/claude-opus|200k|$15", "anthropic/claude-sonnet|200k|$3", "anthropic/claude-haiku|200k|$1", "openai/gpt|400k|$2",
		"openai/gpt-mini|400k|", "google/gemini-pro|1M|$2", "google/gemini-flash|1M|", "mistral/large|128k|$2", "deepseek/chat|64k|", "本地/模型|8k|free"} {
		f := strings.Split(s, "|")
		out = append(out, palette.Item{ID: f[0], Title: f[0], Detail: f[1], Hint: f[2], Preview: []string{"context " + f[1], "price " + f[2]}})
	}
	return out
}

func actions() []palette.Action {
	return []palette.Action{{Key: "ctrl+r", Help: "rename"}, {Key: "ctrl+x", Help: "delete"}, {Key: "space", Help: "preview", Preview: true}}
}

// TestStories shows a list of models, and what comes of the keys.
func TestStories(t *testing.T) { storytest.Test(t, *update, stage) }

func stage() storytest.Stage {
	m := palette.New(palette.Config{Title: "Models", Actions: actions(), Search: true, Empty: "No models. /keys sets a key."}, models())
	width, height := 40, 9
	m = m.SetSize(width, height)
	return func(verb, arg string) (string, error) {
		var outs []tea.Msg
		switch verb {
		case "size":
			if _, err := fmt.Sscan(arg, &width, &height); err != nil {
				return "", err
			}
			m = m.SetSize(width, height)
		case "keys":
			for _, k := range storytest.Keys(arg) {
				var out tea.Msg
				if m, out, _ = m.Update(k); out != nil {
					outs = append(outs, out)
				}
			}
		case "found": // by an external search
			items := models()
			items = append(items, palette.Item{ID: "s1", Title: "Trip to Rome", Snippet: true, Preview: []string{arg}})
			m = m.SetItems(items)
		case "none":
			m = m.SetItems(nil)
		default:
			return "", storytest.ErrUnknown
		}
		return picture(m, width, outs), nil
	}
}

// picture is the view, and what was said.
func picture(m palette.Model, width int, outs []tea.Msg) string {
	var b strings.Builder
	for l := range strings.SplitSeq(m.View(), "\n") {
		b.WriteString(storytest.Line(l, width, ""))
	}
	for _, out := range outs {
		fmt.Fprintf(&b, "  out %s%s\n", strings.TrimPrefix(fmt.Sprintf("%T", out), "palette."), strconv.Quote(fmt.Sprint(out)))
	}
	return b.String()
}

// TestBestFirst: which item a few letters choose.
func TestBestFirst(t *testing.T) {
	for filter, want := range map[string]string{
		"gpt":         "openai/gpt",
		"mini":        "openai/gpt-mini",
		"son":         "anthropic/claude-sonnet",
		"ANTH hai":    "anthropic/claude-haiku",
		"gflash":      "google/gemini-flash",
		"模型":          "本地/模型",
		"1m pro":      "google/gemini-pro",
		"claude opus": "anthropic/claude-opus",
	} {
		m := palette.New(palette.Config{}, models()).SetFilter(filter)
		if got, _ := m.Selected(); got != want {
			t.Errorf("%q chooses %q, want %q", filter, got, want)
		}
	}
}

// TestASCII: a terminal that has nothing else gets no mark that it cannot show.
func TestASCII(t *testing.T) {
	m := palette.New(palette.Config{Title: "Models", ASCII: true, Actions: actions()}, models()[:3]).SetSize(120, 10)
	if view := m.View(); strings.ContainsFunc(view, func(r rune) bool { return r > unicode.MaxASCII }) {
		t.Errorf("the view is\n%s", view)
	}
}

// TestSelectionStays: new items do not take the mark away from the one it is on.
func TestSelectionStays(t *testing.T) {
	m := palette.New(palette.Config{}, models())
	for _, k := range storytest.Keys("<down><down><down>") {
		m, _, _ = m.Update(k)
	}
	was, _ := m.Selected()
	m = m.SetItems(append([]palette.Item{{ID: "new", Title: "new"}}, models()...))
	if got, _ := m.Selected(); got != was {
		t.Errorf("the mark went from %q to %q", was, got)
	}
	m = m.SetItems(nil)
	if got, ok := m.Selected(); ok {
		t.Errorf("the mark is on %q of an empty list", got)
	}
}

func check(t *rapid.T, m palette.Model, width, height int) {
	t.Helper()
	if view := m.View(); strings.Count(view, "\n")+1 != m.Height() {
		t.Fatalf("Height() = %d of %q", m.Height(), view)
	}
	storytest.Fits(t, m.View(), m.Cursor(), max(width, 1), max(height, 1))
}

// TestAnyKeys: whatever is pressed at whatever size, it fits, and an item in sight carries the mark.
func TestAnyKeys(t *testing.T) {
	pieces := []string{"", "a", "gpt", "\x1b[2J", "世界", "é\n", "👩‍👧", "\u202e", "word word", strings.Repeat("long ", 50), "\u0301"}
	piece := rapid.SampledFrom(pieces)
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) palette.Item {
			return palette.Item{
				ID: piece.Draw(t, "id"), Title: piece.Draw(t, "title"), Detail: piece.Draw(t, "detail"), Hint: piece.Draw(t, "hint"),
				Preview: rapid.SliceOfN(piece, 0, 8).Draw(t, "preview"), Snippet: rapid.Bool().Draw(t, "snippet"),
			}
		}), 0, 30).Draw(t, "items")
		m := palette.New(palette.Config{Title: piece.Draw(t, "name"), Actions: actions(), Search: true, Empty: piece.Draw(t, "empty")}, items)
		width, height := 80, 12
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			old, picture := m, m.View()
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				width, height = rapid.IntRange(-1, 1000).Draw(t, "width"), rapid.IntRange(-1, 30).Draw(t, "height")
				m = m.SetSize(width, height)
			case 1:
				m, _, _ = m.Update(tea.PasteMsg{Content: piece.Draw(t, "paste")})
			case 2:
				m = m.SetItems(items[:rapid.IntRange(0, len(items)).Draw(t, "n")])
			default:
				script := rapid.SampledFrom([]string{"a", "g", " ", "世", "<up>", "<down>", "<pgup>", "<pgdown>", "<home>", "<end>", "<backspace>", "<ctrl+w>", "<ctrl+u>", "<enter>", "<ctrl+r>"}).Draw(t, "key")
				m, _, _ = m.Update(storytest.Keys(script)[0])
			}
			check(t, m, width, height)
			if old.View() != picture {
				t.Fatalf("an earlier model has changed from %q to %q", picture, old.View())
			}
			if _, ok := m.Selected(); ok && height > 3 && width > 4 && !strings.Contains(m.View(), "\n› ") {
				t.Fatalf("no mark in sight:\n%s", m.View())
			}
		}
	})
}

func BenchmarkKey(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		items := make([]palette.Item, n)
		for i := range items {
			items[i] = palette.Item{ID: strconv.Itoa(i), Title: fmt.Sprintf("Session %d about the weather in Rome", i), Detail: "yesterday", Hint: "12 kB"}
		}
		m := palette.New(palette.Config{Title: "Sessions"}, items)
		b.Run(fmt.Sprintf("filter/items=%d", n), func(b *testing.B) {
			both, i := storytest.Keys("r<backspace>"), 0
			for b.Loop() {
				m, _, _ = m.Update(both[i%2])
				i++
				if m.View() == "" {
					b.Fatal("nothing is shown")
				}
			}
		})
		b.Run(fmt.Sprintf("down/items=%d", n), func(b *testing.B) {
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
