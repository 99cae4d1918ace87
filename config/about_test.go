package config

import (
	"strings"
	"testing"
)

func TestDoubt(t *testing.T) {
	for _, c := range []struct {
		story string
		vars  []string
		file  string
		name  string
		want  string // nothing is doubted where it is empty
	}{
		{story: "a typo", name: "openai/gpt-5.55", want: "gpt-5.55 is not among the models of openai that were known on " + Prices{}.Date() + "; did you mean openai/gpt-5.5"},
		{story: "nothing is like it", name: "anthropic/zzzzzzzz", want: "zzzzzzzz is not among the models of anthropic that were known on " + Prices{}.Date()},
		{story: "a model of the table", name: "openai/gpt-5.5"},
		{story: "with a date", name: "anthropic/claude-sonnet-4-5-20300101"},
		{story: "one that the user has priced", file: "[models.'openai/nope']\ncontext = 1\n", name: "openai/nope"},
		{story: "another server may have anything", vars: []string{"OPENAI_BASE_URL=https://h/v1"}, name: "openai/nope"},
		{story: "unless its models are listed", file: "[providers.lab]\nbase_url = 'https://h'\nmodels = ['big', 'small']\n", name: "lab/smal", want: "smal is not among the models of lab that the configuration lists; did you mean lab/small?"},
		{story: "a local server may have anything", name: "ollama/nope"},
		{story: "the guide", name: "guide"},
	} {
		choice, err := newMachine(t, c.vars...).user(c.file).load().Resolve(c.name)
		if err != nil {
			t.Errorf("%s: %v", c.story, err)
			continue
		}
		if got := choice.Doubt(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: Doubt() = %q, want %q", c.story, got, c.want)
		}
	}
}

// A server here that speaks like a provider of the table has its windows, not
// its prices, and a dated model keeps the name that it was asked by.
func TestAboutAModelElsewhere(t *testing.T) {
	at := func(vars ...string) ModelInfo {
		c := newMachine(t, vars...).load()
		info, known := c.About(c.Providers["openai"], "gpt-5.5-2026-01-02")
		if !known || info.ID != "gpt-5.5-2026-01-02" || info.Provider != "openai" || info.Context == 0 {
			t.Errorf("%v: About() = %+v, %v", vars, info, known)
		}
		return info
	}
	if there := at(); !there.Input.Known {
		t.Error("OpenAI's own price is not known")
	}
	if here := at("OPENAI_BASE_URL=http://127.0.0.1:1/v1"); here.Input.Known || here.Output.Known {
		t.Errorf("a server on this machine costs %+v", here.Input)
	}
}
