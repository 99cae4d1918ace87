package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"agentx/engine/event"
)

// A Hit is a session in which something was found.
type Hit struct {
	Session Session
	Seq     int64     // counts the event in the session; 0 where the title was hit
	At      time.Time // of the event
	Snippet string    // one line round the place
	Match   [2]int    // where in the snippet the first word lies, in bytes; empty where it is elsewhere
}

// Search returns where the words of query were said, in titles and messages,
// latest first, and each session once. All words must be in the same message; the last may be
// the beginning of one. No sign has a meaning: a query without words finds
// nothing. Of limit 0 there are at most 100 hits.
func (db *DB) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	if limit <= 0 {
		limit = 100
	}
	hits, err := db.search(ctx, query, limit)
	return hits, db.fault("search", err)
}

func (db *DB) search(ctx context.Context, query string, limit int) ([]Hit, error) {
	match := literal(query)
	if match == "" {
		return nil, nil
	}
	seen := map[event.SessionID]bool{}
	hits, err := db.hits(ctx, nil, seen, query, limit, `
		SELECT `+sessionColumns+`, 0, updated, title FROM sessions
		WHERE n IN (SELECT -rowid FROM words WHERE words MATCH ? AND rowid < 0) AND messages > 0
		ORDER BY updated DESC`, match)
	if err != nil || len(hits) == limit {
		return hits, err
	}
	return db.hits(ctx, hits, seen, query, limit, `
		SELECT `+qualified(sessionColumns)+`, e.seq, e.at, e.event
		FROM words AS w CROSS JOIN events AS e ON e.n = w.rowid CROSS JOIN sessions AS s ON s.id = e.session
		WHERE w.words MATCH ? AND w.rowid > 0
		ORDER BY w.rowid DESC`, match)
}

// qualified is the columns of sessions where another table has some of that name.
func qualified(columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = "s." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}

// hits reads until there are enough: what is asked for is not what there is.
func (db *DB) hits(ctx context.Context, hits []Hit, seen map[event.SessionID]bool, query string, limit int, stmt, match string) ([]Hit, error) {
	rows, err := db.r.QueryContext(ctx, stmt, match)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for len(hits) < limit && rows.Next() {
		var h Hit
		var at int64
		var text sql.RawBytes
		if h.Session, err = scanSession(rows.Scan, &h.Seq, &at, &text); err != nil {
			return nil, err
		}
		if seen[h.Session.ID] {
			continue
		}
		seen[h.Session.ID] = true
		h.At = event.Millis(at).Time()
		h.Snippet, h.Match = snippet(said(h.Seq, text), query)
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// said is the text of a title or of an event.
func said(seq int64, text []byte) string {
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
	if strings.TrimSpace(text) == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO words (rowid, text) VALUES (?, ?)`, rowid, apart(text))
	return err
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

// apart puts spaces round the signs of scripts that have none, and nothing
// where there was a NUL.
func apart(s string) string {
	if strings.IndexFunc(s, unspaced) < 0 && strings.IndexByte(s, 0) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == 0:
			b.WriteByte(' ')
		case unspaced(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
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
// every word is quoted, those without spaces between them together. It is
// empty where the query has no words.
func literal(query string) string {
	words := wordsOf(query)
	if len(words) == 0 {
		return ""
	}
	for i, w := range words {
		words[i] = `"` + apart(w) + `"`
	}
	if last, _ := utf8.DecodeLastRuneInString(query); wordly(last) {
		words[len(words)-1] += "*"
	}
	return strings.Join(words, " ")
}

func wordsOf(query string) []string {
	query = clip(query, maxQuery)
	words := strings.FieldsFunc(query, func(r rune) bool { return !wordly(r) })
	words = words[:min(len(words), maxWords)]
	spoken := words[:0]
	for _, w := range words {
		if strings.IndexFunc(w, func(r rune) bool { return !unicode.IsMark(r) }) >= 0 {
			spoken = append(spoken, w)
		}
	}
	return spoken
}

// wordly reports whether the index takes r for a part of a word.
func wordly(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.Is(unicode.Co, r))
}

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
