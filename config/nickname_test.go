package config

import (
	"fmt"
	"testing"
)

func TestKinds(t *testing.T) {
	for model, want := range map[string]string{
		"claude-sonnet-5-5":           "claude-sonnet [5 5]",
		"anthropic/claude-sonnet-5.5": "claude-sonnet [5 5]",
		"gemini-3.5-flash-lite":       "gemini-flash-lite [3 5]",
		"gpt-4o":                      "",
		"gpt-5-chat-latest":           "",
		"gemini-3-flash-preview":      "",
		"claude-haiku-4-5-20251001":   "",
		"openai/gpt-5:batch":          "",
		"":                            "",
		"7":                           " [7]",
	} {
		got := ""
		if kind, version := kindOf(model); version != nil {
			got = fmt.Sprint(kind, " ", version)
		}
		if got != want {
			t.Errorf("%q is of the kind %q, want %q", model, got, want)
		}
	}
}

// TestNicknamesAreSteady: whatever keys there are, a nickname means what it says, and among those whose key is set.
func TestNicknamesAreSteady(t *testing.T) {
	c := newMachine(t, "ANTHROPIC_API_KEY=k", "OPENROUTER_API_KEY=k").user("[aliases]\nhaiku = 'openai/gpt-5'\n").load()
	names, err := c.Nicknames()
	if err != nil || names["sonnet"] != "anthropic/claude-sonnet-5-5" || names["gpt"] != "openrouter/openai/gpt-5.5" || names["haiku"] != "" {
		t.Errorf("nicknames are %v, %v", names, err)
	}
	if names, err = newMachine(t).load().Nicknames(); err != nil || len(names) != 0 {
		t.Errorf("without a key they mean %v, %v", names, err)
	}
	_, err = nickname("sonnet", []Provider{{Name: "openrouter", prices: true}, {Name: "openrouter", prices: true}})
	if want := `model: "sonnet" may mean openrouter/anthropic/claude-sonnet-5.5 or openrouter/anthropic/claude-sonnet-5.5: name one of them`; err == nil || err.Error() != want {
		t.Errorf("of two: %v", err)
	}
}
