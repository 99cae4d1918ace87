package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAPipeThatNeverEnds: a prompt that was given goes without a stdin on which
// nothing comes, and waits for one on which something does. What is itself the
// prompt is waited for.
func TestAPipeThatNeverEnds(t *testing.T) {
	for _, c := range []struct {
		name       string
		hasty      bool
		says, ends time.Duration // 0 is never
		want       string
		took       time.Duration
	}{
		{name: "nothing comes", hasty: true, want: "", took: silence},
		{name: "it is closed late", hasty: true, ends: 5 * time.Second, want: "", took: 5 * time.Second},
		{name: "a slow command", hasty: true, says: 9 * time.Second, ends: time.Hour, want: "made", took: time.Hour},
		{name: "it is the prompt", says: time.Minute, ends: time.Hour, want: "made", took: time.Hour},
		{name: "it never is", took: 24 * time.Hour, want: "given up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), 24*time.Hour, fmt.Errorf("given up"))
				defer cancel()
				in, out := io.Pipe()
				defer out.Close()
				if c.says > 0 {
					time.AfterFunc(c.says, func() { _, _ = io.WriteString(out, "made") })
				}
				if c.ends > 0 {
					time.AfterFunc(c.ends, func() { out.Close() })
				}
				var notes []string
				start := time.Now()
				data, err := await(ctx, in, c.hasty, func(f string, a ...any) { notes = append(notes, fmt.Sprintf(f, a...)) })
				got := string(data)
				if err != nil {
					got = err.Error()
				}
				if took := time.Since(start); got != c.want || took != c.took {
					t.Errorf("%q after %v, want %q after %v", got, took, c.want, c.took)
				}
				if said := strings.Join(notes, "\n"); !strings.Contains(said, "waiting for the end") || strings.Contains(said, "goes without it") != (c.took == silence) {
					t.Errorf("it said %q", said)
				}
			})
		})
	}
}
