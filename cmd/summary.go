package cmd

import (
	"fmt"
	"strings"
	"time"

	"agentx/engine/event"
)

// summary says what a turn took, in a line.
func (w *world) summary(t event.TurnResponse) string {
	parts := []string{t.Model, (time.Duration(t.DurationMs) * time.Millisecond).Round(10 * time.Millisecond).String()}
	if t.TimeToFirstTokenMs != nil {
		parts = append(parts, fmt.Sprintf("first token after %d ms", *t.TimeToFirstTokenMs))
	}
	parts = append(parts, fmt.Sprintf("%d tokens in, %d out", t.Usage.InputTokens+t.Usage.CacheReadTokens+t.Usage.CacheWriteTokens, t.Usage.OutputTokens))
	if t.Usage.CacheReadTokens > 0 {
		parts = append(parts, fmt.Sprintf("%d from cache", t.Usage.CacheReadTokens))
	}
	if t.CostUSD != nil {
		parts = append(parts, "$"+t.CostUSD.String())
	} else {
		parts = append(parts, "cost unknown")
	}
	return strings.Join(parts, ", ")
}
