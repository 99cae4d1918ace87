package guide

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A query is what to look for.
type query struct {
	Query   string   `json:"query"`
	Context string   `json:"context,omitempty"` // what was asked before
	Skip    []string `json:"skip,omitempty"`    // sections that have been shown
}

// A finding is what the search found, best first. Nothing where nothing fits.
type finding struct {
	Sections []hit `json:"sections"`
}

// A hit is a section that fits. The text stands only with the best.
type hit struct {
	Section string `json:"section"`
	Text    string `json:"text,omitempty"`
}

const (
	longest  = 2_000 // bytes of a query that are read
	manyEach = 48    // words of a query that are looked at

	related = 3    // sections in a finding
	near    = 0.45 // of the best score, for a section to be related
	covered = 0.5  // of what a question is about, for an answer to be one
	quoted  = 0.4  // the same, where the question has a known one in it word by word
	exact   = 10   // what it adds that a question is, to the word, a known one
	alone   = 0.5  // the weight of a question by itself, beside that of it with what was asked before
)

// search ranks the sections by how well they fit the words of the query, in the
// manner of BM25: rare words count more, and a word in a title or in a question
// that people ask counts more than one in the text.
func (m *manual) search(q query) finding {
	asked, lead := m.index.terms(clip(q.Query)), m.index.terms(clip(q.Context))
	var ranked []ranking
	for i, s := range m.sections {
		score := m.index.score(i, asked)
		if len(lead.terms) > 0 {
			score = alone*score + m.index.score(i, m.index.join(asked, lead))
		}
		if score > 0 && m.index.fits(i, asked, lead) && !slices.Contains(q.Skip, s.name()) {
			ranked = append(ranked, ranking{i, score})
		}
	}
	if len(ranked) == 0 && q.Context != "" && len(q.Skip) > 0 {
		q.Skip = nil // better the same again than nothing
		return m.search(q)
	}
	slices.SortStableFunc(ranked, func(a, b ranking) int { return cmp.Compare(b.score, a.score) })
	found := finding{Sections: []hit{}}
	for n, r := range ranked {
		if n == related || r.score < near*ranked[0].score {
			break
		}
		h := hit{Section: m.sections[r.section].name()}
		if n == 0 {
			h.Text = m.sections[r.section].Body
		}
		found.Sections = append(found.Sections, h)
	}
	return found
}

type ranking struct {
	section int
	score   float64
}

func clip(s string) string {
	if len(s) > longest {
		s = s[:longest]
	}
	return strings.ToValidUTF8(s, " ")
}

// index knows how often each term stands in each section.
type index struct {
	lexicon  lexicon
	postings []map[string]float64 // weighted count of each term, by section
	phrases  [][]phrase           // how people ask for a section
	rarity   map[string]float64   // of a term among the sections
	stranger float64              // rarity of a term that no section has
}

// A phrase is one way to ask for a section.
type phrase struct {
	words []string // all of them, in order
	terms []string // those that say something
}

// Weights of a term by where it stands.
const (
	inTitle   = 3
	inChapter = 1
	inAsk     = 1.5
	inBody    = 0.6
)

func newIndex(sections []section) index {
	x := index{lexicon: newLexicon(), rarity: map[string]float64{}}
	for _, s := range sections {
		counts := map[string]float64{}
		add := func(all []string, weight float64) (terms []string) {
			terms = x.lexicon.content(all)
			for _, t := range terms {
				counts[t] += weight
			}
			return terms
		}
		add(x.lexicon.read(s.Title), inTitle)
		add(x.lexicon.read(s.Chapter), inChapter)
		body := x.lexicon.read(prose(s.Body))
		add(body, inBody*min(1, 60/float64(len(body)+1)))
		var asks []phrase
		for _, ask := range append(s.asks, s.Title) {
			all := x.lexicon.read(ask)
			asks = append(asks, phrase{words: all, terms: unique(add(all, inAsk))})
		}
		x.postings = append(x.postings, counts)
		x.phrases = append(x.phrases, asks)
		for t := range counts {
			x.rarity[t]++
		}
	}
	n := float64(len(sections))
	for t, sections := range x.rarity {
		x.rarity[t] = math.Log(1 + n/sections)
	}
	x.stranger = math.Log(1 + n)
	x.lexicon.learn(x.rarity)
	return x
}

// asked is a question as the index reads it.
type asked struct {
	words []string // all, in order, corrected
	terms []string // those that say something, each once
	whole float64  // the sum of their rarities
}

func (x index) terms(text string) asked {
	all := x.lexicon.read(text)
	all = all[:min(len(all), manyEach)]
	for i, w := range all {
		all[i] = x.lexicon.correct(w)
	}
	q := asked{words: all, terms: unique(x.lexicon.content(all))}
	q.whole = x.sum(q.terms)
	return q
}

// join is a question with the words of the one before it.
func (x index) join(q, lead asked) asked {
	q.terms = unique(append(slices.Clip(q.terms), lead.terms...))
	q.whole = x.sum(q.terms)
	return q
}

// weigh is the rarity of a term. Numbers say little by themselves, and of a
// strange short word little is lost.
func (x index) weigh(t string) float64 {
	r, known := x.rarity[t]
	switch {
	case strings.Trim(t, "0123456789") == "" && len(t) < 3:
		return 0.5
	case known:
		return r
	case len(t) < 3:
		return x.stranger / 2
	}
	return x.stranger
}

// score is how well section i fits q.
func (x index) score(i int, q asked) float64 {
	best := 0.0
	for _, p := range x.phrases[i] {
		best = max(best, x.resemble(p, q))
	}
	return x.overlap(i, q) + best
}

// overlap is what the words of q weigh in section i, whatever their order.
func (x index) overlap(i int, q asked) float64 {
	const saturation = 1.5
	sum := 0.0
	for _, t := range q.terms {
		n := x.postings[i][t]
		sum += x.weigh(t) * n * (saturation + 1) / (n + saturation)
	}
	return sum
}

// resemble is what it adds that q contains the phrase p, or is it.
func (x index) resemble(p phrase, q asked) float64 {
	inOrder := contains(q.words, p.words)
	switch {
	case len(p.terms) == 0 && (!inOrder || len(q.terms) > 0):
		return 0 // only small words, and the question has others
	case len(p.terms) == 0:
		return 4 * float64(len(p.words)) / float64(len(q.words))
	case !subset(p.terms, q.terms):
		return 0
	}
	sum := x.sum(p.terms)
	share := sum / q.whole
	if slices.Equal(q.words, p.words) {
		return exact + sum
	}
	if inOrder {
		share += 0.3 * float64(len(p.words)) / float64(len(q.words))
	}
	return sum * share
}

// fits reports whether section i is about enough of what is asked to be an
// answer at all.
func (x index) fits(i int, q, lead asked) bool {
	if len(q.terms) == 0 {
		return len(lead.terms) > 0 || x.score(i, q) >= 2
	}
	known := 0.0
	for _, t := range q.terms {
		if x.postings[i][t] > 0 {
			known += x.weigh(t)
		}
	}
	return known >= covered*q.whole || x.quoted(i, q) >= quoted*q.whole
}

// quoted is how much of q is one of the ways to ask for section i, word by word.
func (x index) quoted(i int, q asked) float64 {
	most := 0.0
	for _, p := range x.phrases[i] {
		if sum := x.sum(p.terms); len(p.words) > 1 && sum > most && contains(q.words, p.words) {
			most = sum
		}
	}
	return most
}

func (x index) sum(terms []string) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += x.weigh(t)
	}
	return sum
}

func unique(terms []string) []string {
	var all []string
	for _, t := range terms {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

func subset(part, whole []string) bool {
	for _, t := range part {
		if !slices.Contains(whole, t) {
			return false
		}
	}
	return true
}

// contains reports whether part stands in whole, word behind word.
func contains(whole, part []string) bool {
	for i := 0; len(part) > 0 && i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
