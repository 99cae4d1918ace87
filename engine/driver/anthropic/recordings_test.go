package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

// TestRecordedAsides finds in each recording the tools of the server's, and
// something that is referred to where there is a citation.
func TestRecordedAsides(t *testing.T) {
	used, cited := 0, 0
	for _, r := range wiretest.Recordings(t, "anthropic") {
		t.Run(r.File, func(t *testing.T) {
			told := asides(r.Body)
			for _, tool := range r.Expected.ServerTools {
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

// asides are those of a recording by their kind.
func asides(body []byte) map[string][]event.Aside {
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
