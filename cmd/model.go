package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"agentx/config"

	"github.com/spf13/cobra"
)

func modelCommand(w *world) *cobra.Command {
	c := &cobra.Command{
		Use: "model", Aliases: []string{"models"}, Short: "List models with their prices and context windows",
		Args: cobra.ArbitraryArgs, RunE: needsVerb,
	}
	c.AddCommand(modelList(w))
	return c
}

// listedModel is a model as JSON. Prices are in USD for a million tokens; null
// is unknown.
type listedModel struct {
	Provider   string   `json:"provider"`
	Model      string   `json:"model"`
	Name       string   `json:"name,omitempty"`
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
	Context    int      `json:"context,omitempty"`
	MaxOutput  int      `json:"max_output,omitempty"`
	Reasoning  bool     `json:"reasoning"`
	Images     bool     `json:"images"`
}

func modelList(w *world) *cobra.Command {
	var asJSON, all bool
	c := &cobra.Command{
		Use: "list [WORD...]", Aliases: []string{"ls"}, Short: "List the models whose names have all the words",
		Long: "List models with prices in USD for a million tokens. Without --all only those of providers that could answer now: a key is set, or a server is configured.",
		RunE: func(c *cobra.Command, words []string) error {
			cfg, err := w.config()
			if err != nil {
				return err
			}
			models, err := wantedModels(cfg, words, all)
			if err != nil {
				return err
			}
			if asJSON {
				return writeLine(w.stdout, models)
			}
			return w.showModels(cfg, models, all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVarP(&all, "all", "a", false, "also of providers without a key")
	return c
}

// wantedModels are the models of the price table and those that the user lists.
func wantedModels(c config.Config, words []string, all bool) ([]listedModel, error) {
	ready := map[string]bool{}
	available, err := c.Available()
	if err != nil {
		return nil, err
	}
	models := []listedModel{}
	add := func(m config.ModelInfo) {
		name := strings.ToLower(m.Provider + "/" + m.ID + " " + m.Name)
		for _, word := range words {
			if !strings.Contains(name, strings.ToLower(word)) {
				return
			}
		}
		models = append(models, listModel(m))
	}
	for _, p := range available {
		ready[p.Name] = true
		for _, id := range p.Models {
			info, ok := c.Prices().Lookup(p.Name, id)
			if !ok {
				info = config.ModelInfo{Provider: p.Name, ID: id}
			}
			add(info)
		}
	}
	for m := range c.Prices().All() {
		if all || ready[m.Provider] {
			add(m)
		}
	}
	return models, nil
}

func listModel(m config.ModelInfo) listedModel {
	price := func(p config.Price) *float64 {
		if !p.Known {
			return nil
		}
		return new(p.PerMillion())
	}
	return listedModel{
		Provider: m.Provider, Model: m.ID, Name: m.Name,
		Input: price(m.Input), Output: price(m.Output), CacheRead: price(m.CacheRead), CacheWrite: price(m.CacheWrite),
		Context: m.Context, MaxOutput: m.MaxOutput, Reasoning: m.Reasoning, Images: m.Images,
	}
}

func (w *world) showModels(c config.Config, models []listedModel, all bool) error {
	choice, err := c.Resolve("")
	if err != nil {
		return err
	}
	t := table{width: w.tableWidth()}
	t.row("MODEL", "IN", "OUT", "CACHE READ", "CACHE WRITE", "CONTEXT")
	for _, m := range models {
		t.row(m.Provider+"/"+m.Model, dollars(m.Input), dollars(m.Output), dollars(m.CacheRead), dollars(m.CacheWrite), tokens(m.Context))
	}
	if len(models) > 0 {
		if err := t.print(w.stdout); err != nil {
			return err
		}
	}
	w.note("default model: %s (%s)", choice.Name(), choice.Why)
	w.note("prices in USD per million tokens, as of %s, from %s", c.Prices().Date(), c.Prices().Source())
	if !all {
		w.note("only providers that could answer now are listed; --all lists every one")
	}
	return nil
}

func dollars(p *float64) string {
	if p == nil {
		return "-"
	}
	return strconv.FormatFloat(*p, 'f', -1, 64)
}

// tokens is a number of tokens for people.
func tokens(n int) string {
	switch {
	case n == 0:
		return "-"
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/10_000)/100, 'f', -1, 64) + "M"
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return strconv.Itoa(n)
}
