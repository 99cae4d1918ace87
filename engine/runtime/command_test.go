package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"

	"github.com/google/go-cmp/cmp"
)

// These are the lines that a client in any language sends and waits for (F106).
func TestCommandsOnTheWire(t *testing.T) {
	var j runtime.Memory
	w := open(t, &j)
	home := w.Container("home")
	a := home.Run(runtime.Definition{Name: "helper", Driver: say("Hi"), Model: "mock", System: "Be kind."}, "s")
	_ = a.ReceiveMessage(t.Context(), event.UserMessage{ID: "m", Content: event.Say("1 < 2")})
	a.Interrupt(event.ByUser)
	_ = a.Destroy(t.Context())
	_ = a.ReceiveMessage(t.Context(), event.UserMessage{ID: "n", Content: event.Say("hello?")})
	_ = w.Close(t.Context())
	home.Run(runtime.Definition{Name: "late"}, "s")

	var got []string
	for _, e := range w.told {
		if e.Source == bus.Agent {
			continue
		}
		line, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var wire struct {
			Type string
			Data json.RawMessage
		}
		if err := json.Unmarshal(line, &wire); err != nil {
			t.Fatal(err)
		}
		got = append(got, wire.Type+" "+string(wire.Data))
	}
	want := `
container_create_request {"containerId":"home"}
container_created {"containerId":"home"}
container_create_response {"requestId":"req_1","containerId":"home"}
agent_run_request {"containerId":"home","config":{"name":"helper","systemPrompt":"Be kind.","model":"mock"},"sessionId":"s"}
agent_registered {"containerId":"home","agentId":"agent_1"}
agent_run_response {"requestId":"req_2","containerId":"home","agentId":"agent_1","sessionId":"s"}
agent_receive_request {"agentId":"agent_1","content":"1 < 2","messageId":"m"}
message_persisted {"sessionId":"s","messageId":"m","savedAt":1010}
connected {"model":"mock"}
message_persisted {"sessionId":"s","messageId":"re:Hi","savedAt":1016}
disconnected {}
agent_receive_response {"requestId":"req_3","agentId":"agent_1","turnId":"turn_m"}
agent_interrupt_request {"agentId":"agent_1","reason":"user"}
agent_interrupt_response {"requestId":"req_4","agentId":"agent_1"}
agent_destroy_request {"agentId":"agent_1"}
agent_unregistered {"containerId":"home","agentId":"agent_1"}
agent_destroy_response {"requestId":"req_5","agentId":"agent_1","success":true}
agent_receive_request {"agentId":"agent_1","content":"hello?","messageId":"n"}
system_error {"message":"agent_receive failed","severity":"error","details":"the agent is destroyed"}
agent_receive_response {"requestId":"req_6","error":"the agent is destroyed","errorCode":"destroyed","agentId":"agent_1","turnId":"turn_n"}
container_destroyed {"containerId":"home"}
agent_run_request {"containerId":"home","config":{"name":"late"},"sessionId":"s"}
system_error {"message":"agent_run failed","severity":"error","details":"runtime: the container is destroyed"}
agent_run_response {"requestId":"req_7","error":"runtime: the container is destroyed","errorCode":"destroyed","containerId":"home","agentId":"agent_2","sessionId":"s"}`
	if diff := cmp.Diff(strings.Split(want[1:], "\n"), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
