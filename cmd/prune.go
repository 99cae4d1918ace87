package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentx/store"

	"github.com/spf13/cobra"
)

// badTag is what a person is told of a tag that is none.
func badTag(err error) error {
	if errors.Is(err, store.ErrTag) || errors.Is(err, store.ErrTags) {
		return usage("%v", err)
	}
	return err
}

func sessionPrune(w *world) *cobra.Command {
	var older string
	var dry, yes, asJSON bool
	var keep []string
	c := &cobra.Command{
		Use: "prune --older-than DURATION", Short: "Delete the sessions in which nothing was said for a while", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			age, err := span(older)
			if err != nil {
				return err
			}
			db, err := w.store(c.Context())
			if err != nil {
				return err
			}
			all, err := db.Sessions(c.Context(), store.Filter{Before: w.now().Add(-age), Limit: 1 << 30})
			if err != nil {
				return err
			}
			all = without(all, keep)
			if dry {
				return w.wouldPrune(all, asJSON)
			}
			return w.prune(c.Context(), db, all, yes, asJSON)
		},
	}
	c.Flags().StringVar(&older, "older-than", "", "how long nothing was said in it: `DURATION` such as 90d, 12h or 6w")
	c.Flags().StringArrayVar(&keep, "keep-tag", nil, "keep what has this `TAG` (repeatable)")
	c.Flags().BoolVar(&dry, "dry-run", false, "only list what would be deleted")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// without leaves out the sessions that have one of the tags.
func without(all []store.Session, tags []string) []store.Session {
	var rest []store.Session
	for _, s := range all {
		kept := false
		for _, t := range tags {
			kept = kept || strings.Contains(" "+s.Tags+" ", " "+strings.ToLower(strings.TrimPrefix(t, "#"))+" ")
		}
		if !kept {
			rest = append(rest, s)
		}
	}
	return rest
}

func (w *world) wouldPrune(all []store.Session, asJSON bool) error {
	var rows []listed
	for _, s := range all {
		rows = append(rows, list(s, ""))
	}
	return w.showSessions(rows, asJSON, "There is nothing that old.")
}

// prune deletes sessions after asking once. Those that are in use stay.
func (w *world) prune(ctx context.Context, db *store.DB, all []store.Session, yes, asJSON bool) error {
	if len(all) > 0 && !yes {
		ok, err := w.confirm(fmt.Sprintf("Delete %s for good? --dry-run lists them.", count(len(all), "session")))
		if err != nil || !ok {
			return err
		}
	}
	var gone []store.Session
	for _, s := range all {
		err := db.Delete(ctx, s.ID)
		switch {
		case errors.Is(err, store.ErrBusy):
			w.note("%v; it stays", err)
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		default:
			gone = append(gone, s)
		}
	}
	if asJSON {
		return w.wouldPrune(gone, true)
	}
	w.note("%s deleted", count(len(gone), "session"))
	return nil
}

// span is a duration as people say it: also in days and weeks.
func span(s string) (time.Duration, error) {
	bad := usage("--older-than is a duration such as 90d, 12h or 6w, not %q", s)
	if s == "" {
		return 0, usage("say how old: agentx session prune --older-than 90d")
	}
	unit := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	if unit == 0 {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return 0, bad
		}
		return d, nil
	}
	n, err := strconv.ParseFloat(s[:len(s)-1], 64)
	if err != nil || n < 0 || n > 1e5 {
		return 0, bad
	}
	return time.Duration(n * float64(unit)), nil
}
