package cmd

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/config"
	"agentx/engine/driver/ollama"
)

// TestWhoIsSpokenToHow asks every kind of provider one question, and looks at
// where it arrives, and with which key.
func TestWhoIsSpokenToHow(t *testing.T) {
	var asked *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		asked, body = r, string(b)
		http.NotFound(w, r)
	}))
	defer server.Close()
	for _, test := range []struct {
		story, model string
		vars         []string // NAME=path below the server
		file         string
		path, header string // what arrives; the header has the key
		says         string // in the body
	}{
		{"Anthropic", "anthropic/claude-sonnet-4-5", []string{"ANTHROPIC_BASE_URL="}, "", "/v1/messages", "X-Api-Key", `"max_tokens":`},
		{"who stands in for OpenAI", "openai/gpt-5", []string{"OPENAI_BASE_URL=/v1"}, "", "/v1/chat/completions", "Authorization", `"messages":`},
		{"and speaks as it does", "openai/gpt-5", []string{"OPENAI_BASE_URL=/v1"}, "[providers.openai]\nprotocol = 'responses'", "/v1/responses", "Authorization", `"summary":"auto"`},
		{"Gemini", "gemini/gemini-3.5-flash", []string{"GEMINI_BASE_URL="}, "", "/v1beta/models/gemini-3.5-flash:streamGenerateContent", "X-Goog-Api-Key", `"contents":`},
		{"Gemini in another dialect", "gemini/gemini-3.5-flash", []string{"GEMINI_BASE_URL=/v1beta/openai"}, "", "/v1beta/openai/chat/completions", "Authorization", `"messages":`},
		{"Ollama", "ollama/llama3.2", []string{"OLLAMA_HOST="}, "", "/api/chat", "", `"truncate":false`},
		{"Ollama in another dialect", "ollama/llama3.2", []string{"OLLAMA_HOST="}, "[providers.ollama]\nprotocol = 'openai'", "/v1/chat/completions", "", `"messages":`},
		{"one's own", "lab/m", nil, "[providers.lab]\nbase_url = 'SERVER/x'\nprotocol = 'ollama'\nkey_env = 'LAB_KEY'", "/x/api/chat", "Authorization", `"messages":`},
	} {
		t.Run(test.story, func(t *testing.T) {
			home := t.TempDir()
			for _, name := range []string{"ANTHROPIC", "OPENAI", "GEMINI"} {
				t.Setenv(name+"_API_KEY", "key-0123456789")
				t.Setenv(name+"_BASE_URL", "")
			}
			t.Setenv("LAB_KEY", "key-0123456789")
			t.Setenv("AGENTX_HOME", home)
			for _, v := range test.vars {
				name, path, _ := strings.Cut(v, "=")
				t.Setenv(name, server.URL+path)
			}
			file := filepath.Join(home, "c.toml")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(test.file, "SERVER", server.URL)), 0o600); err != nil {
				t.Fatal(err)
			}
			asked, body = nil, ""
			said, code := here(t, "--config", file, "--no-save", "-m", test.model, "-p", "hi")
			if code == 0 || asked == nil {
				t.Fatalf("exit code %d, nobody was asked: %s", code, said)
			}
			if asked.URL.Path != test.path || test.header != "" && !strings.Contains(asked.Header.Get(test.header), "key-0123456789") {
				t.Errorf("asked %s with %v, want %s with %s", asked.URL.Path, asked.Header, test.path, test.header)
			}
			if !json.Valid([]byte(body)) || !strings.Contains(body, test.says) {
				t.Errorf("%s: want %s in it", body, test.says)
			}
		})
	}
}

// here runs Main in this process, and returns what it said on both its outputs.
func here(t *testing.T, args ...string) (string, int) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	code := Main(t.Context(), args, in, out, out)
	said, _ := os.ReadFile(out.Name())
	return string(said), code
}

// TestPatience gives a local server the time to load a model, unless somebody
// has said how long a silence may be.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		protocol      config.Protocol
		set           string
		begin, within time.Duration
	}{
		{config.OpenAI, "", 0, 2 * time.Minute},
		{config.Ollama, "", ollama.Patience, ollama.Patience},
		{config.OpenAI, "30m", 30 * time.Minute, 30 * time.Minute},
		{config.Ollama, "5s", 5 * time.Second, 5 * time.Second},
	} {
		t.Setenv("AGENTX_HOME", t.TempDir())
		t.Setenv("AGENTX_TIMEOUT", test.set)
		w := newWorld(nil, nil, os.Stderr)
		c, err := w.config()
		if err != nil {
			t.Fatal(err)
		}
		who := caller{world: w, config: c, choice: config.Choice{Provider: config.Provider{Protocol: test.protocol}}}
		if begin, within := who.patience(); begin != test.begin || within != test.within {
			t.Errorf("%+v: %v, then %v", test, begin, within)
		}
	}
}
