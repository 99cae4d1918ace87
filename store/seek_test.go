package store

import (
	"fmt"
	"testing"

	"agentx/engine/event"
)

// Words are found in a part of a session, from either end of it: those of the
// user and of the model, and none of other sessions.
func TestSeek(t *testing.T) {
	db := fresh(t)
	for _, id := range []event.SessionID{"one", "two"} {
		begin(t, db, id)
		for n, text := range []string{"beans", "corn", "beans and squash"} {
			tell(t, db, id, fmt.Sprint("u", n), string(id)+" "+text, hello(fmt.Sprint("m", n), "they climb")...)
		}
	}
	seek := func(query string, first, next int64, last bool) string {
		t.Helper()
		seq, err := db.Seek(t.Context(), "one", query, first, next, last)
		if err != nil || seq == 0 {
			return fmt.Sprint(err)
		}
		events, _, err := db.Page(t.Context(), "one", seq+1, 1)
		if err != nil || seq < first || seq >= next {
			t.Fatalf("Seek(%q) = %d, %v, not from %d before %d", query, seq, err, first, next)
		}
		switch d := events[0].Data.(type) {
		case event.UserMessage:
			return d.Content.Text()
		case event.AssistantMessage:
			return d.Content.Text() + " " + d.ID
		}
		return fmt.Sprintf("%T", events[0].Data)
	}
	_, end, err := db.Page(t.Context(), "one", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	first, err := db.Seek(t.Context(), "one", "beans", 1, end, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query       string
		first, next int64
		last        bool
		want        string
	}{
		{"beans", 1, end, false, "one beans"},
		{"BEANS", 1, end, true, "one beans and squash"},
		{"beans", first + 1, end, false, "one beans and squash"},
		{"squash bea", 1, end, false, "one beans and squash"},
		{"climb", 1, end, true, "they climb m2"},
		{"beans", first, first, false, "<nil>"},
		{"two", 1, end, true, "<nil>"},
		{`" OR *`, 1, end, true, "<nil>"},
	} {
		if got := seek(c.query, c.first, c.next, c.last); got != c.want {
			t.Errorf("Seek(%q, %d, %d, %v) finds %q, want %q", c.query, c.first, c.next, c.last, got, c.want)
		}
	}
}
