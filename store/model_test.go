package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

// A model is what the database should be, in plain maps.
type model struct {
	logs    map[event.SessionID][]event.Event
	titles  map[event.SessionID]string
	updated map[event.SessionID]int64
	drafts  map[event.SessionID]string
	images  map[event.ImageID][]event.Event
	spent   event.Usage
}

// Random operations, with closing and opening among them, do to the database
// what they do to the model.
func TestAnyOrderOfOperations(t *testing.T) {
	trials := 0
	rapid.Check(t, func(rt *rapid.T) {
		if trials++; trials > 30 { // every write is an fsync
			return
		}
		dir, err := os.MkdirTemp("", "agentx-model-")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		r := &trial{T: rt, path: filepath.Join(dir, "a.db"), model: model{
			map[event.SessionID][]event.Event{}, map[event.SessionID]string{}, map[event.SessionID]int64{}, map[event.SessionID]string{},
			map[event.ImageID][]event.Event{}, event.Usage{},
		}}
		r.reopen()
		defer func() { r.db.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"":       r.compare,
			"create": r.create,
			"turn":   r.turn,
			"fork":   r.fork,
			"rename": r.rename,
			"delete": r.remove,
			"draft":  r.draft,
			"freeze": r.freeze,
			"thaw":   r.thaw,
			"drop":   r.drop,
			"reopen": func(*rapid.T) { r.reopen() },
		})
		if problems, err := r.db.Check(context.Background()); err != nil || len(problems) > 0 {
			rt.Fatalf("Check() = %v, %v", problems, err)
		}
	})
}

type trial struct {
	*rapid.T
	path  string
	db    *DB
	model model
	clock int64
}

func (r *trial) reopen() {
	if r.db != nil {
		if err := r.db.Close(); err != nil {
			r.Fatal(err)
		}
	}
	db, err := Open(context.Background(), r.path, Options{Now: func() time.Time { return time.UnixMilli(r.tick()) }})
	if err != nil {
		r.Fatal(err)
	}
	r.db = db
}

func (r *trial) tick() int64 { r.clock++; return r.clock }

func (r *trial) any(t *rapid.T) event.SessionID {
	return event.SessionID(rapid.SampledFrom([]string{"a", "b", "c", "D/../d"}).Draw(t, "session"))
}

// expect fails unless err is nil where ok, and want where not.
func (r *trial) expect(err error, ok bool, want error) bool {
	if ok && err != nil || !ok && !errors.Is(err, want) {
		r.Fatalf("error %v; should it succeed: %v", err, ok)
	}
	return ok
}

func (r *trial) create(t *rapid.T) {
	id := r.any(t)
	_, taken := r.model.logs[id]
	if r.expect(r.db.Create(context.Background(), Session{ID: id}), !taken, ErrExists) {
		r.model.logs[id], r.model.titles[id] = nil, ""
	}
}

func (r *trial) turn(t *rapid.T) {
	id, ctx := r.any(t), context.Background()
	n := r.tick()
	text := rapid.SampledFrom([]string{"red apple", "green pear", "red and green", "日本"}).Draw(t, "text")
	message := fmt.Sprint("m", n)
	events := []event.Event{
		{Data: event.UserMessage{ID: message, Content: event.Say(text)}},
		{Data: event.TurnRequest{TurnID: "turn_" + message, MessageID: message, Content: event.Say(text), Timestamp: event.Millis(n)}},
		{Data: event.AssistantMessage{ID: "a" + message, Content: event.Parts{event.Text{Text: "about " + text}}}},
		{Data: event.TurnResponse{TurnID: "turn_" + message, MessageID: message, Model: "x", Usage: event.Usage{OutputTokens: n}}},
	}
	p := r.db.Presenter(id)
	_, there := r.model.logs[id]
	for i := range events {
		events[i].At = time.UnixMilli(n).UTC()
		r.expect(p.Present(ctx, "", events[i]), there, ErrNotFound)
	}
	if !there {
		return
	}
	if len(r.model.logs[id]) == 0 {
		delete(r.model.drafts, "")
	}
	delete(r.model.drafts, id)
	r.model.logs[id] = append(slices.Clip(r.model.logs[id]), events...)
	r.model.titles[id] = cmp.Or(r.model.titles[id], text)
	r.model.updated[id] = n
	r.model.spent.OutputTokens += n
}

func (r *trial) fork(t *rapid.T) {
	from, to := r.any(t), r.any(t)
	log, there := r.model.logs[from]
	_, taken := r.model.logs[to]
	want := ErrNotFound
	if there {
		want = ErrExists
	}
	if r.expect(r.db.Fork(context.Background(), from, to), there && !taken, want) {
		r.model.logs[to], r.model.titles[to], r.model.updated[to] = log, r.model.titles[from], r.clock
		if len(log) > 0 && r.model.titles[to] == "" {
			r.model.titles[to] = log[0].Data.(event.UserMessage).Content.Text()
		}
	}
}

func (r *trial) rename(t *rapid.T) {
	id, title := r.any(t), rapid.SampledFrom([]string{"", "fruit", "apple fruit"}).Draw(t, "title")
	if _, there := r.model.logs[id]; r.expect(r.db.Rename(context.Background(), id, title), there, ErrNotFound) {
		r.model.titles[id] = title
	}
}

func (r *trial) remove(t *rapid.T) {
	id := r.any(t)
	if _, there := r.model.logs[id]; r.expect(r.db.Delete(context.Background(), id), there, ErrNotFound) {
		delete(r.model.logs, id)
		delete(r.model.drafts, id)
	}
}

func (r *trial) draft(t *rapid.T) {
	id, text := r.any(t), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "text")
	if rapid.Bool().Draw(t, "new") {
		id = ""
	}
	r.expect(r.db.SetDraft(context.Background(), id, text), true, nil)
	r.model.drafts[id] = text
}

func (r *trial) freeze(t *rapid.T) {
	id := r.any(t)
	log, there := r.model.logs[id]
	im, err := r.db.Freeze(context.Background(), id, engine.Image{System: rapid.SampledFrom([]string{"", "Be kind."}).Draw(t, "system")})
	if r.expect(err, there, ErrNotFound) {
		said := slices.DeleteFunc(slices.Clone(log), func(e event.Event) bool { return event.LayerOf(e.Data) != event.MessageLayer })
		if old, again := r.model.images[im.ID]; again && lines(old) != lines(said) {
			t.Fatalf("%s is the image of\n%s\nand of\n%s", im.ID, lines(old), lines(said))
		}
		r.model.images[im.ID] = said
	}
}

// frozen is one of the images, or one that is not there.
func (r *trial) frozen(t *rapid.T) (event.ImageID, bool) {
	all := append(slices.Sorted(maps.Keys(r.model.images)), "img_none")
	id := rapid.SampledFrom(all).Draw(t, "image")
	return id, id != "img_none"
}

func (r *trial) thaw(t *rapid.T) {
	to := r.any(t)
	image, there := r.frozen(t)
	_, taken := r.model.logs[to]
	want := ErrNotFound
	if there {
		want = ErrExists
	}
	if r.expect(r.db.Thaw(context.Background(), image, Session{ID: to}), there && !taken, want) {
		log := r.model.images[image]
		r.model.logs[to], r.model.titles[to], r.model.updated[to] = log, "", r.clock
		if len(log) > 0 {
			r.model.titles[to] = log[0].Data.(event.UserMessage).Content.Text()
		}
	}
}

func (r *trial) drop(t *rapid.T) {
	id, there := r.frozen(t)
	if r.expect(r.db.DeleteImage(context.Background(), id), there, ErrNotFound) {
		delete(r.model.images, id)
	}
}

func (r *trial) compare(t *rapid.T) {
	ctx := context.Background()
	var listed []event.SessionID
	hits := map[string]int{}
	n := rapid.IntRange(1, 10).Draw(t, "tail")
	for id, log := range r.model.logs {
		got, err := r.db.Events(ctx, id)
		if err != nil || lines(got) != lines(log) {
			t.Fatalf("Events(%s) = %v\n%s\nwant\n%s", id, err, lines(got), lines(log))
		}
		s, err := r.db.Session(ctx, id)
		if err != nil || s.Title != r.model.titles[id] || s.Messages != messages(log) || s.Open {
			t.Fatalf("Session(%s) = %+v, %v; want title %q", id, s, err, r.model.titles[id])
		}
		if len(log) > 0 {
			tail, more, err := r.db.Tail(ctx, id, n)
			if err != nil || lines(tail) != lines(log[max(0, len(log)-n):]) || more != (n < len(log)) {
				t.Fatalf("Tail(%s, %d) = %d, %v, %v of %d", id, n, len(tail), more, err, len(log))
			}
			listed = append(listed, id)
			for _, word := range []string{"apple", "green", "本", "fruit"} {
				if text := lines(log) + r.model.titles[id]; strings.Contains(text, word) {
					hits[word]++
				}
			}
		}
	}
	slices.SortFunc(listed, func(a, b event.SessionID) int { return cmp.Compare(r.model.updated[b], r.model.updated[a]) })
	all, err := r.db.Sessions(ctx, Filter{})
	if err != nil || len(all) != len(listed) {
		t.Fatalf("Sessions() = %s, %v; want %v", ids(all), err, listed)
	}
	for i, s := range all {
		if s.ID != listed[i] {
			t.Fatalf("Sessions() = %s; want %v", ids(all), listed)
		}
	}
	for _, word := range []string{"apple", "green", "本", "fruit"} {
		if found, err := r.db.Search(ctx, word, 0); err != nil || len(found) != hits[word] {
			t.Fatalf("Search(%s) = %d hits, %v; want %d", word, len(found), err, hits[word])
		}
	}
	for id, text := range r.model.drafts {
		if got, err := r.db.Draft(ctx, id); err != nil || got != text {
			t.Fatalf("Draft(%s) = %q, %v; want %q", id, got, err, text)
		}
	}
	if id, there := r.frozen(t); there {
		log := r.model.images[id]
		if im, err := r.db.Image(ctx, string(id)); err != nil || lines(im.Messages) != lines(log) {
			t.Fatalf("Image(%s) = %v\n%s\nwant\n%s", id, err, lines(im.Messages), lines(log))
		}
	}
	if all, err := r.db.Images(ctx); err != nil || len(all) != len(r.model.images) {
		t.Fatalf("Images() = %d, %v; want %d", len(all), err, len(r.model.images))
	}
	for _, by := range []By{ByDay, ByModel, BySession} {
		stats, err := r.db.Stats(ctx, time.Time{}, by)
		var spent event.Usage
		for _, s := range stats {
			spent = spent.Add(s.Usage)
		}
		if err != nil || spent != r.model.spent {
			t.Fatalf("Stats(%s) = %+v, %v; want %+v", by, spent, err, r.model.spent)
		}
	}
}

func messages(log []event.Event) (n int) {
	for _, e := range log {
		n += growthOf(e.Data).messages
	}
	return n
}

func lines(log []event.Event) string {
	var b strings.Builder
	for _, e := range log {
		fmt.Fprintf(&b, "%s %d %+v\n", e.Data.Type(), e.At.UnixMilli(), e.Data)
	}
	return b.String()
}

// Many agents of two processes write and read at once (F119).
func TestManyAgentsAtOnce(t *testing.T) {
	db := fresh(t)
	dbs := []*DB{db, open(t, db.path)}
	var wg sync.WaitGroup
	for i := range 8 {
		id := event.SessionID(fmt.Sprint("s", i))
		begin(t, db, id)
		wg.Go(func() {
			mine := dbs[i%2]
			for n := range 10 {
				tell(t, mine, id, fmt.Sprint("u", n), "what now", hello(fmt.Sprint("m", n), strings.Repeat("on and on ", 500))...)
				if _, err := mine.Search(t.Context(), "now", 5); err != nil {
					t.Error(err)
				}
				if _, err := mine.Sessions(t.Context(), Filter{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		log, err := db.Events(t.Context(), event.SessionID(fmt.Sprint("s", i)))
		if err != nil || len(log) != 40 {
			t.Errorf("s%d has %d events, %v; want 40", i, len(log), err)
		}
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check() = %v, %v", problems, err)
	}
}

// Whoever cancels stops reading, never writing.
func TestACancelledContextStillSaves(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ask := event.Event{At: at(0), Data: event.UserMessage{ID: "u", Content: event.Say("hi")}}
	if err := db.Presenter("s").Present(ctx, "", ask); err != nil {
		t.Errorf("Present(cancelled) = %v", err)
	}
	if _, err := db.Events(ctx, "s"); !errors.Is(err, context.Canceled) {
		t.Errorf("Events(cancelled) = %v, want that it was", err)
	}
}
