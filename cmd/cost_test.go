package cmd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/store"
	"agentx/tui/footer"

	"pgregory.net/rapid"
)

// Whatever turns take: the turn, the session, the ledger, `stats`, JSON, and the
// footer of a chat that comes back to a part of it say the same of it, to the
// last digit. What has no price is unknown to all of them.
func TestEverybodySaysTheSameOfCosts(t *testing.T) {
	opus, _ := config.Prices{}.Lookup("anthropic", "claude-opus-4-5")
	haiku, _ := config.Prices{}.Lookup("anthropic", "claude-haiku-5-5") // has tiers
	price := func(model string, u event.Usage) (event.USD, bool) {
		switch model {
		case "opus":
			return tariff(opus).Cost(u)
		case "haiku":
			return tariff(haiku).Cost(u)
		}
		return 0, false
	}
	trials := 0
	rapid.Check(t, func(rt *rapid.T) {
		if trials++; trials > 20 { // every turn is an fsync
			return
		}
		ctx := t.Context()
		db, err := store.Open(ctx, filepath.Join(t.TempDir(), "a.db"), store.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		if err := db.Create(ctx, store.Session{ID: "s", Model: "lab/opus"}); err != nil {
			rt.Fatal(err)
		}
		models := rapid.SampledFrom([]string{"opus", "haiku", "haiku", "mystery"}[:rapid.IntRange(3, 4).Draw(rt, "models")])
		var turns []event.TurnResponse
		for n := range rapid.IntRange(1, 5).Draw(rt, "turns") {
			e := engine.Engine{
				Driver: script.Say(answers(rt, n, models)...),
				Presenters: []engine.Presenter{db.Presenter("s"), engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, r event.TurnResponse) error {
					turns = append(turns, r)
					return nil
				})},
				Now: func() time.Time { return time.UnixMilli(1_700_000_000_000).UTC() }, Price: price,
			}
			if err := e.Receive(ctx, engine.Request{Session: "s", Message: event.UserMessage{ID: fmt.Sprint("u", n), Content: event.Say("how much?")}}); err != nil {
				rt.Fatal(err)
			}
		}

		cost, known, usage := event.USD(0), true, event.Usage{}
		for _, r := range turns {
			usage = usage.Add(r.Usage)
			usage.Tier = "" // is of one request
			if r.CostUSD == nil {
				known = false // a model was asked
				continue
			}
			cost += *r.CostUSD
		}
		s, err := db.Session(ctx, "s")
		if err != nil || (s.Cost != nil) != known || known && *s.Cost != cost || s.Usage != usage {
			rt.Fatalf("the session says %v and %+v, %v; want %s, %v and %+v", s.Cost, s.Usage, err, cost, known, usage)
		}
		stats, err := db.Stats(ctx, time.Time{}, store.ByModel)
		if all := countedOf(sum(stats)); err != nil || (all.CostUSD != nil) != known || known && *all.CostUSD != cost || all.Usage != resultUsageOf(usage) {
			rt.Fatalf("stats say %+v, %v; want %s, %v and %+v", all, err, cost, known, usage)
		}
		log, err := db.Events(ctx, "s")
		if err != nil {
			rt.Fatal(err)
		}
		shown := log[rapid.IntRange(0, len(log)).Draw(rt, "shown from"):]
		_, before := earlier(s, shown)
		f := footer.New("opus", 0).Add(before.Usage, before.Cost, before.Turns, before.Unpriced)
		for _, e := range shown {
			f = f.Apply(e)
		}
		said := map[string]string{}
		for _, row := range f.Rows() {
			said[row[0]] = row[1]
		}
		if said["tokens read"] != fmt.Sprint(usage.InputTokens) || said["tokens written"] != fmt.Sprint(usage.OutputTokens) ||
			known && usage != (event.Usage{}) && said["this session"] != footer.Money(cost) || !known && said["this session"] == footer.Money(cost) {
			rt.Fatalf("the footer says %v; want %s, %v and %+v", said, cost, known, usage)
		}
	})
}

// answers are a turn of some requests.
func answers(t *rapid.T, turn int, models *rapid.Generator[string]) []event.Stream {
	var all []event.Stream
	requests := rapid.IntRange(1, 3).Draw(t, "requests")
	for n := range requests {
		tokens := rapid.Int64Range(0, 150_000)
		all = append(all, event.MessageStart{MessageID: fmt.Sprint("m", turn, n), Model: models.Draw(t, "model")}, event.TextDelta{Text: "so much"})
		for range rapid.IntRange(0, 2).Draw(t, "pieces") {
			all = append(all, event.MessageDelta{Usage: event.Usage{
				InputTokens: tokens.Draw(t, "input"), OutputTokens: tokens.Draw(t, "output"), CacheReadTokens: tokens.Draw(t, "read"),
				CacheWriteTokens: 150_000, CacheWrite1hTokens: tokens.Draw(t, "hour"), ReasoningTokens: tokens.Draw(t, "reasoning"),
				Tier: rapid.SampledFrom([]string{"", "", "", "", "batch"}).Draw(t, "tier"),
			}})
		}
		stop := event.ToolUse
		if n == requests-1 {
			stop = event.EndTurn
		}
		all = append(all, event.MessageStop{StopReason: stop})
	}
	return all
}

// However requests follow each other, in whichever sessions, kept or not: a
// guard lets none leave once the limit is reached, and all before it.
func TestABudgetIsKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := config.Config{Budget: config.Budget{Run: new(rapid.Float64Range(0, 0.01).Draw(rt, "budget")), Unpriced: "refuse"}}
		choice := config.Choice{Provider: config.Provider{Name: "lab"}, Model: "m"}
		w := &world{now: time.Now}
		var tokens int64 // that the next answer takes
		model := engine.DriverFunc(func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
			return func(yield func(event.Stream, error) bool) {
				_ = yield(event.MessageStart{MessageID: "a", Model: "m"}, nil) &&
					yield(event.MessageDelta{Usage: event.Usage{OutputTokens: tokens / 3}}, nil) &&
					yield(event.MessageDelta{Usage: event.Usage{OutputTokens: tokens - tokens/3}}, nil) &&
					yield(event.MessageStop{StopReason: event.EndTurn}, nil)
			}
		})
		price := engine.Price{Output: event.Dollar / 1_000_000}.Cost
		g := &guard{model: model, world: w, config: c, choice: choice, price: func(_ string, u event.Usage) (event.USD, bool) { return price(u) }}
		limit, spent := event.USD(math.Round(*c.Budget.Run*float64(event.Dollar))), event.USD(0)
		w.purse.once("run") // who follows is not here
		for n := range 20 {
			tokens = rapid.Int64Range(0, 2000).Draw(rt, "tokens")
			req := engine.Request{Session: event.SessionID(fmt.Sprint("s", n%3)), Model: "m", Message: event.UserMessage{ID: fmt.Sprint(n), Content: event.Say("go")}}
			refused := false
			for _, err := range g.Receive(t.Context(), req) {
				refused = err != nil && engine.FaultOf(err).Code == event.CodeBudget
			}
			if refused != (spent >= limit) {
				rt.Fatalf("at %s of %s, refused: %v", spent, limit, refused)
			}
			if !refused {
				spent += event.USD(tokens) * event.Dollar / 1_000_000
			}
			if w.purse.run != spent {
				rt.Fatalf("%s were spent, the purse says %s", spent, w.purse.run)
			}
		}
	})
}

// Many that ask at once spend no more than one after the other would: what a
// request is about to cost is set aside while it is out, and only so long.
func TestABudgetIsKeptByManyAtOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const each = event.Dollar / 1_000_000 // a token
		req := func(n int) engine.Request {
			return engine.Request{Session: event.SessionID(fmt.Sprint("s", n%3)), Model: "m", Message: event.UserMessage{ID: fmt.Sprint(n), Content: event.Say("a question of some length")}}
		}
		tokens := driver.SizeOf(req(0)).About
		asking, room := rapid.IntRange(1, 8).Draw(rt, "asking"), rapid.IntRange(1, 8).Draw(rt, "room")
		budget := event.USD(int64(room)*tokens) * each
		c := config.Config{Budget: config.Budget{Run: new(budget.Dollars()), Unpriced: "refuse"}}
		w := &world{now: time.Now}
		w.purse.once("run") // who follows is not here
		breaks := rapid.SampledFrom([]string{"counts", "counts more", "breaks off", "fails"})
		ends := make([]string, asking)
		for n := range ends {
			ends[n] = breaks.Draw(rt, "ends")
		}
		var all sync.WaitGroup // have been let go, or refused
		all.Add(asking)
		model := engine.DriverFunc(func(_ context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
			return func(yield func(event.Stream, error) bool) {
				all.Done()
				all.Wait()
				n, _ := strconv.Atoi(req.Message.ID)
				if ends[n] == "fails" || !yield(event.MessageStart{MessageID: "a", Model: "m"}, nil) {
					yield(nil, errors.New("refused"))
					return
				}
				if strings.HasPrefix(ends[n], "counts") && yield(event.MessageDelta{Usage: event.Usage{InputTokens: tokens}}, nil) && ends[n] == "counts more" {
					yield(event.MessageDelta{Usage: event.Usage{OutputTokens: 1}}, nil)
				}
			}
		})
		price := engine.Price{Input: each, Output: each}.Cost
		g := &guard{model: model, world: w, config: c, choice: config.Choice{Provider: config.Provider{Name: "lab"}, Model: "m"},
			price: func(_ string, u event.Usage) (event.USD, bool) { return price(u) }}
		var let atomic.Int64
		var want event.USD
		var done sync.WaitGroup
		var mu sync.Mutex
		for n := range asking {
			done.Go(func() { // ends with the answer
				for _, err := range g.Receive(t.Context(), req(n)) {
					if err != nil && engine.FaultOf(err).Code == event.CodeBudget {
						all.Done()
						return
					}
				}
				let.Add(1)
				mu.Lock()
				defer mu.Unlock()
				switch ends[n] {
				case "counts":
					want += event.USD(tokens) * each
				case "counts more":
					want += event.USD(tokens+1) * each
				}
			})
		}
		done.Wait()
		if got := int(let.Load()); got != min(asking, room) {
			rt.Fatalf("%d of %d were let go where there was room for %d", got, asking, room)
		}
		if one, all := w.purse.aside("s0"); w.purse.run != want || one+all != 0 || len(w.purse.held) != 0 {
			rt.Fatalf("the purse says %s, and %s is held, want %s and nothing", w.purse.run, all, want)
		}
	})
}
