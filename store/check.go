package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"agentx/engine"
)

// A Problem is something about the database that should not be.
type Problem struct {
	What   string // integrity, reference, invariant, index, ledger, image, log, place or mode
	Detail string
}

func (p Problem) String() string { return p.What + ": " + p.Detail }

// Check reads the whole database and returns what is wrong with it, damage first,
// with the table and the page where it is. It changes nothing. Damage is no error;
// the error says what else kept it from reading to the end.
func (db *DB) Check(ctx context.Context) ([]Problem, error) {
	problems, err := db.check(ctx)
	return problems, db.fault("check", err)
}

func (db *DB) check(ctx context.Context) ([]Problem, error) {
	all := append(db.modes(), db.surroundings()...)
	// A connection of its own: one that has searched remembers the index as it
	// was, and takes what others wrote since for damage.
	conn := db.r
	if !db.options.Network {
		conn = db.readers(db.mode)
		defer conn.Close()
	}
	torn, err := integrity(ctx, conn)
	all = append(torn, all...)
	if err != nil {
		return all, err
	}
	for _, look := range looks(db.parts()) {
		if db.schema < look.since {
			continue
		}
		found, err := ask(ctx, conn, look.query)
		if damaged(err) && len(torn) > 0 {
			continue // that has been told
		}
		if err != nil {
			return all, err
		}
		for _, detail := range found {
			all = append(all, Problem{look.what, detail})
		}
	}
	if db.schema < imageSchema {
		return all, nil
	}
	images, err := proveImages(ctx, conn)
	if damaged(err) && len(torn) > 0 {
		err = nil
	}
	return append(all, images...), err
}

// A look is a question whose every answer is a problem.
type look struct {
	what  string
	since int // version of the schema
	query string
}

// looks are what must hold beside what SQLite itself sees to. What branches share
// ends where no turn is open: so each turn lies in one part, and is looked at once.
func looks(parts string) []look {
	return []look{
		{"reference", 1, `SELECT format('row %s of %s refers to nothing in %s', rowid, "table", parent) FROM pragma_foreign_key_check`},
		{"invariant", 1, `
			SELECT format('session %s counts %d events and %d messages; its log has %d and %d', s.id, s.head, s.messages,
				count(e.n), count(e.n) FILTER (WHERE e.type IN ('user_message', 'assistant_message')))
			FROM sessions AS s
				LEFT JOIN ` + parts + ` AS p ON p.session = s.n
				LEFT JOIN events AS e ON e.n BETWEEN p.owner << 32 | p.first AND p.owner << 32 | p.last
			GROUP BY s.n
			HAVING s.head <> count(e.n) OR s.head <> coalesce(max(e.seq), 0)
				OR s.messages <> count(e.n) FILTER (WHERE e.type IN ('user_message', 'assistant_message'))`},
		{"invariant", 1, `
			SELECT format('event %d belongs to session %s, which is not its own', e.seq, e.session)
			FROM events AS e LEFT JOIN sessions AS s ON s.n = e.n >> 32
			WHERE s.id IS NOT e.session`},
		{"invariant", 1, `
			SELECT format('event %d of session %s is no JSON', seq, session)
			FROM events
			WHERE NOT json_valid(event)`},
		{"invariant", 1, `
			SELECT format('turn %s of session %s was asked %d times and answered %d times', turn, session, asked, answered)
			FROM (
				SELECT e.session, e.event ->> '$.data.messageId' AS turn,
					sum(e.type = 'turn_request') AS asked, sum(e.type = 'turn_response') AS answered
				FROM events AS e
				WHERE e.type IN ('turn_request', 'turn_response') AND json_valid(e.event)
				GROUP BY 1, 2)
			WHERE asked <> 1 OR answered > 1
				OR answered < 1 AND turn <> (SELECT s.turn FROM sessions AS s WHERE s.id = session)`},
		{"invariant", partSchema, `
			SELECT format('the log of session %s is not whole at event %d', s.id, coalesce(p.first, 1))
			FROM sessions AS s
				LEFT JOIN (SELECT *, lag(last, 1, 0) OVER log AS before, lead(first) OVER log AS next
					FROM parts
					WINDOW log AS (PARTITION BY session ORDER BY first)) AS p ON p.session = s.n
				LEFT JOIN sessions AS o ON o.n = p.owner
				LEFT JOIN parts AS own ON own.session = p.owner AND own.owner = p.owner
			WHERE p.first IS NULL OR p.first <> p.before + 1
				OR (p.next IS NULL) <> (p.owner = p.session AND p.last = 0xffffffff) OR p.next IS NULL AND p.first <> s.shared + 1
				OR p.next IS NOT NULL AND (o.trunk IS NOT s.trunk OR own.first > p.first OR p.last > o.head)`},
		{"invariant", partSchema, `
			SELECT format('event %d of session %s is before its own', e.seq, e.session)
			FROM parts AS p JOIN events AS e ON e.n >= p.session << 32 AND e.n < p.session << 32 | p.first
			WHERE p.owner = p.session`},
		{"invariant", partSchema, `
			SELECT format('a turn of session %s is open at event %d, up to which another shares it', s.id, p.last)
			FROM parts AS p JOIN sessions AS s ON s.n = p.owner
			WHERE p.owner <> p.session AND p.last > s.begun AND EXISTS (
				SELECT 1
				FROM (
					SELECT n, seq, event ->> '$.data.id' AS asked FROM events
					WHERE n BETWEEN p.owner << 32 | p.first AND p.owner << 32 | p.last AND type = 'user_message' AND json_valid(event)
					ORDER BY n DESC
					LIMIT 1) AS u
				WHERE u.seq > s.begun AND NOT EXISTS (
					SELECT 1 FROM events
					WHERE n BETWEEN u.n AND p.owner << 32 | p.last AND type = 'turn_response' AND event ->> '$.data.messageId' = u.asked))`},
		{"index", 1, `
			SELECT format('what session %s says is in the index, but not in the log', id)
			FROM words_docsize
			WHERE id > 0 AND id NOT IN (SELECT n FROM events) OR id < 0 AND -id NOT IN (SELECT n FROM sessions)
			LIMIT 100`},
		{"ledger", ledgerSchema, `
			SELECT format('on %s the usage of %s is not what the ledger has', day, model)
			FROM (
				SELECT * FROM usage
				UNION ALL
				SELECT coalesce(strftime('%Y-%m-%d', at / 1000, 'unixepoch'), ''), model, -sum(requests),
					-sum(input), -sum(output), -sum(cache_read), -sum(cache_write), -sum(cache_write_1h), -sum(reasoning),
					-coalesce(sum(cost), 0), -sum(iif(cost IS NULL, requests, 0))
				FROM ledger
				GROUP BY 1, 2)
			GROUP BY day, model
			HAVING sum(requests) <> 0 OR sum(input) <> 0 OR sum(output) <> 0 OR sum(cache_read) <> 0 OR sum(cache_write) <> 0
				OR sum(cache_write_1h) <> 0 OR sum(reasoning) <> 0 OR sum(cost) <> 0 OR sum(unpriced) <> 0
			LIMIT 100`},
		{"image", imageSchema, `
			SELECT format('message %d belongs to no image', n)
			FROM nodes
			WHERE n NOT IN (SELECT parent FROM nodes WHERE parent IS NOT NULL) AND n NOT IN (SELECT head FROM images WHERE head IS NOT NULL)
			LIMIT 100`},
		{"image", imageSchema, `
			SELECT format('blob %d belongs to no image', n)
			FROM blobs
			WHERE n NOT IN (SELECT system FROM images) AND n NOT IN (SELECT blob FROM files WHERE blob IS NOT NULL)
			LIMIT 100`},
	}
}

// integrity has SQLite look at every page, and says whose those are that are
// damaged.
func integrity(ctx context.Context, conn querier) ([]Problem, error) {
	found, err := ask(ctx, conn, `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`)
	if damaged(err) && len(found) == 0 {
		found = []string{"page 1 or one beside it: the list of tables cannot be read"}
	}
	if err != nil && !damaged(err) { // who meets damage says what they saw until then
		return nil, err
	}
	names, err := ask(ctx, conn, `SELECT rootpage || ' ' || iif(type = 'index', 'an index of ' || tbl_name, name) FROM sqlite_schema WHERE rootpage > 0`)
	if damaged(err) {
		err = nil // then pages have no names
	}
	roots := map[string]string{}
	for _, name := range names {
		root, table, _ := strings.Cut(name, " ")
		roots[root] = table
	}
	var all []Problem
	for _, text := range found {
		for line := range strings.Lines(text) {
			if line = legible(strings.TrimSpace(line), roots); line != "" {
				all = append(all, Problem{"integrity", line})
			}
		}
	}
	return all, err
}

// legible is a line of SQLite's about a page, with the table it belongs to
// instead of the number of its root: "Tree 4 page 47 cell 8: invalid page number".
func legible(line string, roots map[string]string) string {
	line = strings.TrimSpace(strings.TrimPrefix(line, "*** in database main ***"))
	rest, ok := strings.CutPrefix(line, "Tree ")
	if !ok {
		return line
	}
	root, rest, _ := strings.Cut(rest, " ")
	root = strings.TrimSuffix(root, ":")
	if !strings.HasPrefix(rest, "page ") {
		rest = "page " + root + ": " + rest
	}
	return "table " + cmp.Or(roots[root], "of root page "+root) + ", " + rest
}

// proveImages makes every hash again, each message's and each blob's once.
func proveImages(ctx context.Context, conn querier) ([]Problem, error) {
	seals, all, err := proveNodes(ctx, conn)
	if err != nil {
		return all, err
	}
	bad, err := proveBlobs(ctx, conn)
	if err != nil {
		return all, err
	}
	all = append(all, bad...)
	images, err := imagesOf(ctx, conn, `ORDER BY i.n`)
	if err != nil {
		return all, err
	}
	for _, r := range images {
		if r.Sandbox, err = filesOf(ctx, conn, r.n); err != nil {
			return all, err
		}
		if seals[r.head.Int64].ImageID(r.Image) != r.ID {
			all = append(all, Problem{"image", fmt.Sprintf("image %s does not hold what was frozen", r.ID)})
		}
	}
	return all, nil
}

func proveNodes(ctx context.Context, conn querier) (map[int64]engine.Seal, []Problem, error) {
	rows, err := conn.QueryContext(ctx, `SELECT n, hash, coalesce(parent, 0), event FROM nodes ORDER BY n`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var all []Problem
	seals := map[int64]engine.Seal{}
	for rows.Next() {
		var n, parent int64
		var hash, text sql.RawBytes
		if err := rows.Scan(&n, &hash, &parent, &text); err != nil {
			return nil, all, err
		}
		seal := seals[parent].Add(text)
		if string(seal[:]) != string(hash) {
			all = append(all, Problem{"image", fmt.Sprintf("message %d of images is not what was frozen", n)})
		}
		copy(seal[:], hash) // those behind it are judged for themselves
		seals[n] = seal
	}
	return seals, all, rows.Err()
}

func proveBlobs(ctx context.Context, conn querier) ([]Problem, error) {
	rows, err := conn.QueryContext(ctx, `SELECT n, hash, data FROM blobs`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Problem
	for rows.Next() {
		var n int64
		var hash, data sql.RawBytes
		if err := rows.Scan(&n, &hash, &data); err != nil {
			return all, err
		}
		if sum := sha256.Sum256(data); string(sum[:]) != string(hash) {
			all = append(all, Problem{"image", fmt.Sprintf("blob %d is not what was frozen", n)})
		}
	}
	return all, rows.Err()
}

func ask(ctx context.Context, conn querier, query string, args ...any) ([]string, error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line sql.NullString
		if err := rows.Scan(&line); err != nil {
			return lines, err
		}
		lines = append(lines, line.String)
	}
	return lines, rows.Err()
}

// surroundings are what a database should not have about it.
func (db *DB) surroundings() []Problem {
	var all []Problem
	if db.remote() && !db.options.Network {
		all = append(all, Problem{"place", db.path + " lies on a network file system, where a database breaks"})
	}
	if n := size(db.path + "-wal"); n > largestLog {
		all = append(all, Problem{"log", fmt.Sprintf("%s-wal has %d MB: some program has been reading for very long, and keeps it from shrinking", db.path, n>>20)})
	}
	return all
}

// modes are the files that others may read.
func (db *DB) modes() []Problem {
	var all []Problem
	for _, suffix := range []string{"", "-wal", "-shm", "-lock", "-locks", "-live"} {
		info, err := os.Stat(db.path + suffix)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			all = append(all, Problem{"mode", fmt.Sprintf("%s has mode %o", db.path+suffix, info.Mode().Perm())})
		}
	}
	return all
}
