package cmd

import (
	"maps"
	"slices"
	"strings"

	"agentx/config"
	"agentx/store"
	"agentx/tui/text"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A completer says which words could stand at a place of the command line; each
// may have a tab and an explanation behind it. The shell leaves out what does not
// begin as the user has begun.
type completer func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completing reports whether it is a shell that asks, at the Tab key.
func completing(args []string) bool { return len(args) > 0 && strings.HasPrefix(args[0], "__complete") }

// complete tells the shell of the words that only this machine knows. It connects
// to nothing, and makes no database where there is none.
func (w *world) complete(root *cobra.Command) {
	session, image := w.sessionWords, w.imageWords
	places := map[string]completer{
		"session show": once(session), "session rename": once(session), "session tag": once(session), "session fork": once(session),
		"session tree": once(session), "session export": once(session), "session rm": session,
		"image snapshot": once(session), "image show": once(image), "image resume": once(image), "image rm": image,
		"key set": once(w.providerWords), "key rm": once(w.providerWords), "doctor": once(w.providerWords),
		"model list": once(w.providerWords), "model show": once(w.modelWords),
		"config get": once(w.settingWords), "config set": once(w.settingWords), "config unset": once(w.settingWords),
	}
	flags := map[string]completer{
		"model": w.modelWords, "fallback-model": w.modelWords, "resume": session,
		"effort": among("none", "low", "medium", "high"), "output-format": among("text", "json", "stream-json"),
		"color": among("auto", "always", "never"), "by": among("day", "model", "session"), "format": among("md", "json"),
	}
	register := func(c *cobra.Command) func(*pflag.Flag) {
		return func(f *pflag.Flag) {
			if words, ok := flags[f.Name]; ok {
				_ = c.RegisterFlagCompletionFunc(f.Name, words) // fails only where it has been done
			}
		}
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if words, ok := places[strings.TrimPrefix(c.CommandPath(), "agentx ")]; ok {
			c.ValidArgsFunction = words
		}
		c.LocalFlags().VisitAll(register(c))
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// among are words that never change.
func among(words ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// once completes the first argument, and no other.
func once(words completer) completer {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words(c, args, begun)
	}
}

// sessionWords are the IDs of the sessions that were used last, and the titles
// that are one word.
func (w *world) sessionWords(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	db, err := w.openStore(c.Context(), store.Options{ReadOnly: true})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, err := db.Sessions(c.Context(), store.Filter{Limit: 100})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, s := range all {
		title := text.Line(s.Title)
		if begun != "" && typeable(title) {
			words = append(words, title+"\t"+ago(s.Updated))
		}
		words = append(words, shortID(s.ID)+"\t"+title+", "+ago(s.Updated))
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (w *world) imageWords(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	db, err := w.openStore(c.Context(), store.Options{ReadOnly: true})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, err := db.Images(c.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, im := range all {
		name := text.Line(im.Name)
		if typeable(name) {
			words = append(words, name+"\t"+text.Line(im.Description))
		} else {
			words = append(words, string(im.ID)+"\t"+name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (w *world) providerWords(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := w.config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(c.Providers)), cobra.ShellCompDirectiveNoFileComp
}

func (w *world) settingWords(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
	c, err := w.config()
	if err == nil {
		for s := range c.Settings() {
			words = append(words, s.Key+"\t"+s.Value)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// modelWords are aliases and providers first, then the models of the provider.
func (w *world) modelWords(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	c, err := w.config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	provider, _, named := strings.Cut(begun, "/")
	if !named {
		words := []string{"guide"}
		for _, alias := range slices.Sorted(maps.Keys(c.Aliases)) {
			words = append(words, alias+"\t"+c.Aliases[alias])
		}
		if common, err := c.Nicknames(); err == nil {
			for _, name := range slices.Sorted(maps.Keys(common)) {
				words = append(words, name+"\t"+common[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
			words = append(words, name+"/")
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return modelsOf(c, provider), cobra.ShellCompDirectiveNoFileComp
}

// modelsOf are the known models of a provider, those that the user lists first.
func modelsOf(c config.Config, provider string) (words []string) {
	for _, id := range c.Providers[provider].Models {
		words = append(words, provider+"/"+id)
	}
	for m := range c.Prices().All() {
		if m.Provider == provider {
			words = append(words, provider+"/"+m.ID+"\t"+m.Name)
		}
	}
	return words
}
