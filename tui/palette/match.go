package palette

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/tui/text"
)

// entry is an item, cleaned and lowered once.
type entry struct {
	Item
	low       string // title, a space, detail
	marked    string // the same in the item's own letters
	titleEnds int
}

func prepare(items []Item) []entry {
	out := make([]entry, len(items))
	for i, it := range items {
		it.Title, it.Detail, it.Hint = text.Line(it.Title), text.Line(it.Detail), text.Line(it.Hint)
		e := entry{Item: it, marked: it.Title + " " + it.Detail, titleEnds: len(it.Title)}
		e.low = lower(e.marked)
		out[i] = e
	}
	return out
}

// lower is s in lower case, letter by letter at the same offsets: one whose lower case is longer or shorter stays.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, s)
}

// found is an item that fits the filter.
type found struct {
	item  *entry
	score int
	marks []span // in entry.marked, in order and apart
}

type span struct{ from, to int }

// narrow finds what fits the filter, the best first.
func (m Model) narrow() Model {
	words := strings.Fields(lower(m.filter))
	out := make([]found, 0, len(m.items))
	for i := range m.items {
		if f, ok := fit(&m.items[i], words); ok {
			out = append(out, f)
		}
	}
	if len(words) > 0 {
		slices.SortStableFunc(out, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	}
	m.found, m.at, m.top = out, 0, 0
	return m.scroll()
}

// fit says how well an item fits every word of the filter. One found by an
// external search stays, behind those that fit by themselves.
func fit(e *entry, words []string) (found, bool) {
	f := found{item: e}
	for _, w := range words {
		score, marks := match(e, w)
		if score == 0 {
			return found{item: e}, e.Snippet
		}
		f.score += score
		f.marks = merge(append(f.marks, marks...))
	}
	return f, true
}

// match finds a word in an item: whole at a word's beginning is best, then
// whole anywhere, then its letters one after another; in the title better
// than in the detail.
func match(e *entry, w string) (int, []span) {
	if at := index(e.low, w); at >= 0 {
		score := 1000
		if starts(e.low, at) {
			score += 500
		}
		if at < e.titleEnds {
			score += 300
		}
		if at == 0 {
			score += 200
		}
		return score - min(at, 100), []span{{at, at + len(w)}}
	}
	return scattered(e, w)
}

// index is where w stands in s, at a word's beginning if anywhere.
func index(s, w string) int {
	first := strings.Index(s, w)
	for at := first; at >= 0; {
		if starts(s, at) {
			return at
		}
		next := strings.Index(s[at+1:], w)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return first
}

// starts says whether a word begins at offset at.
func starts(s string, at int) bool {
	if at == 0 {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(s[:at])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// scattered finds w's letters in order within the title. Together and at words' beginnings they count more; far apart they do not count.
func scattered(e *entry, w string) (int, []span) {
	title, at, score := e.low[:e.titleEnds], 0, 100
	var marks []span
	for _, r := range w {
		i := strings.IndexRune(title[at:], r)
		if i < 0 {
			return 0, nil
		}
		switch {
		case i == 0:
			score += 10
		case starts(title, at+i):
			score += 5
		default:
			score -= min(i, 20)
		}
		marks = append(marks, span{at + i, at + i + utf8.RuneLen(r)})
		at += i + utf8.RuneLen(r)
	}
	if score < 60 {
		return 0, nil
	}
	return score, merge(marks)
}

// merge puts spans in order and joins those that touch.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}
