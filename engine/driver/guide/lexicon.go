package guide

import (
	"slices"
	"strings"
)

// A lexicon knows which words mean the same, and which mean nothing.
type lexicon struct {
	empty map[string]bool   // stop words
	pairs map[string]string // two words to one
	kin   map[string]string // a stem to the one that stands for its kin

	known []string // every stem that means something, sorted
}

func newLexicon() lexicon {
	l := lexicon{empty: map[string]bool{}, pairs: map[string]string{}, kin: map[string]string{}}
	for _, w := range strings.Fields(stopWords) {
		l.empty[w] = true
	}
	for pair := range strings.SplitSeq(pairs, ",") {
		two, one, _ := strings.Cut(strings.TrimSpace(pair), "=")
		l.pairs[two] = one
	}
	for line := range strings.Lines(kin) {
		family := strings.Fields(line)
		for _, w := range family {
			l.kin[w] = family[0]
			if root := stem(w); len(root) > 3 {
				l.kin[root] = family[0]
			}
		}
	}
	return l
}

// learn takes in the terms of the manual.
func (l *lexicon) learn(rarity map[string]float64) {
	for t := range rarity {
		l.known = append(l.known, t)
	}
	for t := range l.kin {
		l.known = append(l.known, t)
	}
	slices.Sort(l.known)
	l.known = slices.Compact(l.known)
}

// read makes terms of a text: stop words stay, two words that mean one become
// it, and every word its stem's head of kin.
func (l lexicon) read(text string) []string {
	all := words(text)
	var terms []string
	for i := 0; i < len(all); i++ {
		w := all[i]
		if i+1 < len(all) {
			if one, ok := l.pair(w, all[i+1]); ok {
				w = one
				i++
			}
		}
		terms = append(terms, l.head(w))
	}
	return terms
}

// pair is the one word that two mean: "exit code", "ctrl c".
func (l lexicon) pair(a, b string) (string, bool) {
	if (a == "ctrl" || a == "control" || a == "alt") && len(b) == 1 {
		return strings.Replace(a, "control", "ctrl", 1) + "+" + b, true
	}
	one, ok := l.pairs[a+" "+b]
	return one, ok
}

func (l lexicon) head(w string) string {
	if l.empty[w] {
		return w
	}
	if head, ok := l.kin[w]; ok {
		return head
	}
	root := stem(w)
	if head, ok := l.kin[root]; ok {
		return head
	}
	if l.empty[root] {
		return w
	}
	return root
}

// content is the terms that say something.
func (l lexicon) content(terms []string) []string {
	var all []string
	for _, t := range terms {
		if !l.empty[t] {
			all = append(all, t)
		}
	}
	return all
}

// correct returns the term that w was probably meant to be: itself where it is
// known, else one that is a slip away, or two in a long word.
func (l lexicon) correct(w string) string {
	if small, ok := l.swapped(w); ok {
		return small
	}
	if _, ok := slices.BinarySearch(l.known, w); ok || l.empty[w] || len(w) < 5 || !isASCII(w) || w[0] == '-' || w[0] == '/' {
		return w
	}
	slips := 1
	if len(w) >= 8 {
		slips = 2
	}
	best, fewest := w, slips+1
	for _, k := range l.known {
		if len(k) < 3 || k[0] == '-' || k[0] == '/' || len(k)-len(w) > slips || len(w)-len(k) > slips {
			continue
		}
		if d := distance(w, k); d < fewest {
			best, fewest = k, d
		}
	}
	if head, ok := l.kin[best]; ok {
		return head
	}
	return best
}

// swapped returns the stop word that w is with two neighbours in each other's
// place: "hwo", "teh".
func (l lexicon) swapped(w string) (string, bool) {
	if _, known := slices.BinarySearch(l.known, w); known || l.empty[w] || len(w) < 3 || len(w) > 4 {
		return "", false
	}
	for i := range len(w) - 1 {
		if s := w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]; l.empty[s] {
			return s, true
		}
	}
	return "", false
}

// distance counts the letters to change, add, drop or swap with their neighbour
// to make b of a.
func distance(a, b string) int {
	var older, old []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
