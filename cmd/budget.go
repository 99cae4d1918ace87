package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"sync"
	"time"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/driver"
	"agentx/engine/event"
	"agentx/store"
)

// A purse is what this program has spent, and what of it the database does not
// know yet: a turn is put down there when it has ended, and one that is not kept
// never is.
type purse struct {
	gate   sync.Mutex // held from the look at what is left to the taking of it
	mu     sync.Mutex
	run    event.USD
	held   map[event.SessionID]event.USD // for requests that are out
	tabs   map[event.SessionID]tab
	warned map[string]bool // limits of which it has been said that they come near
}

// A tab is what a session has used beside what was put down.
type tab struct {
	turn string
	cost event.USD // of that turn, so far
	lost event.USD // of those before it that were not put down
}

// pay adds to what a turn has used.
func (p *purse) pay(session event.SessionID, cost event.USD) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run += cost
	t := p.tabs[session]
	t.cost += cost
	p.tabs[session] = t
}

// hold sets aside for a request that leaves, or gives back.
func (p *purse) hold(session event.SessionID, cost event.USD) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = map[event.SessionID]event.USD{}
	}
	if p.held[session] += cost; p.held[session] == 0 {
		delete(p.held, session)
	}
}

// aside is what is held, for one session and for all.
func (p *purse) aside(session event.SessionID) (one, all event.USD) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, cost := range p.held {
		all += cost
		if id == session {
			one = cost
		}
	}
	return one, all
}

// begin says which turn is paid from now on; booked, whether the one before it
// was put down.
func (p *purse) begin(session event.SessionID, turn string, booked func(turn string) (bool, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tabs[session]
	if t.turn == turn {
		return nil
	}
	if t.cost > 0 {
		down, err := booked(t.turn)
		if err != nil {
			return err
		}
		if !down {
			t.lost += t.cost
		}
	}
	if p.tabs == nil {
		p.tabs = map[event.SessionID]tab{}
	}
	p.tabs[session] = tab{turn: turn, lost: t.lost}
	return nil
}

// unbooked is what was spent and not put down, in one session and in all.
func (p *purse) unbooked(session event.SessionID, booked func(event.SessionID, string) (bool, error)) (one, all event.USD, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, t := range p.tabs {
		if id != session && t.cost > 0 {
			down, err := booked(id, t.turn)
			if err != nil {
				return 0, 0, err
			}
			if down {
				t.cost = 0
				p.tabs[id] = t
			}
		}
		all += t.cost + t.lost
		if id == session {
			one = t.cost + t.lost
		}
	}
	return one, all, nil
}

// once reports whether nobody has been warned of it yet.
func (p *purse) once(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.warned[what] {
		return false
	}
	if p.warned == nil {
		p.warned = map[string]bool{}
	}
	p.warned[what] = true
	return true
}

// A guard is a model client that asks what was spent before each request, those
// in the midst of a turn with tools too. What has left is paid: the answer may
// go beyond the limit, the next request does not.
type guard struct {
	model  engine.Driver
	world  *world
	config config.Config
	choice config.Choice
	price  engine.Pricer
}

// guarded keeps the budgets of a model client.
func (w *world) guarded(c config.Config, choice config.Choice, model engine.Driver) engine.Driver {
	b := c.Budget
	if b.Run == nil && b.Session == nil && b.Day == nil && b.Month == nil && !w.flags.verbose {
		return model
	}
	return &guard{model: model, world: w, config: c, choice: choice, price: pricer(c, choice)}
}

func (g *guard) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		held, err := g.admit(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { g.world.purse.hold(req.Session, -held) }()
		var paid event.USD // for the message that comes
		var usage event.Usage
		model := req.Model
		for e, err := range g.model.Receive(ctx, req) {
			switch e := e.(type) {
			case event.MessageStart:
				model, usage, paid = cmp.Or(e.Model, model), event.Usage{}, 0
			case event.MessageDelta:
				usage = usage.Add(e.Usage)
				if cost, known := g.price(model, usage); known {
					g.world.purse.pay(req.Session, cost-paid)
					back := max(0, min(held, cost-paid)) // what is paid need not be held, too
					g.world.purse.hold(req.Session, -back)
					held, paid = held-back, cost
				}
			case event.MessageStop:
				g.world.purse.hold(req.Session, -held)
				held = 0
				near := g.nearing(ctx, req, paid) // before the turn ends and is put down
				more := yield(e, err)
				if g.warn(req, near...); !more {
					return
				}
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A limit is a budget, and what of it is gone.
type limit struct {
	key, name    string
	usd, spent   event.USD
	held         event.USD // of what is spent: for requests that are out
	unpriced     int       // requests that are not in it
	beyond, once string
}

// admit sets aside what it costs to read a request, so that others who ask at the
// same time do not spend it too, or reports why the request must not leave.
func (g *guard) admit(ctx context.Context, req engine.Request) (held event.USD, err error) {
	tokens := driver.SizeOf(req).About
	cost, known := g.price(cmp.Or(req.Model, g.choice.Model), event.Usage{InputTokens: tokens})
	if !known {
		cost = 0
	}
	g.world.purse.gate.Lock()
	defer g.world.purse.gate.Unlock()
	if err := g.check(ctx, req, cost, tokens); err != nil {
		return 0, err
	}
	g.world.purse.hold(req.Session, cost)
	return cost, nil
}

// check reports why a request must not leave whose question alone costs so much,
// as far as that is known.
func (g *guard) check(ctx context.Context, req engine.Request, cost event.USD, tokens int64) error {
	limits, err := g.limits(ctx, req)
	if err != nil {
		return err
	}
	if tokens > int64(g.config.Budget.Large) && cost > event.Dollar/2 {
		g.world.tell(req, "info", "a large request", fmt.Sprintf("about %d tokens, which it costs about %s to read", tokens, cents(cost)))
	}
	for _, l := range limits {
		if err := g.within(l, cost, tokens); err != nil {
			return err
		}
		g.warn(req, l)
	}
	return nil
}

// nearing is what a message that has been paid has come near to: the next
// question may be too dear already.
func (g *guard) nearing(ctx context.Context, req engine.Request, paid event.USD) []limit {
	if paid == 0 {
		return nil
	}
	g.world.purse.gate.Lock()
	defer g.world.purse.gate.Unlock()
	limits, err := g.limits(context.WithoutCancel(ctx), req)
	if err != nil {
		return nil // the next request is refused for it
	}
	return limits
}

// warn says once of each limit that most of it is gone, where it is.
func (g *guard) warn(req engine.Request, limits ...limit) {
	for _, l := range limits {
		if l.spent >= l.usd/5*4 && l.usd > 0 && g.world.purse.once(l.once) {
			g.world.tell(req, "warning", fmt.Sprintf("%d %% of the budget of %s is spent", percent(l), l.name), g.sum(l))
		}
	}
}

// within reports why a limit does not allow a request whose question alone
// costs so much.
func (g *guard) within(l limit, cost event.USD, tokens int64) error {
	if _, priced := g.price(g.choice.Model, event.Usage{InputTokens: 1, OutputTokens: 1}); !priced {
		if g.config.Budget.Unpriced == "allow" {
			return nil
		}
		return refuse(`nobody knows what %s costs, so the budget of %s cannot be kept (%s); give it a price in [models.%q], or set budget.unpriced = "allow"`,
			g.choice.Name(), l.name, g.origin(l), g.choice.Name())
	}
	free, _ := g.price(g.choice.Model, event.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000})
	switch {
	case free == 0:
		return nil
	case l.spent >= l.usd:
		return refuse("the budget of %s is spent: %s; %s", l.name, g.sum(l), l.beyond)
	case cost > l.usd-l.spent:
		return refuse("to read this question of about %d tokens costs about %s, which is more than is left of the budget of %s: %s; %s",
			tokens, cents(cost), l.name, g.sum(l), l.beyond)
	}
	return nil
}

func refuse(format string, args ...any) error {
	return &engine.Fault{Code: event.CodeBudget, Message: fmt.Sprintf(format, args...)}
}

// sum is what was spent of a limit, and who has set it.
func (g *guard) sum(l limit) string {
	s := fmt.Sprintf("%s of $%s (%s)", cents(l.spent), l.usd, g.origin(l))
	if l.held > 0 {
		s += fmt.Sprintf(", of which %s is for what is being asked right now", cents(l.held))
	}
	if l.unpriced > 0 {
		s += fmt.Sprintf(", not counting what has no price (%s)", count(l.unpriced, "request"))
	}
	return s
}

func (g *guard) origin(l limit) string {
	return l.key + ", set by " + g.config.Origin(l.key).String()
}

func percent(l limit) int64 { return int64(float64(l.spent) / float64(l.usd) * 100) }

// cents is an amount for people that is not rounded to what it is not: a limit
// is not reached before it is.
func cents(a event.USD) string {
	if a == 0 || a.Dollars() == math.Trunc(a.Dollars()) {
		return fmt.Sprintf("$%.0f", a.Dollars())
	}
	if a >= event.Dollar/100 {
		return fmt.Sprintf("$%.4f", a.Dollars())
	}
	return "$" + a.String()
}

// tell says something to whoever follows the agent that a request is of.
func (w *world) tell(req engine.Request, severity, what, details string) {
	w.bus.Publish(bus.SystemEvent{
		Event:  event.Event{At: w.now(), Data: event.SystemError{Message: what, Severity: severity, Details: details}},
		Source: bus.Session, Category: bus.Error, Intent: bus.Notifies,
		Scope: bus.Scope{Container: home, Agent: req.Agent, Session: req.Session, Turn: turnOf(req)},
	})
}

// turnOf is the turn in which a request is made.
func turnOf(req engine.Request) string {
	id := req.Message.ID
	for i := len(req.History) - 1; i >= 0 && id == ""; i-- {
		if m, ok := req.History[i].(event.UserMessage); ok {
			id = m.ID
		}
	}
	return engine.TurnID(id)
}

// limits are those that are set, and what was spent of each.
func (g *guard) limits(ctx context.Context, req engine.Request) ([]limit, error) {
	b, p := g.config.Budget, &g.world.purse
	kept := b.Session != nil || b.Day != nil || b.Month != nil
	var db *store.DB
	var err error
	if kept {
		if db, err = g.world.ledger(ctx, req.Session); err != nil {
			return nil, untold(err)
		}
	}
	booked := func(session event.SessionID, turn string) (bool, error) {
		if db == nil {
			return false, nil
		}
		return db.Booked(ctx, session, turn)
	}
	if err := p.begin(req.Session, turnOf(req), func(turn string) (bool, error) { return booked(req.Session, turn) }); err != nil {
		return nil, untold(err)
	}
	one, all, err := p.unbooked(req.Session, booked)
	if err != nil {
		return nil, untold(err)
	}
	mine, everybodys := p.aside(req.Session)
	now := g.world.now().UTC()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	var set []limit
	for _, l := range []struct {
		limit
		usd   *float64
		spent func() (event.USD, int, error)
		open  event.USD
		held  event.USD
	}{
		{limit{key: "max_budget_usd", name: "this run", once: "run", beyond: "a higher one lets it go on"}, b.Run, nil, p.total(), everybodys},
		{limit{key: "budget.session", name: "this session", once: "session " + string(req.Session), beyond: "a new session has its own"}, b.Session,
			func() (event.USD, int, error) { return db.SpentIn(ctx, req.Session) }, one, mine},
		{limit{key: "budget.day", name: "the day", once: "day " + today.Format(time.DateOnly), beyond: "the next day begins at 00:00 UTC"}, b.Day,
			func() (event.USD, int, error) { return db.Spent(ctx, today) }, all, everybodys},
		{limit{key: "budget.month", name: "the month", once: "month " + today.Format("2006-01"), beyond: "the next month begins at 00:00 UTC of its first day"}, b.Month,
			func() (event.USD, int, error) { return db.Spent(ctx, today.AddDate(0, 0, 1-now.Day())) }, all, everybodys},
	} {
		if l.usd == nil {
			continue
		}
		if l.spent != nil && db != nil {
			if l.limit.spent, l.unpriced, err = l.spent(); err != nil {
				return nil, untold(err)
			}
		}
		l.limit.usd, l.limit.spent = event.USD(math.Round(*l.usd*float64(event.Dollar))), l.limit.spent+l.open+l.held
		l.limit.held = l.held
		set = append(set, l.limit)
	}
	return set, nil
}

func (p *purse) total() event.USD {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

func untold(err error) error {
	return &engine.Fault{Code: event.CodeStore, Message: fmt.Sprintf("there is a budget, and nobody can tell what was spent: %v", err), Err: err}
}

// ledger is where it stands what was spent. A conversation that is not kept does
// not make a database for it.
func (w *world) ledger(ctx context.Context, session event.SessionID) (*store.DB, error) {
	if w.shelf.forgets(session) {
		path, err := w.storePath()
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	return w.reader(ctx)
}
