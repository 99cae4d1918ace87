package composer

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"
)

// TestViAnyKeys presses the keys of vi in any order: the caret stands between
// two cells, in normal mode on one, a model that was left behind stays as it
// was, and undoing everything leads back to where it began.
func TestViAnyKeys(t *testing.T) {
	letters := strings.Split("hjklwWbBeE0^$gGfFtT;,dcyDCYxXsSrpPuJ~iIaAoO123/ .é世界👩-.%{}()\"[]<>bvVvVU", "")
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(0, 0)
		const begin = "one, two  three\n\n\tvier 世界 e\u0301 👩‍👩‍👧\nlast"
		m := New(Config{Now: func() time.Time { return now }}).SetSize(rapid.IntRange(1, 30).Draw(t, "width"), 9).SetVi(true)
		m = m.SetDraft(Draft{Text: begin, Chips: []Chip{{At: 5, Len: 3, Label: "[two]"}}})
		m.undo, m.redo = nil, nil
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			old, text := m, m.Text()
			k := tea.KeyPressMsg{Code: tea.KeyEsc}
			switch n := rapid.IntRange(0, 20).Draw(t, "kind"); {
			case n < 4:
			case n == 4:
				k = tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl}
			default:
				s := rapid.SampledFrom(letters).Draw(t, "letter")
				k = tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
			}
			now = now.Add(50 * time.Millisecond)
			m, _, _ = m.Update(k)
			if m.search.on {
				m = m.accept()
			}
			b := m.buf
			if b.at < 0 || b.at > len(b.line) || snap(b.line, b.at) != b.at {
				t.Fatalf("the caret is at %d in %q", b.at, b.line)
			}
			if m.vi.normal && b.at == len(b.line) && b.line != "" {
				t.Fatalf("in normal mode the caret stands behind %q", b.line)
			}
			if old.Text() != text {
				t.Fatal("an earlier model has changed")
			}
			if lines := strings.Split(m.View(), "\n"); len(lines) != m.Height() {
				t.Fatalf("Height() = %d, the view has %d lines", m.Height(), len(lines))
			}
		}
		for m.redo != nil { // what was undone on the way
			m = m.goForth()
		}
		final := m.Text()
		for m.undo != nil {
			m = m.goBack()
		}
		if got := m.Text(); got != begin {
			t.Fatalf("undone to %q, want %q", got, begin)
		}
		for m.redo != nil {
			m = m.goForth()
		}
		if got := m.Text(); got != final {
			t.Fatalf("redone to %q, want %q", got, final)
		}
	})
}

// TestViAgain: what a full stop does is what its command would have done there, and
// one step back undoes it.
func TestViAgain(t *testing.T) {
	commands := []string{
		"x", "3x", "dw", "2dw", "d2w", "dd", "D", "cwin\x1b", "c2eX Y\x1b", "ccline\x1b", "iab\x1b", "2iab\x1b", "3Aé\x1b", "oup\x1b", "2Odown\x1b",
		"rz", "2r-", "~", "J", "p", "P", "dfe", "dte", "diw", "daw", "ci\"q\x1b", "di(", "da(", "dip", "dap", "cib(x)\x1b", "Sa\bnew\x1b", "d%", "d}", "d2j",
	}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(0, 0)
		press := func(m Model, keys string) Model {
			for _, r := range keys {
				k := tea.KeyPressMsg{Code: r, Text: string(r)}
				switch r {
				case '\x1b':
					k = tea.KeyPressMsg{Code: tea.KeyEsc}
				case '\b':
					k = tea.KeyPressMsg{Code: tea.KeyBackspace}
				}
				now = now.Add(50 * time.Millisecond)
				m, _, _ = m.Update(k)
			}
			return m
		}
		m := New(Config{Now: func() time.Time { return now }}).SetSize(60, 20).SetVi(true)
		m = m.SetText("one (two) \"three\" end e\n\n\tf(a, (b), e) 世界\nlast e line\n\n{ more }\ne\n\nend")
		m = press(m, "\x1bggyw")
		command := rapid.SampledFrom(commands).Draw(t, "command")
		m = press(m, rapid.SampledFrom([]string{"", "w", "jj", "3w", "G", "$"}).Draw(t, "first to")+command)
		m = press(m, rapid.StringMatching("[jkwbhl0$]{0,4}").Draw(t, "then to"))
		byHand, again := press(m, command), press(m, ".")
		did := func(m Model) bool {
			letters := m.vi.done.letters
			return letters != nil && strings.HasPrefix(strings.Map(notDigit, command), strings.Join(letters, ""))
		}
		switch {
		case !did(m):
			return // there was nothing that it could do, and its letters meant something else
		case !did(byHand):
			byHand = m // nor is there here
		}
		if byHand.Text() != again.Text() || byHand.buf.at != again.buf.at {
			t.Fatalf("%q makes %q at %d, done again %q at %d", command, byHand.Text(), byHand.buf.at, again.Text(), again.buf.at)
		}
		if back := press(again, "u"); again.Text() != m.Text() && back.Text() != m.Text() {
			t.Fatalf("%q done again and undone is %q, want %q", command, back.Text(), m.Text())
		}
	})
}

func notDigit(r rune) rune {
	if '0' <= r && r <= '9' {
		return -1
	}
	return r
}

// TestViWordsAreNaive holds w, b and e against the same words found by looking
// at a string of letters from its beginning.
func TestViWordsAreNaive(t *testing.T) {
	sort := func(r byte) int {
		switch {
		case r == ' ' || r == '\n':
			return 0
		case r >= 'a' && r <= 'z' || r == '_':
			return 1
		}
		return 2
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-c_ .,]{0,20}(\n[a-c ,]{1,9})?`).Draw(t, "text")
		var begins, ends []int
		for i := range len(s) {
			if c := sort(s[i]); c != 0 {
				if i == 0 || sort(s[i-1]) != c {
					begins = append(begins, i)
				}
				if i+1 == len(s) || sort(s[i+1]) != c {
					ends = append(ends, i)
				}
			}
		}
		at := rapid.IntRange(0, len(s)).Draw(t, "at")
		b := buffer{}.insert(s, true).top()
		for range at {
			b = b.right()
		}
		place := func(b buffer) int { return b.above.size() + b.at }
		after := func(all []int) (int, bool) {
			for _, i := range all {
				if i > at {
					return i, true
				}
			}
			return 0, false
		}
		blank := strings.Contains(s, "\n\n") || strings.HasPrefix(s, "\n")
		if want, ok := after(begins); ok && !blank && place(nextWord(b)) != want {
			t.Fatalf("w in %q goes from %d to %d, want %d", s, at, place(nextWord(b)), want)
		}
		if want, ok := after(ends); ok && !blank && place(wordEnd(b)) != want {
			t.Fatalf("e in %q goes from %d to %d, want %d", s, at, place(wordEnd(b)), want)
		}
		want, ok := 0, false
		for _, i := range begins {
			if i < at {
				want, ok = i, true
			}
		}
		if ok && !blank && place(lastWord(b)) != want {
			t.Fatalf("b in %q goes from %d to %d, want %d", s, at, place(lastWord(b)), want)
		}
	})
}

// TestDraftsComeBack: a draft with chips is the same when it is put in, taken
// out, queued behind another and put in again, whatever its chips claim.
func TestDraftsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Draft{Text: rapid.StringMatching(`[a-z \n@"世👩]{0,40}`).Draw(t, "text")}
		at := 0
		for range rapid.IntRange(0, 4).Draw(t, "chips") {
			c := Chip{At: at + rapid.IntRange(-1, 9).Draw(t, "from"), Len: rapid.IntRange(-2, 9).Draw(t, "len"), Label: "[x\x1b\n]", Path: "p", Kind: Attached}
			d.Chips, at = append(d.Chips, c), c.At+c.Len
		}
		m := New(Config{}).SetDraft(d)
		if got := m.Text(); !strings.Contains(d.Text, "�") && got != strings.ToValidUTF8(d.Text, "�") && len(d.Chips) == 0 {
			t.Fatalf("the text came back as %q, want %q", got, d.Text)
		}
		first := m.Draft()
		again := New(Config{}).SetDraft(first).Draft()
		if first.Text != again.Text || len(first.Chips) != len(again.Chips) {
			t.Fatalf("%+v came back as %+v", first, again)
		}
		for i, c := range first.Chips {
			if c != again.Chips[i] {
				t.Fatalf("chip %+v came back as %+v", c, again.Chips[i])
			}
			if strings.ContainsAny(c.Label, "\x1b\n\x0e\x0f\x1f") {
				t.Fatalf("the label %q is no label", c.Label)
			}
		}
		both := first.Then(Draft{Text: "more"})
		if rest, gone := both.Without(Attached); len(gone) != len(first.Chips) || len(rest)+len(strings.Join(gone, "")) != len(both.Text) {
			t.Fatalf("without its chips %+v is %q and %q", both, rest, gone)
		}
		if trimmed := first.Trim(); trimmed.Text != strings.TrimSpace(first.Text) {
			t.Fatalf("trimmed to %q", trimmed.Text)
		}
	})
}
