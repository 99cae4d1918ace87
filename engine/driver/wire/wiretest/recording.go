package wiretest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

// A Recording is an answer that a server once gave, and what an independent
// decoder made of it.
type Recording struct {
	File          string
	API, Provider string
	Status        int
	Headers       map[string]string
	Body          []byte `json:"-"`
	Expected      struct {
		Text, Thinking, Refusal string
		Model, ID               string
		Calls                   []Call       `json:"tool_calls"`
		ServerTools             []ServerTool `json:"server_tools"`
		Citations               int
		StopReason              string `json:"stop_reason"`
		Usage                   json.RawMessage
		Errors                  []json.RawMessage
	}
}

// A Call is what the other decoder took for one. A custom one is of a tool of
// the server's, and one without a name is a piece of that before it.
type Call struct {
	ID, Name  string
	Arguments json.RawMessage
	Raw       string `json:"arguments_raw"`
	Custom    bool
	Signed    bool `json:"thoughtSignature"`
}

// Input is what the tool is called with.
func (c Call) Input() string {
	switch {
	case c.Raw != "":
		return c.Raw
	case len(c.Arguments) > 0 && string(c.Arguments) != "null":
		return string(c.Arguments)
	}
	return "{}"
}

// A ServerTool is one that the server used by itself.
type ServerTool struct {
	Type, Name string
	Input      string `json:"input_raw"`
}

// Recordings are those of some APIs in the directory that AGENTX_RECORDINGS
// names. Without one the test is skipped.
func Recordings(t *testing.T, apis ...string) []Recording {
	t.Helper()
	dir := os.Getenv("AGENTX_RECORDINGS")
	if dir == "" {
		t.Skip("AGENTX_RECORDINGS names no directory of recordings")
	}
	var manifest struct{ Entries []Recording }
	if err := json.Unmarshal(read(t, filepath.Join(dir, "manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(manifest.Entries, func(r Recording) bool { return !slices.Contains(apis, r.API) })
	if len(all) == 0 {
		t.Fatalf("no recording is of %s", strings.Join(apis, " or "))
	}
	for i := range all {
		all[i].Body = read(t, filepath.Join(dir, all[i].File))
	}
	return all
}

// Refused reports whether the server gave no answer, or one that failed.
func (r Recording) Refused() bool { return r.Status != http.StatusOK || len(r.Expected.Errors) > 0 }

// ToolCalls are the expected calls of tools of ours.
func (r Recording) ToolCalls() []Call {
	return slices.DeleteFunc(slices.Clone(r.Expected.Calls), func(c Call) bool { return c.Custom || c.Name == "" })
}

// foreign are the characters of an id that some provider would not take back.
var foreign = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// TestCalls compares calls with those expected.
func (r Recording) TestCalls(t *testing.T, o Outcome) {
	calls, want := o.Content().ToolCalls(), r.ToolCalls()
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d: %+v", len(calls), len(want), calls)
	}
	for i, c := range calls {
		if w := want[i]; c.Name != w.Name || c.ID != foreign.ReplaceAllString(w.ID, "_") || !SameJSON(t, string(c.Input), w.Input()) {
			t.Errorf("call %d: %s %s(%s), want %s %s(%s)", i, c.ID, c.Name, c.Input, w.ID, w.Name, w.Input())
		}
	}
}

// SameJSON reports whether a and b are the same value.
func SameJSON(t *testing.T, a, b string) bool {
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Errorf("%q: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Errorf("%q: %v", b, err)
	}
	return cmp.Equal(x, y)
}

// A Reading is how a driver reads recordings, and what of the expected is told
// in the words of its provider.
type Reading struct {
	Driver func(api string, c *wire.Client) engine.Driver
	Shapes func(body []byte) Shapes
	Exempt map[string]string // recordings that cannot be compared with what is expected, and why
	Stop   func(Recording) event.StopReason
	Usage  func(*testing.T, Recording) event.Usage
	Rest   func(*testing.T, Recording, Outcome) // what is compared besides; nil is Recording.TestCalls
}

// Answered has the engine answer with a recording.
func (k Reading) Answered(r Recording, body func() io.Reader) Outcome {
	c := &wire.Client{Transport: Served{r.Status, r.Headers, body}, Attempts: 1}
	return Ask(context.Background(), k.Driver(r.API, c), engine.Request{})
}

// Test compares what is made of every answer, in whatever shape it arrives, with
// what is expected.
func (k Reading) Test(t *testing.T, recordings []Recording) {
	decoded := 0
	for _, r := range recordings {
		if r.Status != http.StatusOK {
			continue
		}
		if why, ok := k.Exempt[r.File]; ok {
			t.Logf("exempt: %s: %s", r.File, why)
			continue
		}
		decoded++
		for name, body := range k.Shapes(r.Body) {
			t.Run(r.File+"/"+name, func(t *testing.T) { k.compare(t, r, k.Answered(r, body)) })
		}
	}
	t.Logf("%d recordings in %d shapes", decoded, len(k.Shapes(nil)))
}

func (k Reading) compare(t *testing.T, r Recording, o Outcome) {
	if o.Err != nil && o.Stop != event.ToolUse { // nobody runs the tools: then the turn cannot go on
		t.Fatal(o.Err)
	}
	want := r.Expected
	text, got := want.Text+want.Refusal, o.Content().Text()
	if got != text && got != strings.TrimLeft(text, " \n") { // what is blank before a thought is not kept
		t.Errorf("text: %s", cmp.Diff(text, got))
	}
	if diff := cmp.Diff(want.Thinking, o.Content().Thinking()); diff != "" {
		t.Errorf("thinking: %s", diff)
	}
	if stop := k.Stop(r); o.Stop != stop {
		t.Errorf("stop reason %q, want %q", o.Stop, stop)
	}
	if diff := cmp.Diff(k.Usage(t, r), o.Usage); diff != "" {
		t.Errorf("usage: %s", diff)
	}
	if k.Rest == nil {
		r.TestCalls(t, o)
	} else {
		k.Rest(t, r, o)
	}
}

// TestRefusals checks that no recorded refusal is mistaken for an answer, and
// hands over what each becomes.
func (k Reading) TestRefusals(t *testing.T, recordings []Recording, check func(*testing.T, Recording, *engine.Fault)) {
	for _, r := range recordings {
		if !r.Refused() {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			o := k.Answered(r, Whole(r.Body))
			if o.Err == nil {
				t.Fatal("no error")
			}
			t.Logf("%d → %s: %s", r.Status, o.Fault.Code, o.Fault.Message)
			check(t, r, o.Fault)
		})
	}
}
