package config

import (
	"errors"
	"strings"
	"testing"
)

func TestChoiceOfModel(t *testing.T) {
	for _, c := range []struct {
		story string
		vars  []string
		file  string
		name  string
		want  string // provider/model at base URL, or a part of the error
	}{
		{story: "nothing is set", want: "guide/guide at "},
		{story: "one key", vars: []string{"GROQ_API_KEY=k"}, want: "groq/llama-3.3-70b-versatile at https://api.groq.com/openai/v1"},
		{story: "two keys: the order decides", vars: []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k"}, want: "anthropic/claude-sonnet-5 at https://api.anthropic.com"},
		{story: "an empty key is none", vars: []string{"ANTHROPIC_API_KEY=", "OPENAI_API_KEY=k"}, want: "openai/gpt-5.5 at https://api.openai.com/v1"},
		{story: "the second name of a key", vars: []string{"GOOGLE_API_KEY=k"}, want: "gemini/gemini-3.5-flash at https://generativelanguage.googleapis.com by gemini"},
		{story: "variable over file", vars: []string{"AGENTX_MODEL=openai/gpt-4o"}, file: "model = 'anthropic/x'", want: "openai/gpt-4o at https://api.openai.com/v1"},
		{story: "a base URL alone", vars: []string{"OPENAI_BASE_URL=http://127.0.0.1:8080/v1/"}, want: "openai/gpt-5.5 at http://127.0.0.1:8080/v1 by openai"},
		{story: "a base URL and a name of its server", vars: []string{"OPENAI_BASE_URL=http://[::1]:8080"}, name: "qwen", want: "openai/qwen at http://[::1]:8080"},
		{story: "one server that lists nothing may have anything", file: "[providers.lab]\nbase_url = 'http://h/v1'", name: "meta/qwen", want: "lab/meta/qwen at http://h/v1"},
		{story: "of two, none is guessed", vars: []string{"OPENAI_BASE_URL=http://127.0.0.1:1"}, file: "[providers.lab]\nbase_url = 'http://h/v1'", name: "qwen", want: `unknown model "qwen"; which server has it: openai/qwen, lab/qwen?`},
		{story: "anthropic elsewhere", vars: []string{"ANTHROPIC_BASE_URL=http://localhost:1"}, name: "claude-opus-4-5", want: "anthropic/claude-opus-4-5 at http://localhost:1"},
		{story: "ollama has no default", vars: []string{"OLLAMA_HOST=box:1"}, want: "guide/guide"},
		{story: "a listed local model", vars: []string{"OLLAMA_HOST=0.0.0.0"}, file: "[providers.ollama]\nmodels = ['llama3.2']", want: "ollama/llama3.2 at http://127.0.0.1:11434 by ollama"},
		{story: "own provider without key", file: "[providers.lab]\nbase_url = 'http://10.1.2.3/v1'\nmodels = ['big', 'small']", want: "lab/big at http://10.1.2.3/v1"},
		{story: "its bare model", file: "[providers.lab]\nbase_url = 'http://10.1.2.3/v1'\nmodels = ['big', 'small']", name: "small", want: "lab/small at http://10.1.2.3/v1"},
		{story: "own provider with a key command", file: "[providers.lab]\nbase_url = 'https://lab/v1'\nkey_command = 'pass lab'\ndefault_model = 'm'", want: "lab/m at https://lab/v1"},
		{story: "alias of alias", file: "[aliases]\na = 'b'\nb = 'mistral/codestral-latest'", name: "a", want: "mistral/codestral-latest at https://api.mistral.ai/v1"},
		{story: "aliases in a circle", file: "[aliases]\na = 'b'\nb = 'a'", name: "a", want: "leads back to itself"},
		{story: "a provider", name: "deepseek", want: "deepseek/deepseek-flash at https://api.deepseek.com"},
		{story: "a provider without default", name: "ollama", want: "ollama serves many models: name one, as in ollama/NAME"},
		{story: "a bare name of the table", name: "claude-sonnet-4-5-20250929", want: "anthropic/claude-sonnet-4-5-20250929 at https://api.anthropic.com"},
		{story: "a bare name that has slashes", name: "meta-models/Muse-Spark-Open-816B-A42B", want: "together/meta-models/Muse-Spark-Open-816B-A42B"},
		{story: "of two who serve it, the one with a key", vars: []string{"CEREBRAS_API_KEY=k"}, name: "gpt-oss-120b", want: "cerebras/gpt-oss-120b"},
		{story: "a bare name that a reseller with a key has", vars: []string{"OPENROUTER_API_KEY=k"}, name: "gpt-4o", want: "openrouter/openai/gpt-4o at"},
		{story: "a model too new for the table", name: "openai/gpt-99", want: "openai/gpt-99 at https://api.openai.com/v1"},
		{story: "a bare typo", name: "claude-sonet-5", want: `model: unknown model "claude-sonet-5" (did you mean claude-sonnet-5`},
		{story: "a kind of model, as its maker has it", name: "opus", want: "anthropic/claude-opus-5-5 at https://api.anthropic.com"},
		{story: "in any letters", name: "Sonnet", want: "anthropic/claude-sonnet-5-5 at"},
		{story: "at a reseller with a key", vars: []string{"OPENROUTER_API_KEY=k"}, name: "sonnet", want: "openrouter/anthropic/claude-sonnet-5.5 at"},
		{story: "at the maker before a reseller", vars: []string{"OPENROUTER_API_KEY=k", "ANTHROPIC_API_KEY=k"}, name: "sonnet", want: "anthropic/claude-sonnet-5-5 at"},
		{story: "a key for another maker", vars: []string{"OPENAI_API_KEY=k"}, name: "haiku", want: "anthropic/claude-haiku-5-5 at https://api.anthropic.com"},
		{story: "without those of other kinds", name: "gpt", want: "openai/gpt-5.5 at"},
		{story: "without previews", name: "flash", want: "gemini/gemini-3.8-flash at"},
		{story: "what the user calls so", file: "[aliases]\nsonnet = 'openai/gpt-5'", name: "sonnet", want: "openai/gpt-5 at"},
		{story: "an own model that is called so", file: "[providers.lab]\nbase_url = 'https://lab/v1'\nmodels = ['opus']", name: "opus", want: "lab/opus at"},
		{story: "an open server, whatever it has", vars: []string{"OLLAMA_HOST=box"}, name: "opus", want: "ollama/opus at"},
		{story: "its maker before an open server", vars: []string{"OLLAMA_HOST=box", "ANTHROPIC_API_KEY=k"}, name: "opus", want: "anthropic/claude-opus-5-5 at"},
		{story: "a kind's typo", name: "sonet", want: "(did you mean sonnet"},
		{story: "a provider's typo", name: "opnai/x", want: `unknown model "opnai/x" (did you mean openai/x?)`},
		{story: "nonsense", name: "qqqqqqqqqqqqqqqq", want: "unknown model \"qqqqqqqqqqqqqqqq\"; `agentx model list --all` shows those that are known"},
		{story: "escapes", name: "a\x1b[2J", want: "this is no name of a model"},
		{story: "the guide", vars: []string{"OPENAI_API_KEY=k"}, name: "guide", want: "guide/guide at "},
		{story: "a key in the clear", vars: []string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://192.0.2.1"}, want: "OPENAI_BASE_URL: http://192.0.2.1: would send the key unencrypted"},
		{story: "no key, nothing to protect", vars: []string{"OPENAI_BASE_URL=http://192.0.2.1"}, want: "openai/gpt-5.5 at http://192.0.2.1"},
		{story: "a command's key in the clear", file: "[providers.openai]\nbase_url = 'http://192.0.2.1'\nkey_command = 'pass x'", want: "providers.openai.base_url: http://192.0.2.1: would send the key unencrypted"},
		{story: "own provider whose key is not set", file: "[providers.lab]\nbase_url = 'https://lab/v1'\nkey_env = 'LAB_KEY'\ndefault_model = 'm'", want: "guide/guide"},
		{story: "in the clear from the file", file: "[providers.p]\nbase_url = 'http://h'\nkey_env = 'K'", name: "p/m", want: "providers.p.base_url: http://h: would send the key unencrypted"},
		{story: "in the clear without a key", vars: []string{"OLLAMA_HOST=192.0.2.1"}, name: "ollama/m", want: "ollama/m at http://192.0.2.1:11434 by ollama"},
		{story: "OpenAI itself", name: "openai", want: "openai/gpt-5.5 at https://api.openai.com/v1 by responses"},
		{story: "OpenAI in Europe", vars: []string{"OPENAI_BASE_URL=https://EU.api.openai.com/v1"}, name: "openai", want: "at https://eu.api.openai.com/v1 by responses"},
		{story: "who only sounds like OpenAI", vars: []string{"OPENAI_BASE_URL=https://notapi.openai.com/v1"}, name: "openai", want: " by openai"},
		{story: "another server by the file", file: "[providers.openai]\nbase_url = 'https://h/v1'", name: "openai", want: "openai/gpt-5.5 at https://h/v1 by openai"},
		{story: "the file's server speaks Responses", file: "[providers.openai]\nbase_url = 'https://h/v1'\nprotocol = 'responses'", name: "openai", want: "at https://h/v1 by responses"},
		{story: "a variable's server, too", vars: []string{"OPENAI_BASE_URL=https://h/v1"}, file: "[providers.openai]\nprotocol = 'responses'", name: "openai", want: "at https://h/v1 by responses"},
		{story: "OpenAI as it once was", file: "[providers.openai]\nprotocol = 'openai'", name: "openai", want: "at https://api.openai.com/v1 by openai"},
		{story: "Gemini elsewhere", vars: []string{"GEMINI_BASE_URL=https://h/gemini"}, name: "gemini", want: "at https://h/gemini by gemini"},
		{story: "Gemini as settings of old have it", vars: []string{"GEMINI_BASE_URL=https://h/v1beta/openai/"}, name: "gemini", want: "at https://h/v1beta/openai by openai"},
		{story: "and from the file", file: "[providers.gemini]\nbase_url = 'https://h/openai'", name: "gemini", want: "at https://h/openai by openai"},
		{story: "Gemini by the dialect of others", file: "[providers.gemini]\nprotocol = 'openai'", name: "gemini", want: "at https://generativelanguage.googleapis.com/v1beta/openai by openai"},
		{story: "Ollama's address of old", vars: []string{"OLLAMA_HOST=http://box:1/v1"}, name: "ollama/m", want: "ollama/m at http://box:1 by ollama"},
		{story: "and from the file", file: "[providers.ollama]\nbase_url = 'http://box:1/v1'", name: "ollama/m", want: "ollama/m at http://box:1 by ollama"},
		{story: "Ollama as Anthropic", vars: []string{"OLLAMA_HOST=box"}, file: "[providers.ollama]\nprotocol = 'anthropic'", name: "ollama/m", want: "ollama/m at http://box:11434/v1 by anthropic"},
		{story: "a base URL with a password", vars: []string{"OPENAI_BASE_URL=http://me:canary@h"}, name: "openai", want: "OPENAI_BASE_URL: a URL with a user name or password is not accepted"},
		{story: "a base URL that cannot be", vars: []string{"OPENAI_BASE_URL=localhost:8080"}, want: `OPENAI_BASE_URL: "localhost:8080" has no scheme`},
		{story: "one by its number", vars: []string{"OPENAI_BASE_URL=127.0.0.1:8080"}, want: `OPENAI_BASE_URL: "127.0.0.1:8080" has no scheme`},
		{story: "another provider's mistake hinders nobody", vars: []string{"OPENAI_BASE_URL=nonsense", "GROQ_API_KEY=k"}, name: "groq", want: "groq/"},
	} {
		m := newMachine(t, c.vars...).user(c.file)
		choice, err := m.load().Resolve(c.name)
		got := choice.Name() + " at " + choice.Provider.BaseURL + " by " + string(choice.Provider.Protocol)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || strings.Contains(got, "canary") {
			t.Errorf("%s: got %s, want %s", c.story, got, c.want)
		}
	}
}

func TestWhatIsKnownOfAChoice(t *testing.T) {
	m := newMachine(t, "OPENAI_BASE_URL=http://localhost:1/v1").user("[models.\"openai/mine\"]\ncontext = 4096\n")
	c := m.load()
	local, err := c.Resolve("openai/gpt-4o")
	if err != nil || local.Info.Input.Known || local.Info.Context != 128_000 || local.Why != "--model" {
		t.Errorf("a local server does not cost what OpenAI costs: %+v, %v", local, err)
	}
	if mine, err := c.Resolve("openai/mine"); err != nil || mine.Info.Context != 4096 || !mine.Known {
		t.Errorf("the user's own word: %+v, %v", mine, err)
	}
	typo, err := newMachine(t).load().Resolve("anthropic/claude-sonet-4-6")
	if err != nil || typo.Known || len(typo.Near) == 0 || typo.Near[0] != "anthropic/claude-sonnet-4-6" {
		t.Errorf("a typo behind a provider: %+v, %v", typo.Near, err)
	}
	for name, want := range map[string]string{
		"opnai/x": "opnai/x goes to http://localhost:1/v1 as the name of a model; did you mean openai/x?", "Antropic/claude": "Antropic/claude goes to http://localhost:1/v1 as the name of a model; did you mean anthropic/claude?",
		"mistralai/mixtral": "", "opnai": "", "openai/x": "", "meta/llama": "",
	} {
		if slip, err := c.Resolve(name); err != nil || slip.Provider.Name != "openai" || slip.Doubt() != want {
			t.Errorf("of %s it is said %q, want %q: %v", name, slip.Doubt(), want, err)
		}
	}
	if _, err := c.Resolve("zzzzzz/yyyy"); err == nil == errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
}

func TestBaseURLs(t *testing.T) {
	for raw, want := range map[string]string{
		"https://API.Example.com/v1/":         "https://api.example.com/v1",
		"http://[::1]:8080/":                  "http://[::1]:8080",
		"https://h:443/a%20b":                 "https://h:443/a%20b",
		"http://::1:8080":                     "F: ",
		"http://h/a b":                        "F: the URL contains a space",
		"http://h/\r\nX: 1":                   "F: the URL contains a line break",
		"http://h/?key=1":                     `F: "http://h/?key=1" has a query (the part from ?)`,
		"http://h/?":                          "has a query",
		"http://h/#":                          "has a fragment",
		"http://h:port":                       "F: ",
		"http://":                             "names no host",
		"//h/v1":                              "has no scheme",
		"file:///etc/passwd":                  "has no scheme http",
		"https://user@h":                      "F: a URL with a user name",
		"https://xn--h.example/é":             "F: the URL contains the character U+00E9",
		"":                                    "has no scheme",
		"http://" + strings.Repeat("a", 3000): "3007 bytes long",
	} {
		got, err := checkURL("F", raw)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || strings.HasPrefix(want, "http") && got != want {
			t.Errorf("%.60q: %q, want %q", raw, got, want)
		}
	}
	for host, want := range map[string]bool{"localhost": true, "LOCALHOST.": true, "a.localhost": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"localhost.example": false, "127.0.0.1.example": false, "10.0.0.1": false, "0.0.0.0": false, "128.0.0.1": false, "": false} {
		if loopback(host) != want {
			t.Errorf("loopback(%q) = %v", host, !want)
		}
	}
	for raw, want := range map[string]string{
		"":                           "http://:11434", // never asked: an empty variable counts as unset
		"127.0.0.1":                  "http://127.0.0.1:11434",
		"0.0.0.0:99":                 "http://127.0.0.1:99",
		":99":                        "http://127.0.0.1:99",
		"::1":                        "http://[::1]:11434",
		"[::]:99":                    "http://[::1]:99",
		"box":                        "http://box:11434",
		"http://box":                 "http://box:80",
		"https://box/":               "https://box:443",
		"https://box:1/ollama/":      "https://box:1/ollama",
		"http://127.0.0.1:11434/v1/": "http://127.0.0.1:11434/v1",
	} {
		if got := ollamaURL(raw); got != want {
			t.Errorf("ollamaURL(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestBuiltInsAreSound(t *testing.T) {
	names := map[string]bool{}
	for _, p := range BuiltInProviders() {
		if url, err := checkURL("x", p.BaseURL); err != nil || url != p.BaseURL {
			t.Errorf("%s: %q, %v", p.Name, url, err)
		}
		if names[p.Name] || checkProviderName(p.Name) != nil {
			t.Errorf("%s: twice, or not a name", p.Name)
		}
		names[p.Name] = true
		if p.NeedsKey != (len(p.KeyEnv) > 0) || p.NeedsKey && plainText(p.BaseURL) || !p.NeedsKey && !local(p.BaseURL) {
			t.Errorf("%s: key and address do not go together", p.Name)
		}
		if p.prices {
			if _, ok := (Prices{}).Lookup(p.Name, p.Default); !ok {
				t.Errorf("%s: the table does not know its default model %q", p.Name, p.Default)
			}
		}
	}
	for m := range (Prices{}).All() {
		if !names[m.Provider] {
			t.Fatalf("the table speaks of %s, which is no provider", m.Provider)
		}
	}
}
