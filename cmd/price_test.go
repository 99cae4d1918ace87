package cmd

import (
	"testing"

	"agentx/config"
	"agentx/engine/event"
)

func TestWhatTheTableMeans(t *testing.T) {
	for _, c := range []struct {
		provider, model string
		u               event.Usage
		want            string // empty is unknown
	}{
		{"gemini", "gemini-2.5-pro", event.Usage{InputTokens: 1000, OutputTokens: 100}, "0.00225"},
		{"gemini", "gemini-2.5-pro", event.Usage{InputTokens: 150_000, OutputTokens: 100, CacheReadTokens: 60_000}, "0.3915"},
		{"gemini", "gemini-2.5-pro", event.Usage{CacheWriteTokens: 10}, "0.0000125"}, // as input
		{"gemini", "gemini-2.5-pro", event.Usage{CacheWriteTokens: 10, CacheWrite1hTokens: 10}, ""},
		{"anthropic", "claude-opus-4-5", event.Usage{CacheWriteTokens: 30, CacheWrite1hTokens: 10}, "0.000225"},
		{"openrouter", "google/gemma-4-31b-it:free", event.Usage{InputTokens: 1000, OutputTokens: 1000}, "0"},
		{"openrouter", "openrouter/auto", event.Usage{InputTokens: 1}, ""},
		{"openrouter", "of tomorrow", event.Usage{InputTokens: 1}, ""},
	} {
		m, _ := config.Prices{}.Lookup(c.provider, c.model)
		got, known := tariff(m).Cost(c.u)
		if known != (c.want != "") || known && got.String() != c.want {
			t.Errorf("%+v of %s/%s costs %s, %v; want %q", c.u, c.provider, c.model, got, known, c.want)
		}
	}
}

// What a dead writer has left is priced by the model of its session, as far as
// it was that which answered.
func TestThePricesOfASession(t *testing.T) {
	w := &world{config: func() (config.Config, error) { return config.Load(config.Source{Env: config.Environ(nil)}) }}
	for _, c := range []struct{ session, answered, want string }{
		{"openai/gpt-4o", "gpt-4o-2024-08-06", "2.5"},
		{"openai/gpt-4o", "gpt-4o-mini", "0.15"},
		{"openai/gpt-4o", "claude-opus-4-5", ""},
		{"openai/of-tomorrow", "of-tomorrow-2031-01-01", ""},
		{"guide/guide", "guide", "0"},
		{"nobody/nothing", "nothing", ""},
		{"", "gpt-4o", ""},
	} {
		got, known := w.pricerOf(c.session)(c.answered, event.Usage{InputTokens: 1_000_000})
		if known != (c.want != "") || known && got.String() != c.want {
			t.Errorf("in a session of %q a million tokens of %s cost %s, %v; want %q", c.session, c.answered, got, known, c.want)
		}
	}
}

// A server on this machine that stands in for a provider does not take its
// prices, whatever name its models have.
func TestWhoStandsInHasNoPrices(t *testing.T) {
	for url, known := range map[string]bool{"http://127.0.0.1:8080/v1": false, "https://gateway.example/v1": true, "": true} {
		w := &world{config: func() (config.Config, error) {
			return config.Load(config.Source{Env: config.Environ([]string{"OPENAI_BASE_URL=" + url})})
		}}
		if got, ok := w.pricerOf("openai/gpt-4o")("gpt-4o-2024-08-06", event.Usage{InputTokens: 1_000_000}); ok != known {
			t.Errorf("at %q a million tokens cost %s, %v", url, got, ok)
		}
	}
}
