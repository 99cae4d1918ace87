package sandbox_test

import (
	"encoding/json"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/engine/sandbox"

	"github.com/google/go-cmp/cmp"
)

// These are the names that a client in any language reads. What is read is what
// was written, although the vocabulary of the conversation does not know it
// (F103).
func TestOnTheWire(t *testing.T) {
	for _, c := range []struct {
		data event.Data
		want string
	}{
		{sandbox.FileReadResult{Path: "a/b.txt", Size: 12}, `"type":"file_read_result","timestamp":1000,"data":{"path":"a/b.txt","size":12}`},
		{sandbox.FileWritten{Path: "a < b", Created: true}, `"type":"file_written","timestamp":1000,"data":{"path":"a < b","size":0,"created":true}`},
		{sandbox.FileWritten{Path: "b", Size: 3}, `"type":"file_written","timestamp":1000,"data":{"path":"b","size":3}`},
		{sandbox.FileDeleted{Path: "b"}, `"type":"file_deleted","timestamp":1000,"data":{"path":"b"}`},
		{sandbox.DirectoryListResult{Path: ".", Entries: []sandbox.Entry{}}, `"type":"directory_list_result","timestamp":1000,"data":{"path":".","entries":[]}`},
		{
			sandbox.DirectoryListResult{Path: "src", Entries: []sandbox.Entry{
				{Name: "a.go", Kind: sandbox.IsFile, Size: 7}, {Name: "lib", Kind: sandbox.IsDirectory},
				{Name: "ln", Kind: sandbox.IsLink}, {Name: "pipe", Kind: sandbox.IsOther},
			}},
			`"type":"directory_list_result","timestamp":1000,"data":{"path":"src","entries":[` +
				`{"name":"a.go","type":"file","size":7},{"name":"lib","type":"directory"},{"name":"ln","type":"link"},{"name":"pipe","type":"other"}]}`,
		},
		{
			sandbox.WorkdirError{Operation: sandbox.OpRead, Path: "../x", Code: sandbox.CodeOutside, Message: "outside the work directory"},
			`"type":"workdir_error","timestamp":1000,"data":{"operation":"read","path":"../x","code":"outside","message":"outside the work directory"}`,
		},
		{
			sandbox.MCPServerConnected{ServerName: "files", Version: "1.2", ToolCount: 3},
			`"type":"mcp_server_connected","timestamp":1000,"data":{"serverName":"files","version":"1.2","toolCount":3,"resourceCount":0}`,
		},
		{sandbox.MCPServerDisconnected{ServerName: "files"}, `"type":"mcp_server_disconnected","timestamp":1000,"data":{"serverName":"files"}`},
		{
			sandbox.MCPServerDisconnected{ServerName: "files", Reason: "it died"},
			`"type":"mcp_server_disconnected","timestamp":1000,"data":{"serverName":"files","reason":"it died"}`,
		},
		{
			sandbox.ToolExecuted{ToolID: "call_1", ToolName: "grep", ServerName: "files", DurationMs: 40},
			`"type":"tool_executed","timestamp":1000,"data":{"toolId":"call_1","toolName":"grep","serverName":"files","durationMs":40}`,
		},
		{
			sandbox.ToolExecutionError{ToolID: "call_1", ToolName: "grep", DurationMs: 40, Code: sandbox.CodeNotFound, Message: "not there"},
			`"type":"tool_execution_error","timestamp":1000,"data":{"toolId":"call_1","toolName":"grep","serverName":"","durationMs":40,"code":"not_found","message":"not there"}`,
		},
		{
			sandbox.ResourceReadResult{ServerName: "files", URI: "file:///a", MimeType: "text/plain", Size: 5},
			`"type":"resource_read_result","timestamp":1000,"data":{"serverName":"files","uri":"file:///a","mimeType":"text/plain","size":5}`,
		},
	} {
		line, err := event.Event{At: time.UnixMilli(1000), Data: c.data}.MarshalJSON()
		if want := "{" + c.want + "}"; err != nil || string(line) != want {
			t.Errorf("got  %s (%v)\nwant %s", line, err, want)
			continue
		}
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		u, ok := e.Data.(event.Unknown)
		if !ok {
			t.Errorf("%s is read as %T", c.data.Type(), e.Data)
			continue
		}
		back, err := sandbox.Decode(u)
		if diff := cmp.Diff(c.data, back); diff != "" || err != nil {
			t.Errorf("%s: %v -want +got\n%s", c.data.Type(), err, diff)
		}
		if event.LayerOf(back) != event.NoLayer {
			t.Errorf("%s is taken for a part of the conversation", c.data.Type())
		}
	}
}

func TestDecodeWhatIsNotOurs(t *testing.T) {
	if d, err := sandbox.Decode(event.Unknown{Name: "file_flown", Raw: []byte(`{"path":1}`)}); err != nil || d.Type() != "file_flown" {
		t.Errorf("a type of another world is read as %v, %v", d, err)
	}
	if d, err := sandbox.Decode(event.Unknown{Name: "file_written", Raw: []byte(`{"path":1}`)}); err == nil {
		t.Errorf("a path that is a number is read as %v", d)
	}
}
