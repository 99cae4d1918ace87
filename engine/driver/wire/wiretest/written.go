package wiretest

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

// TestWritten asks with one conversation after the other, or with what has become
// of the last: it goes on, is taken back to somewhere, said otherwise, summed up,
// or another model is asked. What the client has written before changes no byte of
// a request; several may be written at once.
func TestWritten(t *testing.T, models []string, signatures []string, encode func(*wire.Client, engine.Request) ([]byte, error)) {
	rapid.Check(t, func(t *rapid.T) {
		client := new(wire.Client)
		some := History(signatures...)
		req := engine.Request{Model: models[0]}
		same := func(t interface {
			Helper()
			Errorf(string, ...any)
		}) {
			t.Helper()
			got, err := encode(client, req)
			want, wanted := encode(nil, req)
			if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wanted) {
				t.Errorf("with what was written before:\n%s %v\nwithout:\n%s %v", got, err, want, wanted)
			}
		}
		place := func(t *rapid.T) int { return rapid.IntRange(0, len(req.History)).Draw(t, "place") }
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { same(t) },
			"goes on": func(t *rapid.T) {
				req.History = append(slices.Clip(req.History), some.Draw(t, "said")...)
			},
			"an exchange": func(t *rapid.T) {
				id := fmt.Sprint("x", len(req.History))
				req.History = append(slices.Clip(req.History), event.UserMessage{ID: id, Content: event.Say("and " + id)},
					event.AssistantMessage{ID: id + "a", Model: req.Model, StopReason: event.EndTurn, Content: event.Parts{event.Text{Text: "so " + id}}})
			},
			"undo": func(t *rapid.T) { req.History = req.History[:place(t)] },
			"said otherwise": func(t *rapid.T) {
				req.History = append(slices.Clip(req.History[:place(t)]), some.Draw(t, "said")...)
			},
			"in the middle": func(t *rapid.T) {
				req.History = slices.Insert(slices.Clone(req.History), place(t), some.Draw(t, "said")...)
			},
			"summed up": func(t *rapid.T) { req.History = some.Draw(t, "summary") },
			"a question": func(t *rapid.T) {
				req.Message = event.UserMessage{Content: rapid.SampledFrom([]event.Content{nil, event.Say("now"), event.Say(" ")}).Draw(t, "question")}
			},
			"another model":  func(t *rapid.T) { req.Model = rapid.SampledFrom(models).Draw(t, "model") },
			"another system": func(t *rapid.T) { req.System = rapid.SampledFrom([]string{"", "be kind"}).Draw(t, "system") },
			"a tool": func(t *rapid.T) {
				req.Tools = rapid.SampledFrom([][]engine.Tool{nil, {{Name: "look"}}}).Draw(t, "tools")
			},
			"two at once": func(t *rapid.T) {
				var both sync.WaitGroup
				for range 2 {
					both.Go(func() { same(t) })
				}
				both.Wait()
			},
		})
	})
}

// BenchmarkWritten measures a request with a short and a long past: by a client
// that has written the one before it, and by one that has not.
func BenchmarkWritten(b *testing.B, model string, encode func(*wire.Client, engine.Request) ([]byte, error)) {
	for _, n := range []int{100, 10_000} {
		req := engine.Request{Model: model, Message: event.UserMessage{ID: "now", Content: event.Say("And now?")}}
		for i := range n / 2 {
			id := fmt.Sprint("u", i)
			req.History = append(req.History, event.UserMessage{ID: id, Content: event.Say("hello, what is it")},
				event.AssistantMessage{ID: "a" + id, ParentID: id, Model: model, StopReason: event.EndTurn, Content: event.Parts{event.Text{Text: string(bytes.Repeat([]byte("omicron chi \"token\" gamma — kappa\n"), 22))}}})
		}
		for name, client := range map[string]*wire.Client{"written": new(wire.Client), "anew": nil} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					body, err := encode(client, req)
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(len(body)))
				}
			})
		}
	}
}
