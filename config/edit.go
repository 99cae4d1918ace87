package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// Edit sets one key of a configuration file to what a person typed, leaving everything else in it as it stands, comments included.
// The key is dotted as in providers.work.base_url; text is a plain word or any TOML value. An edit after which the file could not be
// loaded is refused.
func Edit(file, key, text string) error {
	path, err := editable(key)
	if err != nil {
		return err
	}
	return update(file, readSafe, func(old []byte) ([]byte, error) {
		return edited(file, string(old), path, []string{quote(text), text})
	})
}

// Unset removes one key of a configuration file; ErrUnknown if it does not set that key.
func Unset(file, key string) error {
	path, err := editable(key)
	if err != nil {
		return err
	}
	return update(file, readSafe, func(old []byte) ([]byte, error) {
		d, err := parseDocument(file, User, old)
		if err != nil {
			return nil, err
		}
		i := d.spot(path)
		if i < 0 {
			return nil, &Error{Where: file, Err: fmt.Errorf("%w key %s", ErrUnknown, shown(path))}
		}
		return []byte(without(d.text, d.spots[i])), nil
	})
}

// editable takes a dotted key apart.
func editable(key string) ([]string, error) {
	s := scanner{text: key, deep: -1}
	path := s.key()
	if s.i < len(key) || len(path) == 0 || s.deep >= 0 || slices.Contains(path, "") {
		return nil, &Error{Where: strconv.Quote(clip(key)), Err: errors.New("is not a key such as model or providers.work.base_url")}
	}
	return path, nil
}

// edited is old with the first of the values at path that makes a configuration.
func edited(file, old string, path []string, values []string) ([]byte, error) {
	d, err := parseDocument(file, User, []byte(old))
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, value := range values {
		if _, err := toml.Decode("v = "+value, new(map[string]any)); err != nil {
			continue // a bare word: the quoted form has said what is wrong
		}
		text := d.with(path, value)
		if err = try(file, text, path); err == nil {
			return []byte(text), nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, &Error{Where: shown(path), Err: errors.New("this cannot be a value")}
	}
	return nil, innermostPlace(errs[len(errs)-1])
}

// try loads text as a user's file and wants path to mean something in it.
func try(file, text string, path []string) error {
	d, err := parseDocument(file, User, []byte(text))
	if err != nil {
		return err
	}
	c := defaults()
	if err := c.lay(d); err != nil {
		return err
	}
	for _, warning := range c.Warnings {
		if strings.HasPrefix(warning, d.where(path...)) {
			return &Error{Where: shown(path), Err: fmt.Errorf("%w key%s", ErrUnknown, meant(path[0], keyNames()))}
		}
	}
	return nil
}

func keyNames() []string {
	var names []string
	for _, s := range settings() {
		names = append(names, s.key)
	}
	return names
}

// innermostPlace is the error of the key itself: its place in a file that was never written says nothing.
func innermostPlace(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		if inner, ok := errors.AsType[*Error](e.Err); ok {
			return inner
		}
	}
	return err
}

// spot is the index of the value at path, or -1.
func (d document) spot(path []string) int {
	return slices.IndexFunc(d.spots, func(s spot) bool { return !s.table && slices.Equal(s.path, path) })
}

// with is the text with value at path: in place of the old one, at the end of its table, or in a table of its own.
func (d document) with(path []string, value string) string {
	if i := d.spot(path); i >= 0 {
		return d.text[:d.spots[i].from] + value + d.text[d.spots[i].to:]
	}
	table, key := path[:len(path)-1], path[len(path)-1:]
	entry := dotted(key) + " = " + value + "\n"
	i := slices.IndexFunc(d.spots, func(s spot) bool { return s.table && slices.Equal(s.path, table) })
	switch {
	case i >= 0:
		return insert(d.text, lineEnd(d.text, d.spots[i].at), entry)
	case len(table) > 0:
		return ended(d.text) + "\n[" + dotted(table) + "]\n" + entry
	}
	first := slices.IndexFunc(d.spots, func(s spot) bool { return s.table })
	if first < 0 {
		return ended(d.text) + entry
	}
	return insert(d.text, lineBegin(d.text, d.spots[first].at), entry+"\n")
}

func insert(text string, at int, entry string) string {
	return ended(text[:at]) + entry + text[at:]
}

// ended is text with a line end, if it has any text.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func lineBegin(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd is where the next line begins.
func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// without is text without the lines of a key and its value.
func without(text string, s spot) string {
	begin := lineBegin(text, s.at)
	if strings.TrimSpace(text[begin:s.at]) != "" { // within an inline table
		rest := strings.TrimLeft(text[s.to:], " \t")
		before := strings.TrimRight(text[:s.at], " \t")
		if after, ok := strings.CutPrefix(rest, ","); ok {
			return text[:s.at] + strings.TrimLeft(after, " \t")
		}
		return strings.TrimSuffix(before, ",") + " " + rest
	}
	return text[:begin] + text[lineEnd(text, s.to):]
}

// quote writes a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
