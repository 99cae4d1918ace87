package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"agentx/engine/event"

	"modernc.org/sqlite"
)

// A Hit is a session in which something was found.
type Hit struct {
	Session Session
	Seq     int64     // counts the event in the session; 0 where the title was hit
	At      time.Time // of the event
	Snippet string    // one line round the place
	Match   [2]int    // where in the snippet the first word lies, in bytes; empty where it is elsewhere
}

// Search returns the sessions in which the words of query were said, those
// first in which something was said last, each with the last such message, or
// its title; of the branches of a session, the last in which they were said. All
// words must be in the same message; the last may be the beginning of one. No
// sign has a meaning: a query without words finds nothing. Of limit 0 there are
// at most 100 hits.
func (db *DB) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	if limit <= 0 {
		limit = 100
	}
	hits, err := db.search(ctx, query, limit)
	return hits, db.fault("search", unless(beyond, err))
}

func (db *DB) search(ctx context.Context, query string, limit int) ([]Hit, error) {
	match := literal(query)
	if match == "" {
		return nil, nil
	}
	rows, err := db.r.QueryContext(ctx, `
		SELECT `+db.columns()+`,
			coalesce(e.seq, 0), coalesce(e.at, s.updated), coalesce(e.event, s.title)
		FROM (
			SELECT said, hit, row_number() OVER (PARTITION BY `+db.trunk()+` ORDER BY s.updated DESC, s.n DESC) AS place
			FROM (
				SELECT said, max(seq), hit
				FROM (`+db.found()+`)
				GROUP BY said)
			JOIN sessions AS s ON s.n = said
			WHERE s.messages > 0)
		JOIN sessions AS s ON s.n = said
		LEFT JOIN events AS e ON e.n = hit
		WHERE place = 1
		ORDER BY s.updated DESC, s.n DESC
		LIMIT ?`, match, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []Hit
	for rows.Next() {
		var h Hit
		var at int64
		var text sql.RawBytes
		if h.Session, err = scanSession(rows.Scan, &h.Seq, &at, &text); err != nil {
			return nil, err
		}
		h.At = event.Millis(at).Time()
		h.Snippet, h.Match = snippet(textOf(h.Seq, text), query)
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// found are the hits of a query: the session in whose log or title the words are,
// what counts the event there, 0 of a title, and its rowid. What branches share is
// a hit of each.
func (db *DB) found() string {
	own := `SELECT abs(iif(hit < 0, hit, hit >> 32)) AS said, iif(hit < 0, 0, hit & 0xffffffff) AS seq, hit FROM matches`
	if db.schema < partSchema {
		return matches + own
	}
	return matches + own + `
		UNION ALL
		SELECT p.session, hit & 0xffffffff, hit
		FROM matches CROSS JOIN parts AS p
			ON p.owner = hit >> 32 AND p.owner <> p.session AND hit & 0xffffffff BETWEEN p.first AND p.last`
}

const matches = `WITH matches AS MATERIALIZED (SELECT rowid AS hit FROM words WHERE words MATCH ?) `

// beyond reports whether the index takes a word of the query for several: it
// knows fewer letters than we do. Nothing that it holds is such a word.
func beyond(err error) bool {
	s, ok := errors.AsType[*sqlite.Error](err)
	return ok && s.Code() == sqliteError && strings.Contains(s.Error(), "phrase queries are not supported")
}

// unless is err, if it is not meant.
func unless(meant func(error) bool, err error) error {
	if meant(err) {
		return nil
	}
	return err
}

// textOf is the text of a title or of an event.
func textOf(seq int64, text []byte) string {
	if seq == 0 {
		return string(text)
	}
	var e event.Event
	if json.Unmarshal(text, &e) != nil {
		return ""
	}
	return growthOf(e.Data).text
}

// index adds a text to the words. What has none is not there.
func index(ctx context.Context, tx *sql.Tx, rowid int64, text string) error {
	if text = indexed(text); text == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, indexing, rowid, text)
	return err
}

const indexing = `INSERT INTO words (rowid, text) VALUES (?, ?)`

// indexed is what the index gets of a text.
func indexed(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return once(apart(text))
}

func reindex(ctx context.Context, tx *sql.Tx, rowid int64, text string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM words WHERE rowid = ?`, rowid); err != nil {
		return err
	}
	return index(ctx, tx, rowid, text)
}

// unspaced reports whether r belongs to a script that puts no space between
// words. Every such sign is a word to the index.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// apart makes words of the signs of scripts that have no spaces: each sign is
// one, and each pair, so that what stands together is found together. A NUL
// ends a word.
func apart(s string) string {
	if strings.IndexFunc(s, unspaced) < 0 && strings.IndexByte(s, 0) < 0 {
		return s
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range s {
		switch {
		case r == 0:
			b.WriteByte(' ')
		case unspaced(r):
			b.WriteByte(' ')
			if before != 0 {
				b.WriteString(string([]rune{before, r, ' '}))
			}
			b.WriteString(string([]rune{r, ' '}))
		default:
			b.WriteRune(r)
		}
		before = 0
		if unspaced(r) {
			before = r
		}
	}
	return b.String()
}

// maxIndexed is how many bytes of different words of one text are found. The
// index holds all words of a text in memory until it is saved, some hundred
// bytes for each: a text of so many words is none that anybody has read.
const maxIndexed = 1 << 20

// once is a long text with each word once, for the index does not know where in
// a text a word is.
func once(text string) string {
	if len(text) <= maxIndexed {
		return text
	}
	var b strings.Builder
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		if len(word) <= maxIndexed-b.Len()-1 && !seen[word] {
			seen[word] = true
			b.WriteString(word)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Limits of a query: more words than that say nothing more.
const (
	maxQuery = 1000 // bytes
	maxWords = 32
)

// literal is a query as an expression for FTS5 in which no sign has a meaning:
// its words, each quoted. It is empty where the query has none. The last one
// may be the beginning of a word, as long as nothing stands behind it.
func literal(query string) string {
	words := wordsOf(query)
	if len(words) == 0 {
		return ""
	}
	var terms []string
	for _, w := range words {
		for _, term := range termsOf(w) {
			terms = append(terms, `"`+term+`"`)
		}
	}
	if last, _ := utf8.DecodeLastRuneInString(query); wordly(last) && !unspaced(last) {
		terms[len(terms)-1] += "*"
	}
	return strings.Join(terms, " ")
}

// wordsOf are the words of a query as somebody reads them.
func wordsOf(query string) []string {
	words := strings.FieldsFunc(clip(query, maxQuery), func(r rune) bool { return !wordly(r) })
	spoken := words[:0]
	for _, w := range words {
		if strings.IndexFunc(w, func(r rune) bool { return !accent(r) }) >= 0 {
			spoken = append(spoken, w)
		}
	}
	return spoken[:min(len(spoken), maxWords)]
}

// termsOf are the words of the index that a word is made of: without spaces,
// its pairs of signs.
func termsOf(word string) []string {
	var terms []string
	var run []rune
	flush := func() {
		for i := range max(len(run)-1, min(len(run), 1)) {
			terms = append(terms, string(run[i:min(i+2, len(run))]))
		}
		run = run[:0]
	}
	rest := 0 // where what has spaces began
	for i, r := range word {
		if unspaced(r) {
			if rest < i {
				terms = append(terms, word[rest:i])
			}
			rest = i + utf8.RuneLen(r)
			run = append(run, r)
			continue
		}
		flush()
	}
	flush()
	if rest < len(word) {
		terms = append(terms, word[rest:])
	}
	return terms
}

// wordly reports whether the index takes r for a part of a word.
func wordly(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r) || accent(r))
}

// accent reports whether r stands on the letter before it; the index drops it.
func accent(r rune) bool { return 0x300 <= r && r <= 0x331 }

// snippet is a line of text round the place where the query's first word is.
// The index also folds accents; where only they differ there is no match.
func snippet(text, query string) (string, [2]int) {
	const before, after = 40, 120
	from, to := place(text, wordsOf(query))
	start, end := back(text, from, before), forth(text, to, after)
	head, hit, tail := flat(text[start:from]), flat(text[from:to]), flat(text[to:end])
	if start > 0 {
		head = "…" + head
	} else {
		head = strings.TrimLeft(head, " ")
	}
	if end < len(text) {
		tail += "…"
	}
	return head + hit + strings.TrimRight(tail, " "), [2]int{len(head), len(head) + len(hit)}
}

// place finds the first of words in text, whatever its case.
func place(text string, words []string) (from, to int) {
	for _, w := range words {
		n := utf8.RuneCountInString(w)
		for i := range text {
			if j := forth(text, i, n); strings.EqualFold(text[i:j], w) {
				return i, j
			}
		}
	}
	return 0, 0
}

func back(s string, i, n int) int {
	for ; i > 0 && n > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
	}
	return i
}

func forth(s string, i, n int) int {
	for ; i < len(s) && n > 0; n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

// flat is s with a space for every run of spaces and control characters.
func flat(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}
