package cmd

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"agentx": func() { os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// atOnce keeps a program that the race detector watches from sleeping for a
// second before it ends.
const atOnce = "GORACE=atexit_sleep_ms=0"

// TestScripts runs shell sessions against the real Main, with an empty home and
// a provider on loopback whose models do what their names say.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "../testdata/scripts",
		Setup: func(e *testscript.Env) error {
			server := httptest.NewServer(http.HandlerFunc(provider))
			e.Defer(server.Close)
			e.Defer(server.CloseClientConnections)
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("PROVIDER", server.URL+"/v1")
			e.Vars = append(e.Vars, atOnce)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":      exitCode,
			"damage":    damage,
			"full":      fullDisk,
			"interrupt": interruptWhen,
			"jsonlines": jsonLines,
			"oneday":    oneDay,
		},
	})
}

// oneDay waits for the next day, in UTC, where this one may end in the script.
func oneDay(*testscript.TestScript, bool, []string) {
	const takes = 3 * time.Minute
	if now := time.Now(); now.Add(takes).UTC().Day() != now.UTC().Day() {
		time.Sleep(takes)
	}
}

// exitCode runs agentx and wants an exit code: code 3 agentx -p hi
func exitCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s: exit code %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// fullDisk runs a command whose output has no room, and wants it to say so.
func fullDisk(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("sh", append([]string{"-c", `"$@" >/dev/full`, "sh"}, args...)...)
	if err == nil || err.Error() != "exit status 74" {
		ts.Fatalf("%s: %v, want exit status 74", strings.Join(args, " "), err)
	}
}

// damage flips a page of a database: its first, or the one with which a table
// begins: damage a.db events
func damage(ts *testscript.TestScript, _ bool, args []string) {
	const page = 4096
	name, root := ts.MkAbs(args[0]), 1
	if args[1] != "first" {
		db, err := sql.Open("sqlite", name)
		ts.Check(err)
		ts.Check(db.QueryRow(`SELECT rootpage FROM sqlite_schema WHERE name = ?`, args[1]).Scan(&root))
		ts.Check(db.Close())
	}
	bytes, err := os.ReadFile(name)
	ts.Check(err)
	for i := (root - 1) * page; i < root*page; i++ {
		bytes[i] ^= 0xa5
	}
	ts.Check(os.WriteFile(name, bytes, 0o600))
}

// jsonLines wants every line of stdout to be a JSON object.
func jsonLines(ts *testscript.TestScript, _ bool, _ []string) {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("%v in %q", err, line)
		}
	}
}

// interruptWhen sends SIGINT, or what else is asked for, to the programs in the
// background, when an answer has begun in a file: interrupt said QUIT. TWICE
// sends it again at once, as timeout(1) and wrappers do that signal a program
// and then its group.
func interruptWhen(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if said, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && strings.Contains(string(said), "The beginning") {
			break
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no answer is in %s", args[0])
		}
	}
	var signal os.Signal = os.Interrupt
	switch {
	case slices.Contains(args, "QUIT"):
		signal = syscall.SIGQUIT
	case slices.Contains(args, "TERM"):
		signal = syscall.SIGTERM
	}
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(signal))
		if slices.Contains(args, "TWICE") {
			time.Sleep(2 * time.Millisecond) // at the same time they would be one
			ts.Check(cmd.Process.Signal(signal))
		}
	}
}

// patience is how long a story waits for anything: a machine may be slow, and
// only what never comes is wrong.
const patience = 2 * time.Minute

// hostile is what no model may do to a terminal.
var hostile = []string{
	"\x1b]52;c;ZXZpbA==\x07", "\x1b]0;title\x1b\\", "\x1b[2J", "\x1b[1;1H", "\x1b[?1049h", "\x1b[31m", "\x1bc", "\x1bP$q\x1b\\", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\",
	"\u009b2J", "\u009d0;title\u009c", "\u0090q\u009c", "\a", "\b\b\b", "\r\x1b[A", "\x1b]8;;http://evil.example\x1b\\", "\u202e", "\x00", "\x1b[6n",
}

// provider is a server of Chat Completions, and of lists of models. The model's
// name says what happens.
func provider(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/api/show") {
		catalogue(w, r)
		return
	}
	var req struct {
		Model    string
		Format   json.RawMessage `json:"response_format"`
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if fails(w, r, req.Model) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(s string) {
		text, _ := json.Marshal(s)
		fmt.Fprintf(w, "data: {\"id\":\"c1\",\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", req.Model, text)
		w.(http.Flusher).Flush()
	}
	finish := "stop"
	switch req.Model {
	case "hang":
		say("The beginning")
		<-r.Context().Done()
		return
	case "cut":
		say("The beginning")
		return
	case "overloaded":
		say("The beginning")
		fmt.Fprint(w, "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n")
		return
	case "calls":
		if last := req.Messages[len(req.Messages)-1]; last.Role == "tool" {
			say(fmt.Sprint("\nThe tool said: ", last.Content))
			break
		}
		say("Let me look.")
		fmt.Fprint(w, `data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}]}}]}`, "\n\n")
		finish = "tool_calls"
	case "refuse":
		finish = "content_filter"
	case "mute":
	case "short":
		say("Only so")
		finish = "length"
	case "escape":
		say("red \x1b[31mtext\x1b]52;c;ZXZpbA==\x07")
	case "hostile":
		for _, bad := range hostile {
			say("x" + bad + "y ")
		}
		say("the end of it")
	case "returns":
		say("safe\revil\r")
		say("\nnext\r\n")
		say("last\r")
	case "lines":
		for n := range 3000 {
			say(fmt.Sprintf("line %d of 3000\n\n", n+1))
		}
	case "object":
		if req.Format == nil {
			say("nobody asked for an object")
			break
		}
		say(`{"city":"Oslo"}`)
	case "history":
		for _, m := range req.Messages {
			say(fmt.Sprintf("%s: %v\n", m.Role, m.Content))
		}
	default:
		say(fmt.Sprint("You said: ", req.Messages[len(req.Messages)-1].Content, "\n\n"))
	}
	fmt.Fprintf(w, "data: {\"id\":\"c1\",\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", req.Model, finish)
	fmt.Fprintf(w, "data: {\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n")
}

// fails answers as providers do that do not answer.
func fails(w http.ResponseWriter, r *http.Request, model string) bool {
	var status int
	var body string
	switch model {
	case "auth":
		status, body = 401, "Incorrect API key provided: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	case "quota":
		status, body = 429, "insufficient_quota: You exceeded your current quota"
	case "missing":
		status, body = 404, "The model does not exist"
	case "long":
		status, body = 400, "context_length_exceeded: This model's maximum context length is 10 tokens"
	default:
		return false
	}
	code, _, _ := strings.Cut(body, ":")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": body, "code": code}})
	return true
}
