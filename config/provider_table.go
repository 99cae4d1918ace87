package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

func (c *Config) readProviders(d document, v any) error {
	return each(d, v, []string{"providers"}, func(name string, v any, path []string) error {
		if err := checkProviderName(name); err != nil {
			return d.wrong(err, path...)
		}
		p, err := c.readProvider(d, name, v, path)
		if err != nil {
			return err
		}
		if p.BaseURL == "" {
			return d.wrong(errors.New("base_url is missing"), path...)
		}
		c.Providers[name] = p
		return nil
	})
}

func checkProviderName(name string) error {
	if name == string(Guide) {
		return errors.New("this name belongs to the built-in guide")
	}
	for _, r := range name {
		if !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r)) {
			return errors.New("the name of a provider has lower-case letters, digits, - _ and . only")
		}
	}
	if name == "" || len(name) > 64 {
		return errors.New("the name of a provider has 1 to 64 characters")
	}
	return nil
}

// readProvider reads a table over the built-in provider of its name, if there is one.
func (c *Config) readProvider(d document, name string, v any, path []string) (Provider, error) {
	p := Provider{Name: name, Protocol: OpenAI}
	for _, built := range BuiltInProviders() {
		if built.Name == name {
			p = built
		}
	}
	own := func(read func(*[]string, any) error, to *[]string) func(any) error {
		return func(v any) error {
			p.ownKey = true
			return read(to, v)
		}
	}
	err := c.readFields(d, v, path, []field{
		{"base_url", func(v any) error { return readURL(&p, dotted(append(slices.Clip(path), "base_url")), v) }},
		{"protocol", func(v any) error {
			p.ownVoice = true
			return readProtocol(&p.Protocol, v)
		}},
		{"key_env", own(readVariables, &p.KeyEnv)},
		{"key_command", own(readCommand, &p.KeyCommand)},
		{"headers", func(v any) error { return readHeaders(&p.Headers, v) }},
		{"models", func(v any) (err error) { p.Models, err = asList(v); return err }},
		{"default_model", func(v any) (err error) {
			if p.Default, err = asText(v); err == nil {
				err = line(p.Default)
			}
			return err
		}},
	})
	if p.Custom() {
		p.NeedsKey = p.ownKey // another server than the built-in one says itself whether it wants a key
	}
	if p.Default == "" && len(p.Models) > 0 {
		p.Default = p.Models[0]
	}
	return p, err
}

func readURL(p *Provider, field string, v any) error {
	raw, err := asText(v)
	if err != nil {
		return err
	}
	url, err := checkURL(field, raw)
	if inner, ok := errors.AsType[*Error](err); ok {
		return inner.Err // the place in the file names the field
	}
	p.BaseURL, p.urlFrom = url, field
	return nil
}

func readProtocol(to *Protocol, v any) error {
	s, err := asText(v)
	if err != nil {
		return err
	}
	names := []string{string(OpenAI), string(Anthropic), string(Responses), string(Gemini), string(Ollama)}
	if !slices.Contains(names, s) {
		return fmt.Errorf("%q is none of %s%s", clip(s), strings.Join(names, ", "), meant(s, names))
	}
	*to = Protocol(s)
	return nil
}

func readVariables(to *[]string, v any) error {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	names, err := asList(v)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !isVariable(name) {
			return errors.New("want the name of an environment variable, not a key") // and the text is not shown: it may be a key
		}
	}
	*to = names
	return nil
}

func isVariable(name string) bool {
	for i, r := range name {
		if !('A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r == '_' || i > 0 && '0' <= r && r <= '9') {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

// readCommand reads a program with its arguments: a list, or text that is split at spaces outside quotes.
func readCommand(to *[]string, v any) error {
	var words []string
	var err error
	if s, ok := v.(string); ok {
		words, err = split(s)
	} else {
		words, err = asList(v)
	}
	if err != nil {
		return err
	}
	if len(words) == 0 || words[0] == "" {
		return errors.New("names no program")
	}
	if program := words[0]; !filepath.IsAbs(program) && filepath.Base(program) != program {
		return fmt.Errorf("%q depends on the working folder: give the whole path, or a name that is in PATH", clip(program))
	}
	*to = words
	return nil
}

// split takes a command apart at its spaces; quotes keep words together. Nothing is expanded.
func split(s string) ([]string, error) {
	if err := line(s); err != nil {
		return nil, err
	}
	var words []string
	var word strings.Builder
	var quote rune
	in := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, in = r, true
		case quote == 0 && r == ' ':
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

func readHeaders(to *map[string]string, v any) error {
	headers, err := readTexts(v)
	if err != nil {
		return err
	}
	for name, value := range headers {
		if !isToken(name) {
			return fmt.Errorf("%q is not the name of a header", clip(name))
		}
		if err := line(value); err != nil {
			return fmt.Errorf("header %s %w", clip(name), err)
		}
	}
	*to = headers
	return nil
}

func isToken(name string) bool {
	for _, r := range name {
		if r > '~' || !bare(byte(r)) && !strings.ContainsRune("!#$%&'*+.^`|~", r) {
			return false
		}
	}
	return name != ""
}

func readTexts(v any) (map[string]string, error) {
	table, err := asTable(v)
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(table))
	for key, v := range table {
		if texts[key], err = asText(v); err != nil {
			return nil, fmt.Errorf("%q: %w", clip(key), err)
		}
	}
	return texts, nil
}
