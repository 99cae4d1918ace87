package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"agentx/config"
	"agentx/store"

	"github.com/spf13/cobra"
)

func modelCommand(w *world) *cobra.Command {
	c := &cobra.Command{
		Use: "model", Aliases: []string{"models"}, Short: "List models with their prices and context windows",
		Args: cobra.ArbitraryArgs, RunE: needsVerb,
	}
	c.AddCommand(modelList(w), modelShow(w))
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
	Abilities  []string `json:"abilities,omitempty"` // as its server calls them

	From    string   `json:"from"`              // table, configuration or server
	Key     string   `json:"key,omitempty"`     // where the key is that would be used
	Aliases []string `json:"aliases,omitempty"` // that mean it
	Default bool     `json:"default,omitempty"` // it answers where no model is named
	Used    bool     `json:"used,omitempty"`    // in a session that is kept
}

// Where a model is known from.
const (
	fromTable  = "table"
	fromConfig = "configuration"
	fromServer = "server"
)

func (m listedModel) name() string { return m.Provider + "/" + m.Model }

func modelList(w *world) *cobra.Command {
	var o listOptions
	c := &cobra.Command{
		Use: "list [PROVIDER] [WORD...]", Aliases: []string{"ls"}, Short: "List the models of a provider, or those whose names have all the words",
		Long: `List models with prices in USD for a million tokens, those first that were used last.

Without a provider and --all only those of providers that could answer now: a key is set, or a server is configured. Nothing is connected to but with --live, which asks these providers, and the servers on this machine, for the models that they have now.`,
		RunE: func(c *cobra.Command, words []string) error { return w.listModels(c.Context(), o, words) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().BoolVarP(&o.all, "all", "a", false, "also of providers without a key")
	c.Flags().BoolVar(&o.live, "live", false, "ask the servers which models they have now")
	return c
}

// listOptions are what the flags say of a list.
type listOptions struct{ json, all, live bool }

// listModels prints the models that words mean.
func (w *world) listModels(ctx context.Context, o listOptions, words []string) error {
	c, err := w.config()
	if err != nil {
		return err
	}
	only := ""
	if len(words) > 0 && provides(c, words[0]) {
		only, words = words[0], words[1:]
	}
	models, err := tabled(c, only, o.all)
	if err != nil {
		return err
	}
	if o.live {
		if models, err = w.liveModels(ctx, c, only, models); err != nil {
			return err
		}
	}
	models = having(models, words)
	if models, err = w.described(ctx, c, models); err != nil {
		return err
	}
	if o.json {
		return writeLine(w.stdout, models)
	}
	if len(models) == 0 && len(words) > 0 {
		w.note("no model is known that has %s in its name", quoted(words))
	}
	return w.showModels(c, models, o.all || only != "")
}

// provides says that there is a provider of that name.
func provides(c config.Config, name string) bool {
	_, ok := c.Providers[name]
	return ok
}

// wantedModels are the models of the price table and those that the user lists,
// which have all the words in their names.
func wantedModels(c config.Config, words []string, all bool) ([]listedModel, error) {
	models, err := tabled(c, "", all)
	return having(models, words), err
}

// tabled are the models of the price table and those that the user lists: of
// the only provider that is named, else of all, or of those that could answer
// now.
func tabled(c config.Config, only string, all bool) ([]listedModel, error) {
	available, err := c.Available()
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{only: true}
	for _, p := range available {
		wanted[p.Name] = wanted[p.Name] || only == ""
	}
	models := []listedModel{}
	seen := map[string]bool{}
	add := func(m config.ModelInfo, from string) {
		l := listModel(m)
		if l.From = from; !seen[l.name()] {
			seen[l.name()] = true
			models = append(models, l)
		}
	}
	for _, p := range c.InOrder() {
		for _, id := range p.Models {
			if info, _ := c.About(p, id); wanted[p.Name] || all && only == "" {
				add(info, fromConfig)
			}
		}
	}
	for m := range c.Prices().All() {
		if wanted[m.Provider] || all && only == "" {
			if p, ok := c.Providers[m.Provider]; ok && p.Custom() {
				m, _ = c.About(p, m.ID) // another server has other prices
			}
			add(m, fromTable)
		}
	}
	return models, nil
}

// quoted are words for people: "a" and "b".
func quoted(words []string) string {
	var all []string
	for _, word := range words {
		all = append(all, strconv.Quote(word))
	}
	return strings.Join(all, " and ")
}

// having are the models whose names have all the words.
func having(models []listedModel, words []string) []listedModel {
	found := []listedModel{}
	for _, m := range models {
		name := strings.ToLower(m.name() + " " + m.Name)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(name, strings.ToLower(word)) }) {
			found = append(found, m)
		}
	}
	return found
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

// described adds to models what this machine knows: keys, aliases, the default
// and which were used last. These come first.
func (w *world) described(ctx context.Context, c config.Config, models []listedModel) ([]listedModel, error) {
	held, err := heldKeys(c)
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, k := range held {
		if k.Used {
			keys[k.Provider] = k.Source
		}
	}
	chosen, err := c.Resolve("")
	if err != nil {
		w.note("%v", err) // the list may show what to choose instead
	}
	aliases := aliased(c)
	last := w.lastUsed(ctx)
	for i := range models {
		m := &models[i]
		m.Key, m.Aliases, m.Default, m.Used = keys[m.Provider], aliases[m.name()], err == nil && m.name() == chosen.Name(), slices.Contains(last, m.name())
	}
	sortByUse(models, last)
	return models, nil
}

// sortByUse puts the models that were used last first.
func sortByUse(models []listedModel, last []string) {
	place := map[string]int{} // less than 0, the last one least
	for i, name := range last {
		place[name] = i - len(last)
	}
	slices.SortStableFunc(models, func(a, b listedModel) int { return cmp.Compare(place[a.name()], place[b.name()]) })
}

// aliased are the aliases of each model that has some: the user's, then those
// that everybody has.
func aliased(c config.Config) map[string][]string {
	names := map[string][]string{}
	common, err := c.Nicknames()
	if err != nil {
		common = nil // the keys that cannot be read are told of elsewhere
	}
	for _, alias := range slices.Sorted(maps.Keys(c.Aliases)) {
		if choice, err := c.Resolve(alias); err == nil {
			names[choice.Name()] = append(names[choice.Name()], alias)
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(common)) {
		names[common[alias]] = append(names[common[alias]], alias)
	}
	return names
}

// maxUsed is how many sessions are looked at for the models that were used last.
const maxUsed = 200

// lastUsed are the models of the sessions that are kept, the last one first. A
// store that cannot be read has none: nobody has asked for it.
func (w *world) lastUsed(ctx context.Context) []string {
	path, err := w.storePath()
	if err != nil {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	db, err := w.openStore(ctx, store.Options{ReadOnly: true})
	if err != nil {
		return nil
	}
	sessions, err := db.Sessions(ctx, store.Filter{Limit: maxUsed})
	if err != nil {
		return nil
	}
	var models []string
	for _, s := range sessions {
		if s.Model != "" && !slices.Contains(models, s.Model) {
			models = append(models, s.Model)
		}
	}
	return models
}

func (w *world) showModels(c config.Config, models []listedModel, all bool) error {
	t := table{width: w.tableWidth()}
	t.row("MODEL", "IN", "OUT", "CACHE R/W", "CONTEXT", "ABOUT")
	for _, m := range models {
		t.row(m.name(), dollars(m.Input), dollars(m.Output), cachePrices(m), tokens(m.Context), m.about())
	}
	if len(models) > 0 {
		if err := t.print(w.stdout); err != nil {
			return err
		}
	}
	if choice, err := c.Resolve(""); err == nil {
		w.note("default model: %s (%s)", choice.Name(), choice.Why)
	}
	w.note("prices in USD per million tokens, as of %s, from %s", c.Prices().Date(), c.Prices().Source())
	if !all {
		w.note("only providers that could answer now are listed; --all lists every one")
	}
	return nil
}

// cachePrices are those of reading from the cache and writing to it.
func cachePrices(m listedModel) string {
	if m.CacheRead == nil && m.CacheWrite == nil {
		return "-"
	}
	return dollars(m.CacheRead) + "/" + dollars(m.CacheWrite)
}

// about is what a model is called here, and what it can do.
func (m listedModel) about() string {
	var words []string
	for _, alias := range m.Aliases {
		words = append(words, "alias "+alias)
	}
	if m.Default {
		words = append(words, "default")
	}
	if m.Used {
		words = append(words, "used before")
	}
	return strings.Join(append(words, m.abilities()...), ", ")
}

// abilities are what a model can do as far as anybody says.
func (m listedModel) abilities() []string {
	var words []string
	if m.Reasoning {
		words = append(words, "thinks")
	}
	if m.Images {
		words = append(words, "sees images")
	}
	for _, a := range m.Abilities {
		switch a {
		case "completion", "thinking", "vision": // has been said, or goes without saying
		default:
			words = append(words, a)
		}
	}
	return words
}

func modelShow(w *world) *cobra.Command {
	var asJSON, live bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Show all that is known about a model", Args: exactly("the name of a model, as provider/model, or an alias"),
		Long: "Show all that is known about a model: who serves it and where, what it reads, writes and costs, and which key would be used; never the key. Nothing is connected to but with --live, which asks the provider whether it has the model.",
		RunE: func(c *cobra.Command, args []string) error {
			return w.showModel(c.Context(), args[0], live, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&live, "live", false, "ask the provider whether it has the model")
	return c
}

// shownModel is all that is known about a model, as JSON.
type shownModel struct {
	listedModel
	Protocol    string      `json:"protocol"`
	BaseURL     string      `json:"base_url,omitempty"`
	BaseURLFrom string      `json:"base_url_from,omitempty"`
	Tiers       []tierPrice `json:"tiers,omitempty"`
	Offered     *bool       `json:"offered,omitempty"` // by the server, where it was asked
}

// tierPrice is what tokens cost in requests that are longer than Above.
type tierPrice struct {
	Above      int      `json:"above"`
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

// showModel prints what is known about the model that name means.
func (w *world) showModel(ctx context.Context, name string, live, asJSON bool) error {
	c, err := w.config()
	if err != nil {
		return err
	}
	choice, err := choose(c, name)
	if err != nil {
		return err
	}
	known := listModel(choice.Info)
	known.Provider, known.Model = choice.Provider.Name, choice.Model
	known.From = fromConfig
	if _, ok := (config.Prices{}).Lookup(choice.Provider.Name, choice.Model); ok {
		known.From = fromTable
	}
	offers := (*bool)(nil)
	if live && choice.Provider.Protocol != config.Guide {
		known, offers, err = w.offeredModel(ctx, c, choice, known)
		if err != nil {
			return err
		}
	}
	if err := doubted(choice, offers); err != nil {
		return err
	}
	all, err := w.described(ctx, c, []listedModel{known})
	if err != nil {
		return err
	}
	m := shown(c, choice, all[0])
	m.Offered = offers
	if asJSON {
		return writeLine(w.stdout, m)
	}
	return w.showFacts(c, choice, m)
}

// doubted refuses to tell of a model that is not listed where others are, unless
// its server says that there is one.
func doubted(choice config.Choice, offered *bool) error {
	doubt := choice.Doubt()
	if offered != nil && *offered || doubt == "" {
		return nil
	}
	way := fmt.Sprintf("`agentx model show --live %s` asks there", choice.Name())
	if offered != nil {
		way = "nor does its server list it"
	}
	return &exit{code: codeUsage, err: errors.New(strings.TrimSuffix(doubt, "?") + "; " + way)}
}

// offeredModel is known with what the provider's server says of it, and whether
// it lists it.
func (w *world) offeredModel(ctx context.Context, c config.Config, choice config.Choice, known listedModel) (listedModel, *bool, error) {
	o := w.offer(ctx, c, choice.Provider)
	if ctx.Err() != nil {
		return known, nil, context.Cause(ctx)
	}
	if o.err != nil {
		return known, nil, &exit{code: unheard(o.err), err: errors.New(w.failure(c, o.provider, o.err))}
	}
	i := o.find(choice.Model)
	if i < 0 {
		return known, new(false), nil
	}
	return o.models[i].over(known), new(true), nil
}

// shown is a model with who serves it.
func shown(c config.Config, choice config.Choice, m listedModel) shownModel {
	s := shownModel{listedModel: m, Protocol: string(choice.Provider.Protocol), BaseURL: choice.Provider.BaseURL}
	if s.BaseURL != "" {
		s.BaseURLFrom = addressFrom(c, choice.Provider)
	}
	for _, t := range choice.Info.Tiers {
		l := listModel(config.ModelInfo{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite})
		s.Tiers = append(s.Tiers, tierPrice{t.Above, l.Input, l.Output, l.CacheRead, l.CacheWrite})
	}
	return s
}

// showFacts prints them for people.
func (w *world) showFacts(c config.Config, choice config.Choice, m shownModel) error {
	var t table
	width := w.tableWidth()
	fact := func(what, how string) {
		if how == "" {
			return
		}
		for _, line := range unfolded(how, width-len("longest answer  ")) {
			t.row(what, line)
			what = ""
		}
	}
	fact("model", m.name())
	if m.Name != m.Model {
		fact("called", m.Name)
	}
	fact("aliases", strings.Join(m.Aliases, ", "))
	if m.Default {
		fact("default", "yes, by "+choiceOfDefault(c))
	}
	fact("provider", m.Provider+", spoken to by the protocol "+m.Protocol)
	if m.BaseURL != "" {
		fact("address", m.BaseURL+" ("+m.BaseURLFrom+")")
		fact("key", keyInWords(choice.Provider, m.Key))
	}
	fact("context", size(m.Context))
	fact("longest answer", size(m.MaxOutput))
	fact("price", m.price(c, choice))
	for _, tier := range m.Tiers {
		fact("above "+tokens(tier.Above), prices(tier.Input, tier.Output, tier.CacheRead, tier.CacheWrite))
	}
	fact("abilities", cmp.Or(strings.Join(m.abilities(), ", "), "none are told of"))
	fact("known from", m.origin(c, choice))
	return t.print(w.stdout)
}

func choiceOfDefault(c config.Config) string {
	choice, _ := c.Resolve("") // it could be asked before
	return choice.Why
}

// keyInWords says which key would be used.
func keyInWords(p config.Provider, source string) string {
	switch {
	case source != "":
		return "from " + source
	case !p.NeedsKey:
		return "none, and none is needed as far as is known"
	}
	return "none; `agentx key set " + p.Name + "` keeps one"
}

// price is what a million tokens cost.
func (m shownModel) price(c config.Config, choice config.Choice) string {
	switch {
	case choice.Provider.Protocol == config.Guide || ownMachine(choice):
		return "free, on this machine"
	case m.Input == nil && m.Output == nil:
		return "unknown"
	}
	return prices(m.Input, m.Output, m.CacheRead, m.CacheWrite) + ", as of " + c.Prices().Date()
}

func prices(in, out, read, write *float64) string {
	said := fmt.Sprintf("$%s in, $%s out", dollars(in), dollars(out))
	if read != nil {
		said += fmt.Sprintf(", $%s read from the cache", dollars(read))
	}
	if write != nil {
		said += fmt.Sprintf(", $%s written to it", dollars(write))
	}
	return said + " per million tokens"
}

// origin says who knows of the model.
func (m shownModel) origin(c config.Config, choice config.Choice) string {
	switch {
	case choice.Provider.Protocol == config.Guide:
		return "it is built in"
	case m.Offered != nil && *m.Offered:
		return "the server, which was asked now"
	case m.Offered != nil:
		return "nobody: the server does not list it"
	case choice.Known && m.From == fromTable:
		return fmt.Sprintf("the price table of %s, %s", c.Prices().Date(), c.Prices().Source())
	case choice.Known:
		return "the configuration"
	}
	return "nobody: --live asks the server"
}

// size is a number of tokens in full.
func size(n int) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%s tokens (%d)", tokens(n), n)
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
