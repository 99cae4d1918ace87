package cmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"

	"agentx/config"
	"agentx/tui/text"

	"pgregory.net/rapid"
)

// catalogue is what servers answer that are asked for their models. The first
// word of the path says who they are.
func catalogue(w http.ResponseWriter, r *http.Request) {
	who, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	switch who {
	case "models":
		offering(w, "data", model{"id": "gpt-5.5"}, model{"id": "brand-new"}, model{"id": "brand-new"})
	case "claude":
		sheets(w, r)
	case "google":
		offering(w, "models",
			model{"name": "models/gemini-3.5-flash", "displayName": "Flash", "supportedGenerationMethods": []string{"generateContent"}},
			model{"name": "models/embedder", "supportedGenerationMethods": []string{"embedContent"}})
	case "llama":
		llama(w, r, path)
	case "hostile":
		offering(w, "data", model{"id": "fine", "name": "red \x1b[31mname\u202e"}, model{"id": "evil\x1b]52;c;ZXZpbA==\a"}, model{"id": " "}, model{"id": ""},
			model{"id": "\u009b2J"}, model{"id": strings.Repeat("x", 1000)}, model{"id": strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")})
	case "refuses":
		fails(w, r, "auth")
	case "busy":
		fails(w, r, "quota")
	case "page":
		fmt.Fprint(w, "<html>Welcome</html>")
	case "silent":
		<-r.Context().Done()
	case "router":
		if path == "key" && !strings.HasSuffix(r.Header.Get("Authorization"), "good") {
			fails(w, r, "auth")
			return
		}
		offering(w, "data", model{"id": "openrouter/auto"})
	default:
		http.NotFound(w, r)
	}
}

type model map[string]any

func offering(w http.ResponseWriter, under string, models ...model) {
	_ = json.NewEncoder(w).Encode(map[string]any{under: models})
}

// sheets is Anthropic's list, in two pages.
func sheets(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Api-Key") == "" {
		fails(w, r, "auth")
		return
	}
	if r.URL.Query().Get("after_id") == "" {
		fmt.Fprint(w, `{"data":[{"id":"claude-sonnet-5","display_name":"Sonnet"}],"has_more":true,"last_id":"claude-sonnet-5"}`)
		return
	}
	fmt.Fprint(w, `{"data":[{"id":"claude-next","display_name":"Next"}],"has_more":false}`)
}

// llama is an Ollama server.
func llama(w http.ResponseWriter, r *http.Request, path string) {
	if path == "api/tags" {
		offering(w, "models", model{"name": "tiny:latest", "details": model{"parameter_size": "1B", "quantization_level": "Q4"}})
		return
	}
	fmt.Fprint(w, `{"capabilities":["completion","vision","tools"],"model_info":{"general.architecture":"t","t.context_length":4096}}`)
}

// Nothing that is listed, shown or examined is asked of anybody, but where that
// is what somebody wants.
func TestNobodyIsAskedUnasked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		provider(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("agentx", args...)
		cmd.Dir = home
		cmd.Env = []string{
			"HOME=" + home, "OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=sk-test", "ANTHROPIC_BASE_URL=" + server.URL + "/v1/claude", "ANTHROPIC_API_KEY=sk-ant-test",
			"OLLAMA_HOST=" + server.URL + "/v1/llama", "HTTPS_PROXY=" + server.URL, "HTTP_PROXY=" + server.URL, atOnce,
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("agentx %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, args := range [][]string{
		{"model", "list"}, {"model", "list", "--all", "--json"}, {"model", "list", "openai"}, {"model", "show", "openai"}, {"model", "show", "anthropic", "--json"},
		{"model", "show", "ollama/tiny"}, {"doctor"}, {"doctor", "--json"}, {"key", "list"}, {"config", "show"},
	} {
		run(args...)
		if n := asked.Swap(0); n != 0 {
			t.Errorf("agentx %s asks %d times", strings.Join(args, " "), n)
		}
	}
	for _, args := range [][]string{{"model", "list", "--live", "openai"}, {"model", "show", "--live", "anthropic"}, {"doctor", "--online"}} {
		if out := run(args...); asked.Swap(0) == 0 {
			t.Errorf("agentx %s asks nobody:\n%s", strings.Join(args, " "), out)
		}
	}
}

// Each of these servers answers when all have been asked.
func TestServersAreAskedAtOnce(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"model", "list", "--live"}, {"doctor", "--online"}} {
		var all sync.WaitGroup
		all.Add(3)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			all.Done()
			all.Wait()
			offering(w, "data", model{"id": "here"})
		}))
		defer server.Close()
		home := t.TempDir()
		file := "model = 'a/here'\n"
		for _, name := range []string{"a", "b", "c"} {
			file += fmt.Sprintf("[providers.%s]\nbase_url = '%s/%s'\n", name, server.URL, name)
		}
		if err := os.WriteFile(home+"/agentx.toml", []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("agentx", append(args, "--config", home+"/agentx.toml")...)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, atOnce}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("agentx %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		for _, name := range []string{"a", "b", "c"} {
			if !strings.Contains(string(out), name+"/here ") && !strings.Contains(string(out), name+": ok in ") {
				t.Errorf("agentx %s: %s has not answered:\n%s", strings.Join(args, " "), name, out)
			}
		}
	}
}

// Whatever servers call their models, what is shown can be typed, stands on one
// line and holds no key.
func TestNamesFromOutside(t *testing.T) {
	const key = "sk-secretkey0123456789"
	secret, err := config.NewSecret("test", key)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	w.keep(secret)
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom(append(hostile, key, " ", "gpt", "/", "\n", "a-b:c")))
	rapid.Check(t, func(t *rapid.T) {
		var models []offered
		for range rapid.IntRange(0, 20).Draw(t, "models") {
			id := strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "id"), "")
			models = append(models, offered{id: id, name: piece.Draw(t, "name"), abilities: rapid.SliceOf(piece).Draw(t, "abilities")})
		}
		distinct := map[string]bool{}
		for _, m := range models {
			distinct[m.id] = true
		}
		shown, left := w.presentable(models)
		if len(shown)+left != len(distinct) {
			t.Errorf("of %d models %d are shown and %d left out", len(distinct), len(shown), left)
		}
		last := ""
		for _, m := range shown {
			if m.id <= last || len(m.id) > longestModel || strings.TrimSpace(m.id) != m.id {
				t.Errorf("%q is shown behind %q", m.id, last)
			}
			last = m.id
			for _, s := range append(m.abilities, m.id, m.name) {
				if strings.ContainsFunc(s, unicode.IsControl) || strings.Contains(s, key) || text.Line(s) != s {
					t.Errorf("%q is shown", s)
				}
			}
		}
	})
}
