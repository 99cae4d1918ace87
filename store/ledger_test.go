package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

// tariffs price what an answer of the tests took.
func tariffs(model string) engine.Pricer {
	return func(answered string, u event.Usage) (event.USD, bool) {
		if answered == "mystery" || model != "m/1" {
			return 0, false
		}
		return engine.Price{Input: 1_234_567, Output: 7_654_321, CacheRead: 11, CacheWrite: 1_500_001, CacheWrite1h: 2_469_134}.Cost(u)
	}
}

// Whatever turns take, and whatever becomes of their sessions, what is told of
// sessions, days and models is the same to the last digit (F120).
func TestEverySumIsTheSame(t *testing.T) {
	trials := 0
	rapid.Check(t, func(rt *rapid.T) {
		if trials++; trials > 30 { // every turn is an fsync
			return
		}
		db, ctx := open(t, filepath.Join(t.TempDir(), "a.db")), t.Context()
		defer db.Close()
		at := time.UnixMilli(1_700_000_000_000).UTC()
		clock := func() time.Time { at = at.Add(3 * time.Hour); return at } // a turn goes over days
		var want Stat
		known := map[event.SessionID]bool{}
		costs := map[event.SessionID]event.USD{}
		for turn := range rapid.IntRange(1, 6).Draw(rt, "turns") {
			id := event.SessionID(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "session"))
			if _, there := known[id]; !there {
				begin(t, db, id)
				known[id] = true
			}
			var says []event.Stream
			for n := range rapid.IntRange(1, 3).Draw(rt, "requests") {
				model := rapid.SampledFrom([]string{"m-1", "m-2", "mystery"}).Draw(rt, "model")
				tokens := rapid.Int64Range(0, 100_000)
				u := event.Usage{
					InputTokens: tokens.Draw(rt, "input"), OutputTokens: tokens.Draw(rt, "output"), CacheReadTokens: tokens.Draw(rt, "read"),
					CacheWriteTokens: 100_000, CacheWrite1hTokens: tokens.Draw(rt, "hour"), ReasoningTokens: 1,
				}
				if rapid.IntRange(0, 4).Draw(rt, "silent") == 0 { // the provider counts nothing: nobody knows what it takes
					u = event.Usage{}
				}
				if n > 0 {
					says = append(says, event.MessageStop{StopReason: event.ToolUse})
				}
				says = append(says, event.MessageStart{MessageID: fmt.Sprint(turn, n), Model: model}, event.TextDelta{Text: "so"}, event.MessageDelta{Usage: u})
				cost, priced := tariffs("m/1")(model, u)
				priced = priced && u != event.Usage{}
				want.Requests, want.Usage, want.Cost = want.Requests+1, want.Usage.Add(u), want.Cost+cost
				costs[id] += cost
				if !priced {
					want.Unpriced++
					known[id] = false
				}
			}
			e := engine.Engine{
				Driver: script(append(says, event.MessageStop{StopReason: event.EndTurn})), Presenters: []engine.Presenter{db.Presenter(id)},
				Now: clock, Price: tariffs("m/1"),
			}
			if err := e.Receive(ctx, engine.Request{Session: id, Message: event.UserMessage{ID: fmt.Sprint("u", turn), Content: event.Say("how much?")}}); err != nil {
				rt.Fatal(err)
			}
			if booked, err := db.Booked(ctx, id, fmt.Sprint("turn_u", turn)); err != nil || !booked {
				rt.Fatalf("turn %d is not booked, %v", turn, err)
			}
		}
		for id := range known {
			s, err := db.Session(ctx, id)
			spent, unpriced, err2 := db.SpentIn(ctx, id)
			if err != nil || err2 != nil || spent != costs[id] || (unpriced == 0) != known[id] || (s.Cost != nil) != known[id] || s.Cost != nil && *s.Cost != spent {
				rt.Fatalf("%s costs %v, its ledger has %s and %d, %v, %v; want %s, known %v", id, s.Cost, spent, unpriced, err, err2, costs[id], known[id])
			}
			if err := db.Fork(ctx, id, "copy of "+id); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "deleted") {
				if err := db.Delete(ctx, id); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for _, by := range []By{ByDay, ByModel, BySession, ""} {
			stats, err := db.Stats(ctx, time.Time{}, by)
			var sum Stat
			for _, s := range stats {
				sum.Requests, sum.Usage, sum.Cost, sum.Unpriced = sum.Requests+s.Requests, sum.Usage.Add(s.Usage), sum.Cost+s.Cost, sum.Unpriced+s.Unpriced
			}
			if err != nil || sum != want {
				rt.Fatalf("Stats(%s) add up to %+v, %v; want %+v", by, sum, err, want)
			}
		}
		if cost, unpriced, err := db.Spent(ctx, time.Time{}); err != nil || cost != want.Cost || unpriced != want.Unpriced {
			rt.Fatalf("Spent() = %s, %d, %v; want %+v", cost, unpriced, err, want)
		}
		if problems, err := db.Check(ctx); len(problems) > 0 || err != nil {
			rt.Fatalf("Check() = %v, %v", problems, err)
		}
	})
}

// A turn whose writer dies is paid all the same: with the prices of its session,
// once, however often it is looked at.
func TestWhatADeadWriterSpent(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "a.db"), t.Context()
	db, err := Open(ctx, path, Options{Price: tariffs})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, db, "s")
	show(t, db.Presenter("s"), event.UserMessage{ID: "u", Content: event.Say("go")}, event.MessageStart{MessageID: "m", Model: "m-1"}, event.TextDelta{Text: "go"},
		event.MessageDelta{Usage: event.Usage{InputTokens: 1000, OutputTokens: 1}})
	if spent, _, err := db.SpentIn(ctx, "s"); spent != 0 || err != nil {
		t.Errorf("SpentIn() = %s, %v before the turn has ended", spent, err)
	}
	db.Close()
	for range 2 {
		if db, err = Open(ctx, path, Options{Price: tariffs}); err != nil {
			t.Fatal(err)
		}
		stats, err := db.Stats(ctx, time.Time{}, ByModel)
		if err != nil || len(stats) != 1 || stats[0].Model != "m/m-1" || stats[0].Cost != 1000*1_234_567+7_654_321 || stats[0].Unpriced != 0 {
			t.Errorf("Stats() = %+v, %v", stats, err)
		}
		db.Close()
	}
}

// Who counts the requests of a turn otherwise than the turn does is not
// believed.
func TestRequestsThatDoNotAddUp(t *testing.T) {
	x := event.Expense{MessageID: "m", Model: "m-1", Usage: event.Usage{OutputTokens: 3}, CostUSD: new(event.USD(3))}
	for _, r := range []event.TurnResponse{
		{Model: "m-1", Usage: event.Usage{OutputTokens: 4}, CostUSD: new(event.USD(3)), Requests: []event.Expense{x}},
		{Model: "m-1", Usage: event.Usage{OutputTokens: 3}, CostUSD: new(event.USD(4)), Requests: []event.Expense{x}},
		{Model: "m-1", Usage: event.Usage{OutputTokens: 3}, Requests: []event.Expense{x}},
		{Model: "m-1", Usage: event.Usage{OutputTokens: 3}, CostUSD: new(event.USD(3))},
	} {
		got := expenses(at(1), r)
		if len(got) != 1 || got[0].MessageID != "" || got[0].Usage != r.Usage || got[0].CostUSD != r.CostUSD || got[0].Timestamp != event.MillisOf(at(1)) {
			t.Errorf("%+v is taken for %+v", r, got)
		}
	}
	if got := expenses(at(1), event.TurnResponse{}); len(got) != 0 {
		t.Errorf("nothing is taken for %+v", got)
	}
}

// The month is added up from days, however many requests there were.
func BenchmarkSpent(b *testing.B) {
	db, ctx := fresh(b), context.Background()
	begin(b, db, "s")
	since := time.UnixMilli(1_700_000_000_000).UTC()
	var log []event.Event
	for n := range 20_000 {
		u := event.Usage{InputTokens: 1000}
		log = append(log, event.Event{At: since.Add(time.Duration(n) * 2 * time.Minute), Data: event.TurnResponse{
			TurnID: fmt.Sprint(n), Model: "m", Usage: u, CostUSD: new(event.USD(1)),
		}})
	}
	if err := db.Append(ctx, "s", log...); err != nil {
		b.Fatal(err)
	}
	b.Run("days", func(b *testing.B) {
		for b.Loop() {
			if cost, _, err := db.Spent(ctx, since); cost != 20_000 || err != nil {
				b.Fatal(cost, err)
			}
		}
	})
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			var cost int64
			if err := db.r.QueryRowContext(ctx, `SELECT sum(cost) FROM ledger WHERE at >= ?`, since.UnixMilli()).Scan(&cost); cost != 20_000 || err != nil {
				b.Fatal(cost, err)
			}
		}
	})
}
