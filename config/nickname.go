package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// nicknames are what people call the models of a kind; each means the newest version of it that the price table lists. A kind is a model's
// name without its version.
func nicknames() map[string]string {
	return map[string]string{
		"sonnet": "claude-sonnet", "opus": "claude-opus", "haiku": "claude-haiku",
		"gpt": "gpt", "gpt-mini": "gpt-mini", "gpt-nano": "gpt-nano", "codex": "gpt-codex",
		"flash": "gemini-flash", "flash-lite": "gemini-flash-lite",
	}
}

// Nicknames are those that mean a model now, with it as provider/model: the user has called nothing else so, and one provider that could
// answer has it.
func (c Config) Nicknames() (map[string]string, error) {
	available, err := c.Available()
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for name := range nicknames() {
		meant, err := nickname(name, available)
		if err != nil {
			continue
		}
		if choice, err := c.Resolve(name); err == nil && choice.Name() == meant.Name() {
			names[name] = meant.Name()
		}
	}
	return names, nil
}

// nickname is the newest model of the kind that name means: its maker's, before a reseller's. ErrUnknown where nobody has one, another
// error where several do.
func nickname(name string, providers []Provider) (Choice, error) {
	kind, ok := nicknames()[strings.ToLower(name)]
	if !ok {
		return Choice{}, ErrUnknown
	}
	var all []Choice
	for _, p := range providers {
		if model := newest(p, kind); model != "" {
			all = append(all, Choice{Provider: p, Model: model})
		}
	}
	switch all = atMakers(all); len(all) {
	case 0:
		return Choice{}, ErrUnknown
	case 1:
		return all[0], nil
	}
	var full []string
	for _, choice := range all {
		full = append(full, choice.Name())
	}
	return Choice{}, &Error{Where: "model", Err: fmt.Errorf("%q may mean %s: name one of them", clip(name), strings.Join(full, " or "))}
}

// newest is the name of the newest model of a kind that the price table lists of p, or "".
func newest(p Provider, kind string) (model string) {
	var highest []int
	for at := search(p.Name + "\t"); p.prices && at < len(priceTable); {
		line := lineAt(at)
		id, ours := strings.CutPrefix(line, p.Name+"\t")
		if !ours {
			break
		}
		at += len(line) + 1
		id, _, _ = strings.Cut(id, "\t")
		if of, version := kindOf(id); of == kind && slices.Compare(highest, version) < 0 {
			model, highest = id, version
		}
	}
	return model
}

// atMakers leaves out what resellers have where a maker has it, too.
func atMakers(all []Choice) []Choice {
	makers := slices.DeleteFunc(slices.Clone(all), func(c Choice) bool { return strings.Contains(c.Model, "/") })
	if len(makers) > 0 {
		return makers
	}
	return all
}

// kindOf takes a model's name apart: the words are its kind, the numbers its version. What is no release has no kind, nor what has no
// version.
func kindOf(model string) (kind string, version []int) {
	if _, dated := undated(model); dated || strings.ContainsAny(model, ":~") {
		return "", nil
	}
	var words []string
	for _, part := range strings.Split(model[strings.LastIndexByte(model, '/')+1:], "-") {
		switch part {
		case "latest", "preview", "exp", "beta":
			return "", nil
		}
		var numbers []int
		for _, digits := range strings.Split(part, ".") {
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 {
				numbers = nil
				break
			}
			numbers = append(numbers, n)
		}
		if version = append(version, numbers...); numbers == nil {
			words = append(words, strings.ToLower(part))
		}
	}
	if len(version) == 0 {
		return "", nil
	}
	return strings.Join(words, "-"), version
}
