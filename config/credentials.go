package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

// stored is the content of credentials.toml.
type stored struct {
	keys map[string]Secret
	ring map[string]bool
}

func (k Keys) read() (stored, error) {
	text, err := readPrivate(k.File)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return stored{}, err
	}
	return parseKeys(k.File, text)
}

// readPrivate reads a file that nobody else can read.
func readPrivate(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, readError(name, err)
	}
	if err := checkPrivate(info); err != nil {
		return nil, &Error{Where: name, Err: err}
	}
	return readSafe(name)
}

// parseKeys reads credentials.toml. Its errors name places and providers, never what stands there.
func parseKeys(name string, raw []byte) (stored, error) {
	s := stored{map[string]Secret{}, map[string]bool{}}
	d, err := parseDocument(name, User, raw)
	if err != nil {
		return s, hide(err)
	}
	for _, key := range d.keys(d.values) {
		if key != "keys" && key != "keyring" {
			return s, d.fail(d.offset(key), errors.New("want the tables [keys] and [keyring] only"))
		}
	}
	if v, ok := d.values["keys"]; ok {
		err = each(d, v, []string{"keys"}, func(provider string, v any, path []string) error {
			text, ok := v.(string)
			if !ok {
				return d.wrong(wrongType("text in quotes", v), path...)
			}
			secret, err := NewSecret(d.where(path...)+": "+shown(path), text)
			s.keys[provider] = secret
			return err
		})
	}
	if v, ok := d.values["keyring"]; ok && err == nil {
		err = each(d, v, []string{"keyring"}, func(provider string, v any, path []string) error {
			if in, ok := v.(bool); !ok || !in {
				return d.wrong(errors.New("want true"), path...)
			}
			s.ring[provider] = true
			return nil
		})
	}
	return s, err
}

// hide keeps the place of an error and drops its words, which may quote the file.
func hide(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Line == 0 {
		return err
	}
	return &Error{Where: e.Where, Line: e.Line, Column: e.Column, Err: errors.New("is not valid TOML")}
}

// write changes the file under its lock.
func (k Keys) write(change func(*stored)) error {
	return update(k.File, readPrivate, func(old []byte) ([]byte, error) {
		s, err := parseKeys(k.File, old)
		if err != nil {
			return nil, err
		}
		change(&s)
		return s.text(), nil
	})
}

// text is the file's content.
func (s stored) text() []byte {
	var b strings.Builder
	b.WriteString("# API keys, kept by `agentx key`. Nobody else may read this file.\n\n[keys]\n")
	for _, provider := range slices.Sorted(maps.Keys(s.keys)) {
		b.WriteString(dotted([]string{provider}) + " = " + quote(s.keys[provider].Reveal()) + "\n")
	}
	b.WriteString("\n[keyring] # these are in the keyring of the system\n")
	for _, provider := range slices.Sorted(maps.Keys(s.ring)) {
		b.WriteString(dotted([]string{provider}) + " = true\n")
	}
	return []byte(b.String())
}
