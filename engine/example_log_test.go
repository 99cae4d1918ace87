package engine_test

import (
	"context"
	"log/slog"
	"os"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// logging writes every event down: what a driver streams for those who look for
// a fault, what follows from it for everybody.
func logging(log *slog.Logger) engine.Presenter {
	return engine.PresenterFunc(func(ctx context.Context, id event.AgentID, e event.Event) error {
		level := slog.LevelInfo
		if event.LayerOf(e.Data) == event.StreamLayer {
			level = slog.LevelDebug
		}
		log.Log(ctx, level, e.Data.Type(), "agent", id, "data", e.Data)
		return nil
	})
}

// A presenter is shown every event of every layer, one at a time, in order
// (F16, F23, F116).
func ExamplePresenter_log() {
	undated := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: undated}))
	e := engine.Engine{
		Driver:     parrot{},
		Presenters: []engine.Presenter{logging(log)},
		Now:        func() time.Time { return time.UnixMilli(1000) }, // in life: time.Now
	}
	_ = e.Receive(context.Background(), engine.Request{
		Agent: "polly", Message: event.UserMessage{ID: "u1", Content: event.Say("Ahoy"), Timestamp: 1000},
	})
	// Output:
	// {"level":"INFO","msg":"user_message","agent":"polly","data":{"role":"user","id":"u1","content":"Ahoy","timestamp":1000}}
	// {"level":"INFO","msg":"turn_request","agent":"polly","data":{"turnId":"turn_u1","messageId":"u1","content":"Ahoy","timestamp":1000}}
	// {"level":"INFO","msg":"conversation_start","agent":"polly","data":{"messageId":"re_u1"}}
	// {"level":"INFO","msg":"conversation_responding","agent":"polly","data":{}}
	// {"level":"INFO","msg":"assistant_message","agent":"polly","data":{"role":"assistant","id":"re_u1","content":[{"type":"text","text":"Ahoy"}],"timestamp":1000,"model":"parrot-1","stopReason":"end_turn","parentId":"u1"}}
	// {"level":"INFO","msg":"conversation_end","agent":"polly","data":{"reason":"completed"}}
	// {"level":"INFO","msg":"turn_response","agent":"polly","data":{"turnId":"turn_u1","messageId":"u1","durationMs":0,"timeToFirstTokenMs":0,"usage":{"inputTokens":0,"outputTokens":0},"costUsd":null,"model":"parrot-1","stopReason":"end_turn","toolCalls":0,"messages":1,"timestamp":1000,"requests":[{"messageId":"re_u1","model":"parrot-1","usage":{"inputTokens":0,"outputTokens":0},"costUsd":null,"timestamp":1000}]}}
}
