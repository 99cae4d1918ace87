package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"

	"pgregory.net/rapid"
)

// Branches that share what they have in common are, to whoever asks, what copies
// are: after any order of turns, of branches of branches, of forks, images, names
// and deletions, and of what a recovery page by page makes of them.
func TestBranchesAreAsCopies(t *testing.T) {
	trials := 0
	rapid.Check(t, func(rt *rapid.T) {
		if trials++; trials > 8 { // every write is an fsync
			return
		}
		dir, err := os.MkdirTemp("", "agentx-branches-")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		g := &grove{T: rt, path: filepath.Join(dir, "a.db"), clock: 1_700_000_000_000, begun: map[event.SessionID]int{}, named: map[event.SessionID]string{}}
		g.copies.Now = g.now
		g.db, err = Open(rt.Context(), g.path, Options{Now: g.now})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { g.db.Close() }()
		g.sow(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"":        g.compare,
			"sow":     g.sow,
			"turn":    g.turn,
			"turns":   g.turns,
			"ask":     g.ask,
			"answer":  g.answer,
			"branch":  g.branch,
			"twig":    g.branch,
			"fork":    g.fork,
			"thaw":    g.thaw,
			"rename":  g.rename,
			"tag":     g.tag,
			"delete":  g.fell,
			"back":    func(*rapid.T) { g.clock -= 20 },
			"recover": g.recover, // which also checks what it has made
		})
		if problems, err := g.db.Check(rt.Context()); err != nil || len(problems) > 0 {
			rt.Fatalf("Check() = %v, %v", problems, err)
		}
	})
}

// A grove is a database of which the branches are shared, and one of plain copies
// in memory, that are told the same.
type grove struct {
	*rapid.T
	path   string
	db     *DB
	copies runtime.Memory
	clock  int64
	made   int
	begun  map[event.SessionID]int    // of the sessions, how many events came with an image
	named  map[event.SessionID]string // what they are found by, beside what was said
}

func (g *grove) now() time.Time { return time.UnixMilli(g.clock).UTC() }

func (g *grove) id(kind string) string {
	g.made++
	return fmt.Sprint(kind, g.made)
}

// any is one of the sessions that there are.
func (g *grove) any(t *rapid.T) event.SessionID {
	if len(g.begun) == 0 {
		g.sow(t)
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(g.begun))).Draw(t, "session")
}

func (g *grove) log(id event.SessionID) []event.Event {
	log, _ := g.copies.Events(context.Background(), id)
	return log
}

// both fails unless the two say the same.
func (g *grove) both(what string, got, want error) bool {
	if (got == nil) != (want == nil) || want != nil && !errors.Is(got, errors.Unwrap(want)) {
		g.Fatalf("%s: %v, and of copies %v", what, got, want)
	}
	return got == nil
}

func (g *grove) sow(t *rapid.T) {
	s := Session{ID: event.SessionID(g.id("s")), Model: "m/1", Dir: "/home"}
	if g.both("Create", g.db.Create(t.Context(), s), g.copies.Create(t.Context(), s)) {
		g.begun[s.ID] = 0
	}
}

func (g *grove) tell(t *rapid.T, id event.SessionID, all ...event.Data) {
	var log []event.Event
	for _, d := range all {
		g.clock++
		log = append(log, event.Event{At: g.now(), Data: d})
	}
	if err := g.db.Append(t.Context(), id, log...); err != nil {
		t.Fatal(err)
	}
	for _, e := range log {
		if err := g.copies.Presenter(id).Present(t.Context(), "", e); err != nil {
			t.Fatal(err)
		}
	}
}

func (g *grove) asking(t *rapid.T) (message string, said []event.Data) {
	text := event.Say(rapid.SampledFrom([]string{"red apple", "green pear", "plum", "red plum"}).Draw(t, "asked"))
	message = g.id("u")
	return message, []event.Data{
		event.UserMessage{ID: message, Content: text},
		event.TurnRequest{TurnID: "turn_" + message, MessageID: message, Content: text},
	}
}

func (g *grove) answering(t *rapid.T, message string) []event.Data {
	end := event.TurnResponse{TurnID: "turn_" + message, MessageID: message, Model: "x", StopReason: event.EndTurn, Usage: event.Usage{
		InputTokens: int64(g.made), OutputTokens: 1, CacheReadTokens: 2, CacheWriteTokens: 3, CacheWrite1hTokens: 1, ReasoningTokens: 1,
	}}
	switch rapid.IntRange(0, 3).Draw(t, "end") {
	case 0:
		end.StopReason = event.StopInterrupted
		return []event.Data{end}
	case 1:
		end.CostUSD = new(event.USD(g.made))
	}
	text := rapid.SampledFrom([]string{"an apple", "a pear is green", "no"}).Draw(t, "answer")
	return []event.Data{event.AssistantMessage{ID: g.id("a"), ParentID: message, Content: event.Parts{event.Text{Text: text}}}, end}
}

func (g *grove) turn(t *rapid.T) {
	id := g.any(t)
	g.close(t, id)
	message, said := g.asking(t)
	g.tell(t, id, append(said, g.answering(t, message)...)...)
}

func (g *grove) turns(t *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		g.turn(t)
	}
}

// ask leaves a turn open, or replaces one that is.
func (g *grove) ask(t *rapid.T) {
	id := g.any(t)
	open := g.asked(id)
	_, said := g.asking(t)
	if open != "" {
		said = []event.Data{said[0], event.TurnResponse{TurnID: "turn_" + open, MessageID: open, StopReason: event.StopInterrupted}, said[1]}
	}
	g.tell(t, id, said...)
}

// asked is the message of the turn that is open.
func (g *grove) asked(id event.SessionID) (message string) {
	for _, e := range g.log(id)[g.begun[id]:] {
		switch d := e.Data.(type) {
		case event.UserMessage:
			message = d.ID
		case event.TurnResponse:
			if d.MessageID == message {
				message = ""
			}
		}
	}
	return message
}

func (g *grove) close(t *rapid.T, id event.SessionID) {
	if message := g.asked(id); message != "" {
		g.tell(t, id, g.answering(t, message)...)
	}
}

func (g *grove) answer(t *rapid.T) { g.close(t, g.any(t)) }

// way draws a session, and a message of it before which another one begins.
func (g *grove) way(t *rapid.T) (from, to event.SessionID, message string, begun int) {
	from, to = g.any(t), event.SessionID(g.id("s"))
	messages, ends := []string{"", "none"}, []int{len(g.log(from)), 0}
	for i, e := range g.log(from) {
		if m, ok := e.Data.(event.UserMessage); ok {
			messages, ends = append(messages, m.ID), append(ends, i)
		}
	}
	i := rapid.IntRange(0, len(messages)-1).Draw(t, "message")
	return from, to, messages[i], min(g.begun[from], ends[i])
}

func (g *grove) branch(t *rapid.T) {
	from, to, message, begun := g.way(t)
	if g.both("BranchBefore", g.db.BranchBefore(t.Context(), from, to, message), g.copies.BranchBefore(t.Context(), from, to, message)) {
		g.begun[to], g.named[to] = begun, g.title(from)
	}
}

func (g *grove) fork(t *rapid.T) {
	from, to, message, begun := g.way(t)
	if g.both("ForkBefore", g.db.ForkBefore(t.Context(), from, to, message), g.copies.ForkBefore(t.Context(), from, to, message)) {
		g.begun[to], g.named[to] = begun, g.title(from)
	}
}

// thaw freezes what a branch has come to, and begins with it anew.
func (g *grove) thaw(t *rapid.T) {
	from, to := g.any(t), event.SessionID(g.id("s"))
	im, err := g.db.Freeze(t.Context(), from, engine.Image{System: "be brief"})
	copied, werr := g.copies.Freeze(t.Context(), from, engine.Image{System: "be brief"})
	if g.both("Freeze", err, werr); im.ID != copied.ID || im.Length != copied.Length {
		t.Fatalf("Freeze(%s) = %s of %d, and of copies %s of %d", from, im.ID, im.Length, copied.ID, copied.Length)
	}
	if g.both("Thaw", g.db.Thaw(t.Context(), im.ID, Session{ID: to}), g.copies.Thaw(t.Context(), im.ID, Session{ID: to})) {
		g.begun[to] = len(g.log(to))
	}
	twig := event.SessionID(g.id("s"))
	if g.both("BranchBefore", g.db.BranchBefore(t.Context(), to, twig, ""), g.copies.BranchBefore(t.Context(), to, twig, "")) {
		g.begun[twig], g.named[twig] = g.begun[to], g.title(to)
	}
	if again, err := g.db.Freeze(t.Context(), twig, engine.Image{System: "be brief"}); err != nil || again.ID != im.ID {
		t.Fatalf("Freeze(%s) = %s, %v; it is what %s was", twig, again.ID, err, im.ID)
	}
}

func (g *grove) title(id event.SessionID) string {
	s, _ := g.copies.Session(context.Background(), id)
	return s.Title
}

func (g *grove) rename(t *rapid.T) {
	g.name(t, g.any(t), rapid.SampledFrom([]string{"", "fruit"}).Draw(t, "title"))
}

func (g *grove) name(t *rapid.T, id event.SessionID, title string) {
	g.both("Rename", g.db.Rename(t.Context(), id, title), g.copies.Rename(t.Context(), id, title))
	for _, b := range g.family(id) {
		g.named[b] = title
	}
}

func (g *grove) tag(t *rapid.T) {
	id, tag := g.any(t), []string{rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tag")}
	got, err := g.db.Tag(t.Context(), id, tag, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range g.family(id) {
		if s, err := g.db.Session(t.Context(), b); err != nil || s.Tags != strings.Join(got, " ") {
			t.Fatalf("on branch %s the tags are %q, %v; want %q", b, s.Tags, err, got)
		}
	}
}

func (g *grove) family(id event.SessionID) (all []event.SessionID) {
	branches, err := g.copies.Branches(context.Background(), id)
	if err != nil {
		g.Fatal(err)
	}
	for _, b := range branches {
		all = append(all, b.Session.ID)
	}
	return all
}

func (g *grove) fell(t *rapid.T) {
	id := g.any(t)
	family := g.family(id)
	g.both("Delete", g.db.Delete(t.Context(), id), g.copies.Delete(t.Context(), id))
	for _, b := range family {
		delete(g.begun, b)
	}
}

// recover goes on with what can be read of the pages. It closes turns, and gives a
// session whose title was taken away one again.
func (g *grove) recover(t *rapid.T) {
	for id := range g.begun {
		g.close(t, id)
		g.name(t, id, "fruit")
	}
	if err := g.db.Close(); err != nil {
		t.Fatal(err)
	}
	before := size(g.path)
	from, to := &DB{path: g.path, options: Options{Now: g.now}}, g.path+g.id(".")
	if r, err := from.salvage(t.Context(), to); err != nil && len(g.begun) > 0 || r.Lost > 0 {
		t.Fatalf("salvage() = %+v, %v", r, err)
	} else if err != nil {
		to = g.path
	}
	if after := size(to); after > before+16*page {
		t.Fatalf("of %d bytes %d were recovered: what was shared has been copied", before, after)
	}
	g.path = to
	db, err := Open(t.Context(), to, Options{Now: g.now})
	if err != nil {
		t.Fatal(err)
	}
	g.db = db
}

func (g *grove) compare(t *rapid.T) {
	ctx := t.Context()
	for id := range g.begun {
		want := g.log(id)
		if got, err := g.db.Events(ctx, id); err != nil || lines(got) != lines(want) {
			t.Fatalf("Events(%s) = %v\n%s\nand of copies\n%s", id, err, lines(got), lines(want))
		}
		alike(t, fmt.Sprintf("Session(%s)", id),
			func() (Session, error) { return g.db.Session(ctx, id) }, func() (Session, error) { return g.copies.Session(ctx, id) })
	}
	alike(t, "Sessions()",
		func() ([]Session, error) { return g.db.Sessions(ctx, Filter{}) }, func() ([]Session, error) { return g.copies.Sessions(ctx, Filter{}) })
	if len(g.begun) > 0 {
		g.window(t)
		id := g.any(t)
		alike(t, fmt.Sprintf("Branches(%s)", id),
			func() ([]engine.Branch, error) { return g.db.Branches(ctx, id) }, func() ([]engine.Branch, error) { return g.copies.Branches(ctx, id) })
	}
	for _, word := range []string{"apple", "green", "plum red", "fruit"} {
		g.search(t, word)
	}
}

// alike fails unless two answers are the same, but for tags, that only the database
// knows.
func alike[T any](t *rapid.T, what string, got, want func() (T, error)) {
	a, err := got()
	b, werr := want()
	if err != nil || werr != nil || !reflect.DeepEqual(untagged(a), untagged(b)) {
		t.Fatalf("%s = %+v, %v\nand of copies\n%+v, %v", what, a, err, b, werr)
	}
}

func untagged(v any) any {
	switch v := v.(type) {
	case Session:
		v.Tags = ""
		return v
	case []Session:
		all := []Session{}
		for _, s := range v {
			s.Tags = ""
			all = append(all, s)
		}
		return all
	case []engine.Branch:
		all := []engine.Branch{}
		for _, b := range v {
			b.Session.Tags = ""
			all = append(all, b)
		}
		return all
	}
	return v
}

// window looks at a part of a log, from where it may begin and end in any part.
func (g *grove) window(t *rapid.T) {
	id := g.any(t)
	log := g.log(id)
	seq, n := rapid.Int64Range(0, int64(len(log))+2).Draw(t, "before"), rapid.IntRange(0, 9).Draw(t, "events")
	page, first, err := g.db.Page(t.Context(), id, seq, n)
	want, at, _ := g.copies.Page(t.Context(), id, seq, n)
	if err != nil || first != at || lines(page) != lines(want) {
		t.Fatalf("Page(%s, %d, %d) = %d, %v\n%s\nand of copies %d\n%s", id, seq, n, first, err, lines(page), at, lines(want))
	}
	from, last := rapid.Int64Range(1, int64(len(log))+1).Draw(t, "from"), rapid.Bool().Draw(t, "last")
	word := rapid.SampledFrom([]string{"apple", "green", "plum"}).Draw(t, "word")
	found := int64(0)
	for _, s := range g.indexed(id, word) {
		if from <= s && s < seq && (found == 0 || last) {
			found = s
		}
	}
	if got, err := g.db.Seek(t.Context(), id, word, from, seq, last); err != nil || got != found {
		t.Fatalf("Seek(%s, %s, %d, %d, %v) = %d, %v; want %d in\n%s", id, word, from, seq, last, got, err, found, lines(log))
	}
}

// indexed counts the messages of a log that have all the words of a query. One of
// the user is found once it was answered.
func (g *grove) indexed(id event.SessionID, query string) (seqs []int64) {
	log := g.log(id)
	answered := map[string]bool{}
	for i, e := range log {
		switch d := e.Data.(type) {
		case event.TurnResponse:
			answered[d.MessageID] = true
		case event.UserMessage:
			answered[d.ID] = i < g.begun[id]
		}
	}
	for i, e := range log {
		if m, ok := e.Data.(event.UserMessage); ok && !answered[m.ID] {
			continue
		}
		if holdsAll(growthOf(e.Data).text, query) {
			seqs = append(seqs, int64(i+1))
		}
	}
	return seqs
}

func holdsAll(text, query string) bool {
	has := strings.Fields(text)
	return !slices.ContainsFunc(strings.Fields(query), func(w string) bool { return !slices.Contains(has, w) })
}

// search asks for what was said last on the newest branch of each trunk that has
// the words.
func (g *grove) search(t *rapid.T, query string) {
	var all []Session
	for id := range g.begun {
		s, _ := g.copies.Session(t.Context(), id)
		if s.Messages > 0 && (len(g.indexed(id, query)) > 0 || holdsAll(g.named[id], query)) {
			all = append(all, s)
		}
	}
	newest := map[event.SessionID]Session{}
	for _, s := range all {
		if n, ok := newest[s.Trunk]; !ok || s.Updated.After(n.Updated) {
			newest[s.Trunk] = s
		}
	}
	hits, err := g.db.Search(t.Context(), query, 0)
	if err != nil || len(hits) != len(newest) {
		t.Fatalf("Search(%s) = %d hits, %v; want %d", query, len(hits), err, len(newest))
	}
	if chosen, err := g.db.Sessions(t.Context(), Filter{Query: query}); err != nil || len(chosen) != len(hits) {
		t.Fatalf("Sessions(%s) = %s, %v; want %d", query, ids(chosen), err, len(hits))
	}
	for i, h := range hits {
		seqs := append([]int64{0}, g.indexed(h.Session.ID, query)...)
		if want := newest[h.Session.Trunk]; !want.Updated.Equal(h.Session.Updated) || h.Seq != seqs[len(seqs)-1] {
			t.Fatalf("Search(%s) finds event %d of %s; want %d of %s", query, h.Seq, h.Session.ID, seqs[len(seqs)-1], want.ID)
		}
		if i > 0 && cmp.Compare(hits[i-1].Session.Updated.UnixMilli(), h.Session.Updated.UnixMilli()) < 0 {
			t.Fatalf("Search(%s): %s stands behind an older one", query, h.Session.ID)
		}
		if h.Seq == 0 {
			continue
		}
		if e := g.log(h.Session.ID)[h.Seq-1]; !h.At.Equal(e.At) || strings.TrimSpace(h.Snippet) != growthOf(e.Data).text {
			t.Fatalf("Search(%s) finds %q at %s; event %d of %s is %s", query, h.Snippet, h.At, h.Seq, h.Session.ID, lines([]event.Event{e}))
		}
	}
}

// A file whose branches are still copies is read as it is, keeps them when it is
// opened for good, and what branches off then is shared.
func TestBranchesOfAnOlderFileStayCopies(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "a.db"), t.Context()
	db := open(t, path)
	begin(t, db, "s")
	for _, n := range []string{"1", "2", "3"} {
		tell(t, db, "s", "u"+n, "question "+n, hello("m"+n, "answer "+n)...)
	}
	if err := db.ForkBefore(ctx, "s", "b", "u3"); err != nil {
		t.Fatal(err)
	}
	tell(t, db, "b", "u4", "question 4", hello("m4", "answer 4")...)
	if _, err := db.w.Exec(`
		UPDATE sessions SET trunk = 's';
		DROP TRIGGER sessions_keep_what_is_lent;
		DROP TABLE parts;
		ALTER TABLE sessions DROP COLUMN shared;
		PRAGMA user_version = 7`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	said := func(db *DB, id event.SessionID) string {
		log, err := db.Events(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, e := range log {
			if text := growthOf(e.Data).text; text != "" {
				words = append(words, text[strings.LastIndex(text, " ")+1:])
			}
		}
		return strings.Join(words, " ")
	}
	look := func(db *DB, branches int) {
		t.Helper()
		if got := said(db, "s") + ", " + said(db, "b"); got != "1 1 2 2 3 3, 1 1 2 2 4 4" {
			t.Errorf("the branches say %s", got)
		}
		page, first, err := db.Page(ctx, "b", 10, 3)
		if err != nil || first != 7 || len(page) != 3 {
			t.Errorf("Page(b) = %d events from %d, %v", len(page), first, err)
		}
		if seq, err := db.Seek(ctx, "b", "question", 1, 9, true); err != nil || seq != 5 {
			t.Errorf("Seek(b) = %d, %v; want 5", seq, err)
		}
		if all, err := db.Branches(ctx, "s"); err != nil || len(all) != branches || len(all[0].Asked) != 3 {
			t.Errorf("Branches() = %+v, %v", all, err)
		}
		hits, err := db.Search(ctx, "answer 4", 0)
		if err != nil || len(hits) != 1 || hits[0].Seq != 11 {
			t.Errorf("Search() = %+v, %v", hits, err)
		}
		if problems, err := db.Check(ctx); err != nil || len(problems) > 0 {
			t.Errorf("Check() = %v, %v", problems, err)
		}
	}
	ro, err := Open(ctx, path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	look(ro, 2)
	ro.Close()
	db = open(t, path)
	look(db, 2)
	events := countOf(t, db, "events")
	if err := db.BranchBefore(ctx, "b", "c", ""); err != nil {
		t.Fatal(err)
	}
	look(db, 3)
	if got := said(db, "c"); got != said(db, "b") || countOf(t, db, "events") != events {
		t.Errorf("the new branch says %s, and there are %d events; want those %d", got, countOf(t, db, "events"), events)
	}
}

// What a branch shares stays for as long as it is there, whoever deletes what.
func TestWhatIsLentStays(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	tell(t, db, "s", "u", "hi", hello("m", "hello")...)
	if err := db.BranchBefore(t.Context(), "s", "b", ""); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		`DELETE FROM sessions WHERE id = 's'`,
		`UPDATE parts SET last = 2 WHERE last = 4`,
		`INSERT INTO parts VALUES (1, 7, 8, 2)`,
	} {
		if _, err := db.w.Exec(change); err == nil {
			t.Errorf("%s: it is done", change)
		}
	}
	for _, odd := range []struct{ what, change string }{
		{"a gap", `DELETE FROM parts WHERE session = 2 AND owner = 1`},
		{"more than there is", `DELETE FROM parts WHERE session = 2; INSERT INTO parts VALUES (2, 1, 9, 1), (2, 10, 0xffffffff, 2)`},
		{"nothing of its own", `DELETE FROM parts WHERE session = 2 AND owner = 2`},
		{"in the middle of a turn", `DELETE FROM parts WHERE session = 2; INSERT INTO parts VALUES (2, 1, 3, 1), (2, 4, 0xffffffff, 2); UPDATE sessions SET head = 3, shared = 3 WHERE n = 2`},
		{"of another session", `UPDATE sessions SET trunk = 'b' WHERE n = 2`},
	} {
		tx, err := db.w.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(odd.change); err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, look := range looks("parts") {
			all, err := ask(t.Context(), tx, look.query)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, all...)
		}
		if len(found) == 0 {
			t.Errorf("%s: Check finds nothing", odd.what)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	sane(t, db)
	if err := db.Delete(t.Context(), "s"); err != nil || countOf(t, db, "events")+countOf(t, db, "parts") > 0 {
		t.Errorf("Delete() = %v, and %d events are left", err, countOf(t, db, "events"))
	}
}
