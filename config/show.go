package config

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Setting is a value as `config show` prints it.
type Setting struct {
	Key    string
	Value  string // as TOML; values of headers are not shown
	Origin Origin
}

// Settings yields every setting and where it came from: plain ones in the order of the manual, then tables.
func (c Config) Settings() iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for _, s := range settings() {
			if !yield(Setting{s.key, s.show(c), c.Origin(s.key)}) {
				return
			}
		}
		for _, key := range slices.Sorted(maps.Keys(c.origins)) {
			if value, ok := c.tableValue(key); ok && !yield(Setting{key, value, c.Origin(key)}) {
				return
			}
		}
	}
}

// Get is the value of one setting as TOML, or false for a key that is not set.
func (c Config) Get(key string) (Setting, bool) {
	for s := range c.Settings() {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// tableValue shows a key of a table that some layer has set.
func (c Config) tableValue(key string) (string, bool) {
	s := scanner{text: key, deep: -1}
	path := s.key()
	if len(path) < 2 {
		return "", false
	}
	table, name, last := path[0], path[1], path[len(path)-1]
	switch table {
	case "aliases":
		return strconv.Quote(c.Aliases[name]), true
	case "keys":
		return showList(c.Bindings[name]), true
	case "providers":
		return c.Providers[name].show(last), true
	case "models":
		return c.Models[name].show(last), true
	}
	return "", false
}

func (p Provider) show(key string) string {
	switch key {
	case "base_url":
		return strconv.Quote(p.BaseURL)
	case "protocol":
		return strconv.Quote(string(p.Protocol))
	case "key_env":
		return showList(p.KeyEnv)
	case "key_command":
		return showList(p.KeyCommand)
	case "headers":
		return showNames(p.Headers)
	case "models":
		return showList(p.Models)
	}
	return strconv.Quote(p.Default)
}

func (o Override) show(key string) string {
	switch key {
	case "context":
		return strconv.Itoa(*o.Context)
	case "max_output":
		return strconv.Itoa(*o.MaxOutput)
	}
	price := map[string]*float64{
		"input": o.Input, "output": o.Output, "cache_read": o.CacheRead, "cache_write": o.CacheWrite, "cache_write_1h": o.CacheWrite1h,
	}[key]
	return strconv.FormatFloat(*price, 'g', -1, 64)
}

func showList(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// showNames shows that something is set, but not to what: a header may hold a token.
func showNames(table map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		pairs = append(pairs, strconv.Quote(name)+" = "+strconv.Quote(redacted))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}
