package cmd

import (
	"fmt"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/store"
	"agentx/tui/text"

	"github.com/spf13/cobra"
)

func sessionTree(w *world) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "tree [ID|TITLE]", Short: "Draw the branches of a session: what was asked on each", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			db, err := w.reader(c.Context())
			if err != nil {
				return err
			}
			var s store.Session
			if len(args) == 0 {
				s, err = w.find(c.Context(), options{last: true})
			} else {
				s, err = w.named(c.Context(), db, args[0])
			}
			if err != nil {
				return err
			}
			all, err := db.Branches(c.Context(), s.ID)
			if err != nil {
				return err
			}
			if asJSON {
				return writeLine(w.stdout, planted(s.ID, all))
			}
			return w.drawTree(s, all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// drawTree prints a line for each message, with the branches that end there.
func (w *world) drawTree(s store.Session, all []engine.Branch) error {
	var b strings.Builder
	for _, r := range engine.Grow(all).Rows(s.ID) {
		mark, ends := "○ ", ""
		if r.On {
			mark = "● "
		}
		for _, id := range r.Ends {
			ends += "  " + shortID(id)
		}
		fmt.Fprintf(&b, "%s%s%s%s\n", r.Lead, mark, text.Line(r.Text), ends)
	}
	if b.Len() == 0 {
		w.note("Nothing was asked in this session yet.")
	}
	_, err := fmt.Fprint(w.stdout, b.String())
	return err
}

// A tree is the branches of a session as JSON.
type tree struct {
	ID       event.SessionID `json:"id"`
	Branches []listed        `json:"branches"` // the last used first
	Messages []leaf          `json:"messages"` // each behind what it follows
}

// A leaf is a message of the user in a tree.
type leaf struct {
	ID       string            `json:"id"`
	ParentID string            `json:"parent_id,omitempty"`
	At       event.Millis      `json:"timestamp"`
	Text     string            `json:"text"`
	Ends     []event.SessionID `json:"branches,omitempty"` // that end with it
}

func planted(id event.SessionID, all []engine.Branch) tree {
	t := tree{ID: id, Branches: []listed{}, Messages: []leaf{}}
	for _, b := range all {
		t.Branches = append(t.Branches, list(b.Session, ""))
	}
	stack := []*engine.Node{engine.Grow(all)}
	for len(stack) > 0 {
		n := stack[0]
		stack = stack[1:]
		for _, below := range n.Below {
			t.Messages = append(t.Messages, leaf{below.ID, n.ID, below.At, below.Text, below.Ends})
		}
		stack = append(stack, n.Below...)
	}
	return t
}

func sessionTag(w *world) *cobra.Command {
	var asJSON bool
	var remove []string
	c := &cobra.Command{
		Use: "tag ID|TITLE [+TAG | -TAG]...", Short: "Give a session tags, or take tags off it", Args: some("the ID or title of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			db, s, err := w.stored(c.Context(), args[0])
			if err != nil {
				return err
			}
			var add []string
			for _, t := range args[1:] {
				add = append(add, strings.TrimPrefix(t, "+"))
			}
			tags, err := db.Tag(c.Context(), s.ID, add, remove)
			if err != nil {
				return badTag(err)
			}
			if asJSON {
				return writeLine(w.stdout, append([]string{}, tags...))
			}
			for _, t := range tags {
				if _, err := fmt.Fprintln(w.stdout, t); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&remove, "remove", nil, "take this `TAG` off it, which -TAG does as well (repeatable)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// withTagsOff spells the tags that are to go, -TAG behind the session that has
// them, as the flag that they would be.
func withTagsOff(args []string) []string {
	at := 0
	for at+2 < len(args) && (!strings.HasPrefix(args[at], "session") || args[at+1] != "tag") {
		at++
	}
	spelled := append([]string{}, args...)
	for i := at + 3; i < len(spelled); i++ {
		tag, off := strings.CutPrefix(spelled[i], "-")
		if off && len(tag) > 1 && tag[0] != '-' || off && len(tag) == 1 && !strings.Contains("qvhn", tag) {
			spelled[i] = "--remove=" + tag
		}
	}
	return spelled
}
