package cmd

import (
	"context"
	"encoding/json"
	"os"
	"strconv"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/record"
	"agentx/tui"
	rewind "agentx/tui/replay"
)

// film plays a recording on the terminal.
func (w *world) film(ctx context.Context, r replay, in *record.Reader) error {
	c, err := w.config()
	if err != nil {
		return err
	}
	steps, err := in.All(most)
	if err != nil {
		return err
	}
	withStates(steps)
	profile := w.profile()
	err = tui.PlayFilm(ctx, tui.FilmOptions{
		In: w.stdin, Out: w.stdout, Env: os.Environ(), Film: film(steps), Speed: r.speed, Theme: c.Theme, Wardrobe: wardrobe{w}, Profile: &profile,
	})
	w.tellCut(r.file, in)
	return err
}

// plainly reports whether the terminal, or who reads it, wants lines only.
func (w *world) plainly() bool {
	c, err := w.config()
	return w.dumb() || err == nil && c.ScreenReader
}

// A film is a recording as the screen sees it.
type film []record.Step

func (f film) Len() int { return len(f) }

// Moment is a step. An output that is no event is shown as what it is.
func (f film) Moment(n int) tui.Moment {
	s := f[n]
	m := tui.Moment{Line: s.Line, In: s.In, State: fields(s.State)}
	for _, o := range s.Outs {
		e, err := o.Event()
		if err != nil {
			e = event.Event{At: s.In.At, Data: event.Unknown{Name: "unreadable", Raw: o.Raw}}
		}
		m.Outs = append(m.Outs, e)
	}
	return m
}

// fields are a summary of the machine's state in words.
func fields(raw []byte) []rewind.Field {
	var s engine.Summary
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	cost := "unknown"
	if !s.Unpriced {
		cost = ""
	}
	if s.CostUSD != 0 && !s.Unpriced {
		cost = "$" + s.CostUSD.String()
	}
	return []rewind.Field{
		{Value: s.Phase}, {Name: "message", Value: s.MessageID},
		{Name: "parts", Value: number(int64(s.Parts))}, {Name: "bytes", Value: number(int64(s.Bytes))},
		{Name: "calls being written", Value: number(int64(s.Open))}, {Name: "calls at work", Value: number(int64(s.Waiting))},
		{Name: "messages", Value: number(int64(s.Messages))}, {Name: "calls", Value: number(int64(s.Calls))},
		{Name: "tokens in", Value: number(s.Usage.InputTokens)}, {Name: "out", Value: number(s.Usage.OutputTokens)},
		{Name: "cost", Value: cost},
	}
}

// withStates fills in where the machine stood, where a recording does not say.
func withStates(steps []record.Step) {
	var m record.Machine
	for i, s := range steps {
		if s.State == nil {
			steps[i].State, _ = json.Marshal(m.Play(s).State.Summary()) // numbers and words can always be written
		}
	}
}
