package scroll

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A plain list lays out everything at once.
type plain [][]string

func (l plain) Len() int            { return len(l) }
func (l plain) Key(i int) int64     { return int64(i + 1) }
func (l plain) Index(k int64) int   { return min(max(int(k)-1, 0), len(l)-1) }
func (l plain) Rows(i int) []string { return l[i] }

func (l plain) all() []string { return slices.Concat(l...) }

func texts(rows []Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Text)
	}
	return out
}

func drawList(t *rapid.T) plain {
	var l plain
	for i, n := range rapid.SliceOfN(rapid.IntRange(0, 7), 1, 30).Draw(t, "rows") {
		var rows []string
		for y := range n {
			rows = append(rows, fmt.Sprint(i, ".", y))
		}
		l = append(l, rows)
	}
	return l
}

// A window that counts no rows moves as one on the whole would, and comes to rest
// at its ends.
func TestAsIfAllWereLaidOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t)
		all := l.all()
		height := rapid.IntRange(1, 12).Draw(t, "height")
		last := max(len(all)-height, 0)
		var v View
		at := last
		for range rapid.IntRange(1, 12).Draw(t, "moves") {
			switch by := rapid.IntRange(-20, 20).Draw(t, "by"); by {
			case -20:
				v, at = v.Top(l, height), 0
			case 20:
				v, at = View{}, last
			default:
				v, at = v.Scroll(l, height, by), min(max(at+by, 0), last)
			}
			want := all[at:min(at+height, len(all))]
			if got := texts(v.Rows(l, height)); !slices.Equal(got, want) {
				t.Fatalf("the window shows %q, want %q of %q", got, want, l)
			}
			if v.Following() != (at == last) {
				t.Fatalf("it follows: %v, at row %d of %d", v.Following(), at, last)
			}
		}
	})
}

// What comes behind a window that was scrolled up leaves it where it is; one at
// the end goes along.
func TestWhatComesBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t)
		height := rapid.IntRange(1, 12).Draw(t, "height")
		v := View{}.Scroll(l, height, -rapid.IntRange(0, 40).Draw(t, "up"))
		before := texts(v.Rows(l, height))
		more := append(slices.Clone(l), []string{"new", "newer"})
		got := texts(v.Rows(more, height))
		if v.Following() {
			all := more.all()
			before = all[max(len(all)-height, 0):]
		}
		if !slices.Equal(got, before) {
			t.Fatalf("the window shows %q, want %q", got, before)
		}
	})
}

// A row that is asked for is in the window.
func TestTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t)
		height := rapid.IntRange(1, 12).Draw(t, "height")
		i := rapid.IntRange(0, len(l)-1).Draw(t, "item")
		if len(l[i]) == 0 {
			return
		}
		y := rapid.IntRange(0, len(l[i])-1).Draw(t, "row")
		v := View{}.Scroll(l, height, -rapid.IntRange(0, 40).Draw(t, "up")).To(l, height, i, y)
		if !slices.ContainsFunc(v.Rows(l, height), func(r Row) bool { return r.Item == i && r.N == y }) {
			t.Fatalf("row %d of item %d is not in the window %v", y, i, v.Rows(l, height))
		}
	})
}

// Words are found over styles and the ends of lines, and drawn where they stand.
func TestFind(t *testing.T) {
	rows := []string{"", "› \x1b[1mHost\x1b[ma and", "  fern, 世界 hosta"}
	for words, want := range map[string]string{
		"hosta":        "1:2-7 2:13-18",
		"HOSTA  and":   "1:2-11",
		"and fern":     "1:8-11+2:2-6",
		"世界":           "2:8-12",
		"hosta nobody": "",
		" ":            "",
	} {
		var got []string
		for _, m := range Find(rows, words) {
			s := fmt.Sprintf("%d:%d-%d", m.Row, m.From, m.To)
			if !m.Begins {
				got[len(got)-1] += "+" + s
			} else {
				got = append(got, s)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Find(%q) = %q, want %q", words, strings.Join(got, " "), want)
		}
	}
	draw := func(s ...string) string { return "<" + s[0] + ">" }
	if got, want := Light("a \x1b[1mbold\x1b[m word", 4, 8, draw), "a \x1b[1mbo\x1b[m<ld w>\x1b[1m\x1b[mord"; got != want {
		t.Errorf("Light() = %q, want %q", got, want)
	}
}
