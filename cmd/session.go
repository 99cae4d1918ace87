package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/store"
	"agentx/tui/markdown"
	"agentx/tui/text"

	"github.com/spf13/cobra"
)

func sessionCommand(w *world) *cobra.Command {
	c := &cobra.Command{
		Use: "session", Aliases: []string{"sessions"}, Short: "List, show, search, rename, tag, fork, export, import and remove sessions",
		Args: cobra.ArbitraryArgs, RunE: needsVerb,
	}
	c.AddCommand(sessionList(w), sessionShow(w), sessionSearch(w), sessionRename(w), sessionTag(w),
		sessionFork(w), sessionTree(w), sessionExport(w), sessionImport(w), sessionRemove(w), sessionPrune(w))
	return c
}

// listed is a session as JSON.
type listed struct {
	ID          event.SessionID `json:"id"`
	Title       string          `json:"title"`
	Model       string          `json:"model"`
	Dir         string          `json:"dir"`
	ParentID    event.SessionID `json:"parent_id,omitempty"`
	Created     time.Time       `json:"created"`
	Updated     time.Time       `json:"updated"`
	Messages    int             `json:"messages"`
	Usage       resultUsage     `json:"usage"`
	CostUSD     *event.USD      `json:"cost_usd"`
	Interrupted bool            `json:"interrupted"`
	Branches    int             `json:"branches"`
	Tags        []string        `json:"tags,omitempty"`
	Snippet     string          `json:"snippet,omitempty"`
}

func list(s store.Session, snippet string) listed {
	return listed{
		ID: s.ID, Title: s.Title, Model: s.Model, Dir: s.Dir, ParentID: s.ParentID, Created: s.Created, Updated: s.Updated,
		Messages: s.Messages, CostUSD: s.Cost, Interrupted: s.Interrupted, Snippet: snippet,
		Usage: resultUsageOf(s.Usage), Branches: s.Branches, Tags: strings.Fields(s.Tags),
	}
}

func sessionList(w *world) *cobra.Command {
	var asJSON, here bool
	var limit int
	var tag string
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List sessions, the last used first", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return usage("--limit is a number of sessions, or 0 for all, not %d", limit)
			}
			db, err := w.reader(c.Context())
			if err != nil {
				return err
			}
			f := store.Filter{Limit: limit}
			if here {
				f.Dir = absolute(w.dir)
			}
			if tag != "" {
				if f.Tag, err = store.TagOf(tag); err != nil {
					return badTag(err)
				}
			}
			all, err := db.Sessions(c.Context(), f)
			if err != nil {
				return err
			}
			var rows []listed
			for _, s := range all {
				rows = append(rows, list(s, ""))
			}
			return w.showSessions(rows, asJSON, "There is no session yet. Begin one with `agentx`.")
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&here, "here", false, "only sessions of this folder")
	c.Flags().StringVar(&tag, "tag", "", "only sessions that have this `TAG`")
	c.Flags().IntVar(&limit, "limit", 50, "at most `N` of them; 0 for all")
	return c
}

func sessionSearch(w *world) *cobra.Command {
	var asJSON bool
	var limit int
	c := &cobra.Command{
		Use: "search WORDS...", Aliases: []string{"find"}, Short: "Search what was said", Args: some("the words to look for"),
		RunE: func(c *cobra.Command, args []string) error {
			words := strings.TrimSpace(strings.Join(args, " "))
			switch {
			case words == "":
				return usage("`%s` needs the words to look for", c.CommandPath())
			case limit < 1:
				return usage("--limit is a number of sessions, not %d", limit)
			}
			db, err := w.reader(c.Context())
			if err != nil {
				return err
			}
			hits, err := db.Search(c.Context(), words, limit)
			if err != nil {
				return err
			}
			var rows []listed
			for _, h := range hits {
				rows = append(rows, list(h.Session, h.Snippet))
			}
			return w.showSessions(rows, asJSON, "Nothing that was said has these words.")
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().IntVar(&limit, "limit", 20, "at most `N` of them")
	return c
}

// showSessions prints a table, or JSON.
func (w *world) showSessions(rows []listed, asJSON bool, none string) error {
	if asJSON {
		if rows == nil {
			rows = []listed{}
		}
		return writeLine(w.stdout, rows)
	}
	if len(rows) == 0 {
		w.note("%s", none)
		return nil
	}
	t := table{width: w.tableWidth()}
	t.row("ID", "UPDATED", "MSGS", "COST", "MODEL", "TITLE")
	for _, s := range rows {
		title := s.Title
		if s.Interrupted {
			title += " (interrupted)"
		}
		if s.Branches > 1 {
			title += fmt.Sprintf(" (%d branches)", s.Branches)
		}
		for _, tag := range s.Tags {
			title += " #" + tag
		}
		t.row(shortID(s.ID), ago(s.Updated), fmt.Sprint(s.Messages), cost(s.CostUSD), s.Model, title)
		if s.Snippet != "" {
			t.note(s.Snippet)
		}
	}
	return t.print(w.stdout)
}

// shortID is as much of an id as a person needs: the rest is only there to make
// it unique for ever.
func shortID(id event.SessionID) string {
	if len(id) > 8 {
		return string(id[:8])
	}
	return string(id)
}

// cost is an amount for people.
func cost(a *event.USD) string {
	switch {
	case a == nil:
		return "unknown"
	case *a == 0:
		return "$0"
	case *a < event.Dollar/100:
		return fmt.Sprintf("$%.4f", a.Dollars())
	}
	return fmt.Sprintf("$%.2f", a.Dollars())
}

// ago says how long ago something was.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 7*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(d.Hours()/24))
	}
	return t.Local().Format("2006-01-02")
}

func sessionShow(w *world) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show ID|TITLE", Short: "Show what was said in a session", Args: exactly("the ID or title of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			s, events, err := w.sessionEvents(c.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return exportJSON(w.stdout, s, events)
			}
			return w.show(func(out io.Writer) error { return exportMarkdown(out, s, events) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines: the session, then its events")
	return c
}

// show prints what was said: rendered on a terminal, as markdown elsewhere.
func (w *world) show(write func(io.Writer) error) error {
	if !isTerminal(w.stdout) {
		return write(visible{w.stdout})
	}
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	lines := markdown.Render(b.String(), min(w.width(), 100), w.theme())
	_, err := io.WriteString(w.colored(w.stdout), strings.Join(lines, "\n")+"\n")
	return err
}

func sessionExport(w *world) *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use: "export ID|TITLE", Short: "Write a session as markdown or JSON lines", Args: exactly("the ID or title of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "md" && format != "json" {
				return usage("--format is md or json, not %q", format)
			}
			s, events, err := w.sessionEvents(c.Context(), args[0])
			if err != nil {
				return err
			}
			write := exportMarkdown
			if format == "json" {
				write = exportJSON
			}
			if output != "" {
				return toNewFile(output, func(out io.Writer) error { return write(out, s, events) })
			}
			var out io.Writer = w.stdout
			if isTerminal(w.stdout) {
				out = visible{w.stdout}
			}
			return write(out, s, events)
		},
	}
	c.Flags().StringVar(&format, "format", "md", "`FORMAT`: md or json")
	c.Flags().StringVarP(&output, "output", "O", "", "write a new `FILE` instead of stdout")
	return c
}

func sessionRename(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "rename ID|TITLE NEW-TITLE", Short: "Give a session another title", Args: exactly("the ID or title of a session", "a new title"),
		RunE: func(c *cobra.Command, args []string) error {
			db, s, err := w.stored(c.Context(), args[0])
			if err != nil {
				return err
			}
			if strings.TrimSpace(args[1]) == "" {
				return usage("the new title is empty")
			}
			return db.Rename(c.Context(), s.ID, args[1])
		},
	}
}

func sessionFork(w *world) *cobra.Command {
	var title string
	c := &cobra.Command{
		Use: "fork ID|TITLE", Short: "Copy a session, and print the ID of the copy", Args: exactly("the ID or title of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			_, s, err := w.stored(c.Context(), args[0])
			if err != nil {
				return err
			}
			client, err := w.client(c.Context())
			if err != nil {
				return err
			}
			to, err := client.Fork(c.Context(), s.ID, "")
			if err == nil && title != "" {
				err = client.Rename(c.Context(), to, title)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(w.stdout, to)
			return err
		},
	}
	c.Flags().StringVarP(&title, "name", "n", "", "`TITLE` of the copy")
	return c
}

func sessionRemove(w *world) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "rm ID|TITLE...", Aliases: []string{"remove", "delete"}, Short: "Delete sessions for good", Args: some("the ID or title of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			db, err := w.store(c.Context())
			if err != nil {
				return err
			}
			doomed, err := findAll(args, func(ref string) (store.Session, error) { return w.namedExactly(c.Context(), db, ref) })
			if err != nil {
				return err
			}
			for _, s := range doomed {
				if err := w.remove(c.Context(), db, s, yes); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// remove deletes a session after asking. The store refuses one that another
// process is using.
func (w *world) remove(ctx context.Context, db *store.DB, s store.Session, yes bool) error {
	if !yes {
		ok, err := w.confirm(fmt.Sprintf("Delete %s %q with %s%s for good?", shortID(s.ID), text.Line(s.Title), count(s.Messages, "message"), onBranches(s)))
		if err != nil || !ok {
			return err
		}
	}
	err := db.Delete(ctx, s.ID)
	if inUse, ok := errors.AsType[*store.InUseError](err); ok {
		return &exit{code: codeStore, err: fmt.Errorf("%w; end that first", inUse)}
	}
	return err
}

// onBranches says that a session is deleted with all its branches.
func onBranches(s store.Session) string {
	if s.Branches < 2 {
		return ""
	}
	return fmt.Sprintf(", and its other branches (%d in all),", s.Branches)
}

// stored is a session that a person names, and where it is kept.
func (w *world) stored(ctx context.Context, ref string) (*store.DB, store.Session, error) {
	db, err := w.store(ctx)
	if err != nil {
		return nil, store.Session{}, err
	}
	s, err := w.named(ctx, db, ref)
	return db, s, err
}

// findAll finds all that a person names, before anything is done to one of them.
func findAll[T any](refs []string, find func(string) (T, error)) ([]T, error) {
	var all []T
	for _, ref := range refs {
		found, err := find(ref)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, nil
}

// sessionEvents reads a session that a person names.
func (w *world) sessionEvents(ctx context.Context, ref string) (store.Session, []event.Event, error) {
	db, err := w.reader(ctx)
	if err != nil {
		return store.Session{}, nil, err
	}
	s, err := w.named(ctx, db, ref)
	if err != nil {
		return s, nil, err
	}
	events, err := db.Events(ctx, s.ID)
	return s, events, err
}
