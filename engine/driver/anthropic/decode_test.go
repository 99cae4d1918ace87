package anthropic

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

// fresh is a decoder of an answer that has not begun.
func fresh() wire.Decoder { return newDecoder(wire.Call{Provider: "P"}, "asked") }

func TestStreams(t *testing.T) { wiretest.TestStreams(t, fresh) }

func FuzzDecode(f *testing.F) { wiretest.Fuzz(f, fresh) }

// TestManyAsides tells no more of them than anybody reads, and of a long input
// no more than its beginning.
func TestManyAsides(t *testing.T) {
	var b strings.Builder
	tool := func(name, input string) {
		fmt.Fprintf(&b, `data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","name":%q}}`+"\n\n", name)
		for piece := range slices.Chunk([]byte(input), 1000) {
			fmt.Fprintf(&b, `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`+"\n\n", piece)
		}
		b.WriteString(`data: {"type":"content_block_stop","index":0}` + "\n\n")
	}
	long := strings.Repeat("x", 100_000)
	tool("bash_code_execution", `{"command":"ls","file_text":"`+long+`","path":"`+long+`"}`)
	tool("code_execution", `{"code":"`+long+`"}`)
	for i := range 300 {
		tool("web_search", fmt.Sprintf(`{"query":"%d %s"}`, i, long[:1000]))
	}
	var told []event.Aside
	events, err := wiretest.Decode(fresh(), []byte(b.String()))
	for _, e := range events {
		if a, ok := e.(event.Aside); ok {
			if len(a.Text) > 500 {
				t.Errorf("%d bytes: %s", len(a.Text), a.Text)
			}
			told = append(told, a)
		}
	}
	if err != nil || len(told) != 200 || told[0].Text != "ls" || told[1].Text != "code_execution" || !strings.HasPrefix(told[199].Text, "197 x") {
		t.Errorf("%d asides, error %v: %.500v", len(told), err, told)
	}
}
