package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Protocol is the language in which a provider is spoken to.
type Protocol string

const (
	OpenAI    Protocol = "openai"    // Chat Completions
	Anthropic Protocol = "anthropic" // Messages
	Responses Protocol = "responses" // OpenAI Responses
	Gemini    Protocol = "gemini"    // generateContent
	Ollama    Protocol = "ollama"    // /api/chat
	Guide     Protocol = "guide"     // the built-in guide: no network, no key
)

// Provider is a place that answers prompts.
type Provider struct {
	Name       string
	BaseURL    string   // checked: scheme, host, perhaps a path; no user, query, fragment or final slash
	Protocol   Protocol //
	KeyEnv     []string // variables that may hold the key, the first one that is set counts
	KeyCommand []string // program and arguments that print the key
	NeedsKey   bool     // whether requests without a key are pointless, as far as is known
	Headers    map[string]string
	Models     []string // what the user listed; nil leaves it open
	Default    string   // the model where only the provider was named; "" if there is none
	BuiltIn    bool

	urlEnv   string // variable that replaces BaseURL
	urlFrom  string // field or variable that BaseURL came from; "" for the built-in one
	ownKey   bool   // the user's file says where its key comes from
	ownVoice bool   // the user's file says which protocol it speaks
	broken   error  // why the variable's base URL cannot be used; said when the provider is chosen
	prices   bool   // the price table speaks of this place
}

// Custom says that the base URL is not the built-in one.
func (p Provider) Custom() bool { return p.urlFrom != "" }

// BuiltInProviders are the providers that need no table in the file, in the order in which Resolve looks for a key.
func BuiltInProviders() []Provider {
	cloud := func(name string, protocol Protocol, url, key, model string) Provider {
		return Provider{Name: name, Protocol: protocol, BaseURL: url, KeyEnv: []string{key}, NeedsKey: true, Default: model, BuiltIn: true, prices: true}
	}
	local := func(name string, protocol Protocol, url, urlEnv, model string) Provider {
		return Provider{Name: name, Protocol: protocol, BaseURL: url, urlEnv: urlEnv, Default: model, BuiltIn: true}
	}
	all := []Provider{
		cloud("anthropic", Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-sonnet-5"),
		cloud("openai", Responses, "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5.5"),
		cloud("gemini", Gemini, "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", "gemini-3.5-flash"),
		cloud("openrouter", OpenAI, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter/auto"),
		cloud("mistral", OpenAI, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-large-latest"),
		cloud("deepseek", OpenAI, "https://api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-flash"),
		cloud("xai", OpenAI, "https://api.x.ai/v1", "XAI_API_KEY", "grok-4.3"),
		cloud("groq", OpenAI, "https://api.groq.com/openai/v1", "GROQ_API_KEY", "llama-3.3-70b-versatile"),
		cloud("cerebras", OpenAI, "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "gpt-oss-120b"),
		cloud("together", OpenAI, "https://api.together.xyz/v1", "TOGETHER_API_KEY", "openai/gpt-oss-120b"),
		cloud("fireworks", OpenAI, "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "accounts/fireworks/routers/kimi-latest"),
		cloud("moonshotai", OpenAI, "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "kimi-k3"),
		cloud("zai", OpenAI, "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "glm-5.3"),
		local("ollama", Ollama, "http://127.0.0.1:11434", "OLLAMA_HOST", ""),
		local("lmstudio", OpenAI, "http://127.0.0.1:1234/v1", "LMSTUDIO_BASE_URL", ""),
		local("llamacpp", OpenAI, "http://127.0.0.1:8080/v1", "LLAMACPP_BASE_URL", "default"),
		local("vllm", OpenAI, "http://127.0.0.1:8000/v1", "VLLM_BASE_URL", ""),
	}
	for i := range all {
		p := &all[i]
		switch p.Name {
		case "anthropic", "openai", "openrouter", "mistral", "gemini":
			p.urlEnv = strings.ToUpper(p.Name) + "_BASE_URL"
		}
		if p.Name == "gemini" {
			p.KeyEnv = append(p.KeyEnv, "GOOGLE_API_KEY")
		}
	}
	return all
}

// guide is the provider that is always there.
func guide() Provider {
	return Provider{Name: "guide", Protocol: Guide, Default: "guide", BuiltIn: true}
}

// withEnvironment gives a built-in provider the base URL that a variable names.
func (p Provider) withEnvironment(env Env) (Provider, error) {
	raw := strings.TrimSpace(env.get(p.urlEnv))
	if raw == "" {
		return p, nil
	}
	if p.Name == "ollama" {
		raw = ollamaURL(raw)
	}
	url, err := checkURL(p.urlEnv, raw)
	if err != nil {
		return p, err
	}
	p.BaseURL, p.urlFrom, p.NeedsKey = url, p.urlEnv, false // another server says itself whether it wants a key
	return p, nil
}

// settled is p with the protocol and the address that go together, once it is known who answers.
//
// OpenAI is spoken to by Responses, the only interface in which its models think and call tools in one turn and show what they
// thought. A server that people name in its place was made to be asked as OpenAI once was: it speaks Chat Completions, and few more.
// The same holds for Gemini behind an address that ends in /openai. What the file says of a protocol is not touched.
func (p Provider) settled() Provider {
	switch p.Name {
	case "openai":
		if !p.ownVoice && p.Custom() && !openAI(p.BaseURL) {
			p.Protocol = OpenAI
		}
	case "gemini":
		switch {
		case !p.ownVoice && strings.HasSuffix(p.BaseURL, "/openai"):
			p.Protocol = OpenAI
		case p.Protocol == OpenAI && !p.Custom():
			p.BaseURL += "/v1beta/openai"
		}
	case "ollama":
		host := strings.TrimSuffix(p.BaseURL, "/v1")
		switch {
		case p.Protocol == Ollama:
			p.BaseURL = host
		case !p.Custom() || p.urlFrom == p.urlEnv:
			p.BaseURL = host + "/v1" // where it speaks like others
		}
	}
	return p
}

// keyVariable is the first variable of KeyEnv that holds something.
func (p Provider) keyVariable(env Env) string {
	for _, name := range p.KeyEnv {
		if env.get(name) != "" {
			return name
		}
	}
	return ""
}

// checkTransport refuses a base URL over which a key would travel in the clear.
func (p Provider) checkTransport() error {
	if !plainText(p.BaseURL) {
		return nil
	}
	where := p.urlFrom
	if where == "" {
		where = "providers." + p.Name + ".base_url"
	}
	return &Error{Where: where, Err: fmt.Errorf("%s: %w: use https, or http to this machine only", p.BaseURL, ErrUnencrypted)}
}

// InOrder lists the providers as Resolve looks at them: built-in ones in their order, then the user's own by name.
func (c Config) InOrder() []Provider {
	var all []Provider
	built := map[string]bool{}
	for _, p := range BuiltInProviders() {
		built[p.Name] = true
		if own, ok := c.Providers[p.Name]; ok {
			all = append(all, own)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if !built[name] {
			all = append(all, c.Providers[name])
		}
	}
	return all
}
