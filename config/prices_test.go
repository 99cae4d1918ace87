package config

import (
	"slices"
	"strings"
	"testing"
)

// The prices of some models, looked up by hand, are those of the table (F46).
func TestPricesByHand(t *testing.T) {
	// From the providers' own price pages; a table that disagrees with them is not to be shipped.
	for _, want := range []struct {
		provider, model string
		in, out, read   float64
		context         int
	}{
		{"openai", "gpt-4o", 2.5, 10, 1.25, 128_000},
		{"openai", "gpt-4o-mini", 0.15, 0.6, 0.075, 128_000},
		{"openai", "gpt-4.1", 2, 8, 0.5, 1_047_576},
		{"openai", "o3-mini", 1.1, 4.4, 0.55, 200_000},
		{"anthropic", "claude-sonnet-4-5", 3, 15, 0.3, 0},
		{"anthropic", "claude-haiku-4-5", 1, 5, 0.1, 200_000},
		{"anthropic", "claude-opus-4-5", 5, 25, 0.5, 200_000},
		{"gemini", "gemini-2.5-pro", 1.25, 10, 0.125, 1_048_576},
		{"groq", "llama-3.3-70b-versatile", 0.59, 0.79, 0, 131_072},
	} {
		got, ok := Prices{}.Lookup(want.provider, want.model)
		if !ok || got.Input.PerMillion() != want.in || got.Output.PerMillion() != want.out || got.CacheRead.PerMillion() != want.read {
			t.Errorf("Lookup(%s, %s) = %v %v %v (%v), want %v %v %v", want.provider, want.model,
				got.Input.PerMillion(), got.Output.PerMillion(), got.CacheRead.PerMillion(), ok, want.in, want.out, want.read)
		}
		if want.context != 0 && got.Context != want.context {
			t.Errorf("Lookup(%s, %s).Context = %d, want %d", want.provider, want.model, got.Context, want.context)
		}
	}
}

func TestEveryLineIsFound(t *testing.T) {
	n, providers := 0, map[string]bool{}
	for m := range (Prices{}).All() {
		n++
		providers[m.Provider] = true
		got, ok := Prices{}.Lookup(m.Provider, m.ID)
		if !ok || got.ID != m.ID || got.Input != m.Input || got.Context != m.Context {
			t.Errorf("Lookup(%s, %s) = %+v, %v", m.Provider, m.ID, got, ok)
		}
		if m.Input.Known != m.Output.Known || m.Context <= 0 || m.Name == "" {
			t.Errorf("odd line: %+v", m)
		}
		for _, tier := range m.Tiers {
			if !tier.Input.Known || tier.Above <= 0 {
				t.Errorf("odd tier: %+v", m)
			}
		}
	}
	if n < 500 || len(providers) != 13 {
		t.Errorf("%d models of %d providers", n, len(providers))
	}
	if !slices.IsSorted(slices.Collect(strings.Lines(priceTable[body():]))) {
		t.Error("the table is not sorted: the search would miss models")
	}
	if got := (Prices{}).Source(); got != "npm @earendil-works/pi-ai 1.5.2 (MIT)" || (Prices{}).Date() != "2026-11-10" {
		t.Errorf("Source() = %q, Date() = %q", got, Prices{}.Date())
	}
}

func TestDatedNames(t *testing.T) {
	for _, c := range []struct{ provider, model, want string }{
		{"anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"},
		{"anthropic", "claude-sonnet-4-6-20260217", "claude-sonnet-4-6"},
		{"anthropic", "claude-sonnet-4-6@20260217", "claude-sonnet-4-6"},
		{"openai", "gpt-5-2025-08-07", "gpt-5"},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o-2024-08-06"},
		{"openai", "gpt-4o-2031-01-01", "gpt-4o"},
		{"openai", "gpt-4o-audio", ""},
		{"openai", "gpt-5-12345678", ""},
		{"openai", "", ""},
		{"openai", "gpt-4o\tGPT-4o", ""},
		{"", "gpt-4o", ""},
		{"zzz", "zzz", ""},
		{"#", "#", ""},
	} {
		got, ok := Prices{}.Lookup(c.provider, c.model)
		if ok != (c.want != "") || ok && got.ID != c.want {
			t.Errorf("Lookup(%q, %q) = %q, %v, want %q", c.provider, c.model, got.ID, ok, c.want)
		}
	}
}

// What the table leaves open is unknown, or follows from what it says.
func TestPricesThatTheTableDoesNotSay(t *testing.T) {
	opus, _ := Prices{}.Lookup("anthropic", "claude-opus-4-5")
	if opus.CacheWrite1h.PerMillion() != 10 || opus.CacheWrite.PerMillion() != 6.25 {
		t.Errorf("writing to the cache costs %v, and for an hour %v; want 6.25 and 10", opus.CacheWrite.PerMillion(), opus.CacheWrite1h.PerMillion())
	}
	haiku, _ := Prices{}.Lookup("anthropic", "claude-haiku-5-5")
	if len(haiku.Tiers) != 1 || haiku.Tiers[0].CacheWrite1h.PerMillion() != 1 {
		t.Errorf("behind its tier: %+v", haiku.Tiers)
	}
	if pro, _ := (Prices{}).Lookup("gemini", "gemini-2.5-pro"); pro.CacheWrite1h.Known {
		t.Errorf("nobody else keeps a cache for an hour: %+v", pro)
	}
	if auto, _ := (Prices{}).Lookup("openrouter", "openrouter/auto"); auto.Input.Known {
		t.Error("the price of openrouter/auto depends on the model that it chooses and is not known")
	}
	if free, _ := (Prices{}).Lookup("openrouter", "google/gemma-4-31b-it:free"); !free.Input.Known || free.Input.Picodollars != 0 {
		t.Errorf("what is free costs %+v", free.Input)
	}
}

func TestOverrides(t *testing.T) {
	input, window := 7.0, 42
	p := Prices{map[string]Override{"gpt-4o": {Input: &input}, "work/own": {Context: &window}}}
	if m, _ := p.Lookup("openai", "gpt-4o"); m.Input.PerMillion() != 7 || m.Output.PerMillion() != 10 {
		t.Errorf("overridden: %+v", m)
	}
	if m, ok := p.Lookup("work", "own"); !ok || m.Context != 42 || m.Input.Known {
		t.Errorf("a model of the user's own: %+v, %v", m, ok)
	}
}

func BenchmarkLookup(b *testing.B) {
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			Prices{}.Lookup("openrouter", "openai/gpt-4o")
		}
	})
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			for m := range (Prices{}).All() {
				if m.Provider == "openrouter" && m.ID == "openai/gpt-4o" {
					break
				}
			}
		}
	})
}
