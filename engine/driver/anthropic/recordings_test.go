package anthropic

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

// recording is an answer that a server once gave, and what an independent
// decoder made of it.
type recording struct {
	File     string
	API      string
	Expected struct {
		Tools []struct {
			Type, Name string
			Input      string `json:"input_raw"`
		} `json:"server_tools"`
		Citations int
	}
}

// TestRecordedAsides finds in each recording the tools of the server's, and
// something that is referred to where there is a citation.
func TestRecordedAsides(t *testing.T) {
	dir := os.Getenv("AGENTX_RECORDINGS")
	if dir == "" {
		t.Skip("AGENTX_RECORDINGS names no directory of recordings")
	}
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Entries []json.RawMessage }
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	used, cited := 0, 0
	for _, raw := range manifest.Entries {
		var r recording
		if json.Unmarshal(raw, &r) != nil || r.API != "anthropic" {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			told := r.asides(t, dir)
			for _, tool := range r.Expected.Tools {
				if strings.HasSuffix(tool.Type, "_tool_use") {
					used++
					meets(t, told, tool.Name, tool.Input)
				}
			}
			if r.Expected.Citations > 0 {
				cited++
				if told[event.AsideSource] == nil {
					t.Errorf("no source: %v", told)
				}
			}
		})
	}
	if used == 0 || cited == 0 {
		t.Errorf("%d tools of the server's, %d answers with citations", used, cited)
	}
	t.Logf("%d tools of the server's, %d answers with citations", used, cited)
}

// asides are those of the recording by their kind.
func (r recording) asides(t *testing.T, dir string) map[string][]event.Aside {
	body, err := os.ReadFile(filepath.Join(dir, r.File))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string][]event.Aside{}
	events, _ := wiretest.Decode(fresh(), body) // what came before a failure counts
	for _, e := range events {
		if a, ok := e.(event.Aside); ok {
			told[a.Kind] = append(told[a.Kind], a)
		}
	}
	return told
}

// meets looks for what a tool was used for among the asides.
func meets(t *testing.T, told map[string][]event.Aside, name, input string) {
	var in struct{ Query, URL string }
	_ = json.Unmarshal([]byte(input), &in) // the advisor has none
	kind, want := event.AsideTool, name
	switch {
	case name == "web_search":
		kind, want = event.AsideSearch, in.Query
	case name == "web_fetch":
		kind, want = event.AsideRead, in.URL
	case strings.HasSuffix(name, "code_execution"):
		kind, want = event.AsideCode, ""
	}
	for _, a := range told[kind] {
		if strings.Contains(a.Text, want) || a.URL == want {
			return
		}
	}
	t.Errorf("no %s %q: %v", kind, want, told)
}
