package cmd

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/store"

	"github.com/spf13/cobra"
)

func statsCommand(w *world) *cobra.Command {
	var days int
	var by string
	var asJSON bool
	c := &cobra.Command{
		Use: "stats", Short: "Show what was used, and what it cost", Args: exactly(),
		Long: `Show what was used, and what it cost.

A row counts requests to models, and not what a session was given by another: a
fork repeats what was said, but nobody pays for it twice. What was used in
sessions that were deleted is in it, what was not saved is not. Days are those
of UTC.

A request whose price is unknown has an unknown cost, and so has every sum that
it is in: "$0.01 + unknown" is what the others cost.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if by != string(store.ByDay) && by != string(store.ByModel) && by != string(store.BySession) {
				return usage("--by is day, model or session, not %q", by)
			}
			if days < 0 {
				return usage("--days is a number of days, not %d", days)
			}
			db, err := w.reader(c.Context())
			if err != nil {
				return err
			}
			since := firstDay(w.now(), days)
			all, err := db.Stats(c.Context(), since, store.By(by))
			if err != nil {
				return err
			}
			if asJSON {
				return writeLine(w.stdout, statsJSON(all, since, by))
			}
			return w.showStats(all, by)
		},
	}
	c.Flags().IntVar(&days, "days", 30, "of the last `N` days, today among them; 0 for all")
	c.Flags().StringVar(&by, "by", "day", "a row for each `WHAT`: day, model or session")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// firstDay is the first of so many days, zero where it is any.
func firstDay(now time.Time, days int) time.Time {
	if days == 0 {
		return time.Time{}
	}
	return now.UTC().AddDate(0, 0, 1-days)
}

// counted is what requests took, as JSON.
type counted struct {
	Day       string          `json:"day,omitempty"`
	Model     string          `json:"model,omitempty"`
	SessionID event.SessionID `json:"session_id,omitempty"`
	Title     string          `json:"title,omitempty"`
	Requests  int             `json:"requests"`
	Usage     resultUsage     `json:"usage"`
	CostUSD   *event.USD      `json:"cost_usd"`       // null where any of it is unknown
	KnownUSD  event.USD       `json:"known_cost_usd"` // of those whose price is known
	Unpriced  int             `json:"unpriced_requests"`
}

func countedOf(s store.Stat) counted {
	c := counted{
		Day: s.Day, Model: s.Model, SessionID: s.Session, Title: s.Title, Requests: s.Requests,
		Usage: resultUsageOf(s.Usage), KnownUSD: s.Cost, Unpriced: s.Unpriced,
	}
	if s.Unpriced == 0 {
		c.CostUSD = &s.Cost
	}
	return c
}

// statsJSON are rows and their sum.
func statsJSON(all []store.Stat, since time.Time, by string) any {
	out := struct {
		Since string    `json:"since,omitempty"` // the first day
		By    string    `json:"by"`
		Rows  []counted `json:"rows"`
		Total counted   `json:"total"`
	}{By: by, Rows: []counted{}, Total: countedOf(sum(all))}
	if !since.IsZero() {
		out.Since = since.Format(time.DateOnly)
	}
	for _, s := range all {
		out.Rows = append(out.Rows, countedOf(s))
	}
	return out
}

func sum(all []store.Stat) store.Stat {
	var t store.Stat
	for _, s := range all {
		t.Requests, t.Usage, t.Cost, t.Unpriced = t.Requests+s.Requests, t.Usage.Add(s.Usage), t.Cost+s.Cost, t.Unpriced+s.Unpriced
	}
	return t
}

func (w *world) showStats(all []store.Stat, by string) error {
	if len(all) == 0 {
		w.note("Nothing was used in these days.")
		return nil
	}
	t := table{width: w.tableWidth()}
	t.row(strings.ToUpper(by), "REQUESTS", "IN", "OUT", "REASONING", "FROM CACHE", "TO CACHE", "COST", "")
	row := func(name string, s store.Stat) {
		u := s.Usage
		t.row(name, fmt.Sprint(s.Requests), fmt.Sprint(u.InputTokens), fmt.Sprint(u.OutputTokens), fmt.Sprint(u.ReasoningTokens),
			fmt.Sprint(u.CacheReadTokens), fmt.Sprint(u.CacheWriteTokens), spent(s), s.Title)
	}
	for _, s := range all {
		row(cmp.Or(s.Day, s.Model, shortID(s.Session), "unknown"), s)
	}
	row("all", sum(all))
	return t.print(w.stdout)
}

// spent is the exact cost for people, with what is not known of it.
func spent(s store.Stat) string {
	switch {
	case s.Unpriced == 0:
		return "$" + s.Cost.String()
	case s.Cost == 0:
		return "unknown"
	}
	return "$" + s.Cost.String() + " + unknown"
}
