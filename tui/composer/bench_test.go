package composer_test

import (
	"fmt"
	"strings"
	"testing"

	"agentx/tui/composer"
	"agentx/tui/storytest"
	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

func prose(lines int) string {
	return strings.TrimSuffix(strings.Repeat("the quick brown fox jumps over the lazy dog, 世界\n", lines), "\n")
}

// BenchmarkKey is a key and the picture after it; beside it an editor that wraps the whole text anew.
func BenchmarkKey(b *testing.B) {
	for _, lines := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			m := composer.New(composer.Config{}).SetSize(80, 20).SetText(prose(lines))
			both, i := storytest.Keys("x<backspace>"), 0
			for b.Loop() {
				m, _, _ = m.Update(both[i%2])
				i++
				if m.View() == "" {
					b.Fatal("nothing is shown")
				}
			}
		})
	}
	for _, lines := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("naive/lines=%d", lines), func(b *testing.B) {
			s := prose(lines)
			i := 0
			for b.Loop() {
				if i%2 == 0 {
					s += "x"
				} else {
					s = s[:len(s)-1]
				}
				i++
				rows := text.Wrap(s, 77)
				if strings.Join(rows[max(0, len(rows)-10):], "\n  ") == "" {
					b.Fatal("nothing is shown")
				}
			}
		})
	}
}

// BenchmarkPaste is ten megabytes in one paste, folded, drawn and sent.
func BenchmarkPaste(b *testing.B) {
	s := strings.Repeat("0123456789 abcdefghijklmn öäü\r\n", 10<<20/34)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		m := composer.New(composer.Config{})
		m, _, _ = m.Update(tea.PasteMsg{Content: s})
		if m.View() == "" {
			b.Fatal("nothing is shown")
		}
		if _, out, _ := m.Update(storytest.Key("shift+enter")); out != nil {
			b.Fatal("sent")
		}
	}
}

// BenchmarkKeyBesidePaste is a key and the picture after it beside a paste of ten
// megabytes; beside it an editor that has the paste in its text.
func BenchmarkKeyBesidePaste(b *testing.B) {
	paste := strings.Repeat("0123456789 abcdefghijklmn öäü\n", 10<<20/33)
	b.Run("chip", func(b *testing.B) {
		m, _, _ := composer.New(composer.Config{}).Update(tea.PasteMsg{Content: paste})
		both, i := storytest.Keys("x<backspace>"), 0
		for b.Loop() {
			m, _, _ = m.Update(both[i%2])
			i++
			if !strings.Contains(m.View(), "pasted") {
				b.Fatal("the paste is not folded")
			}
		}
	})
	b.Run("naive", func(b *testing.B) {
		s := paste
		for b.Loop() {
			s += "x"
			rows := text.Wrap(s, 77)
			if strings.Join(rows[max(0, len(rows)-10):], "\n  ") == "" {
				b.Fatal("nothing is shown")
			}
			s = s[:len(s)-1]
		}
	})
}

// BenchmarkDraft reads the whole text, as saving a draft does.
func BenchmarkDraft(b *testing.B) {
	m := composer.New(composer.Config{}).SetText(prose(10_000))
	for b.Loop() {
		if m.Draft().Empty() {
			b.Fatal("no draft")
		}
	}
}

// BenchmarkUp walks up through ten thousand lines.
func BenchmarkUp(b *testing.B) {
	start := composer.New(composer.Config{}).SetSize(80, 20).SetText(prose(10_000))
	m := start
	for b.Loop() {
		m, _, _ = m.Update(storytest.Key("up"))
		if m.View() == "" {
			b.Fatal("nothing is shown")
		}
	}
}

// BenchmarkSearch is a letter of a search through ten thousand entries that finds only the oldest, and the picture after it.
func BenchmarkSearch(b *testing.B) {
	history := []string{"needle"}
	for i := range 10_000 {
		history = append(history, fmt.Sprintf("entry %d, which is about as long as what one asks", i))
	}
	m, _, _ := composer.New(composer.Config{}).SetHistory(history).Update(storytest.Key("ctrl+r"))
	m, _, _ = m.Update(storytest.Keys("n")[0])
	for b.Loop() {
		next := m
		for _, k := range storytest.Keys("eed") {
			next, _, _ = next.Update(k)
		}
		if !strings.Contains(next.View(), "needle") {
			b.Fatal("not found")
		}
	}
}
