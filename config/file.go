package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

const largest = 1 << 20 // bytes of a configuration file

// document is a configuration file that has been read.
type document struct {
	name   string
	layer  Layer
	text   string
	values map[string]any
	spots  []spot
}

// readDocument reads a file. One that is not there is an empty document and fs.ErrNotExist.
func readDocument(name string, layer Layer) (document, error) {
	text, err := readSafe(name)
	if err != nil {
		return document{name: name, layer: layer}, err
	}
	return parseDocument(name, layer, text)
}

// readSafe reads a regular file that nobody but the user, or root, could have written.
func readSafe(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, readError(name, err)
	}
	if !info.Mode().IsRegular() { // asked before it is opened: opening a pipe would wait
		return nil, &Error{Where: name, Err: errors.New("is not a regular file")}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, readError(name, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, readError(name, err)
	}
	if err := checkOwner(info); err != nil {
		return nil, &Error{Where: name, Err: err}
	}
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err != nil {
		return nil, readError(name, err)
	}
	return text, nil
}

func readError(name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &Error{Where: name, Err: err}
}

// parseDocument reads TOML that came from somewhere: a file of any content.
func parseDocument(name string, layer Layer, raw []byte) (document, error) {
	text, err := plain(raw)
	if err != nil {
		return document{}, &Error{Where: name, Err: err}
	}
	d := document{name: name, layer: layer, text: text}
	if at := invalid(text); at >= 0 {
		return d, d.fail(at, errors.New("is not UTF-8 text"))
	}
	spots, deep := scan(text)
	if deep >= 0 {
		return d, d.fail(deep, errors.New("nested too deep"))
	}
	d.spots = spots
	if _, err := toml.Decode(text, &d.values); err != nil {
		if p, ok := errors.AsType[toml.ParseError](err); ok {
			return d, d.fail(p.Position.Start, errors.New(p.Message))
		}
		return d, &Error{Where: name, Err: err}
	}
	return d, nil
}

// plain is raw without its byte order mark, if it is text that a person could have written here.
func plain(raw []byte) (string, error) {
	if len(raw) > largest {
		return "", errors.New("is larger than 1 MB")
	}
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return "", errors.New("is UTF-16: save it as UTF-8")
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return "", errors.New("holds a NUL byte: it is not text, or it is UTF-16")
	}
	return string(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))), nil
}

func invalid(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

func (d document) fail(at int, err error) error {
	line, column := lineColumn(d.text, at)
	return &Error{Where: d.name, Line: line, Column: column, Err: err}
}

// offset is where path first stands in the file, or the nearest table around it.
func (d document) offset(path ...string) int {
	for n := len(path); n > 0; n-- {
		for _, s := range d.spots {
			if len(s.path) >= n && slices.Equal(s.path[:n], path[:n]) {
				return s.at
			}
		}
	}
	return 0
}

func (d document) wrong(err error, path ...string) error {
	return d.fail(d.offset(path...), &Error{Where: dotted(path), Err: err})
}

func (d document) where(path ...string) string {
	line, column := lineColumn(d.text, d.offset(path...))
	return place(d.name, line, column)
}

// keys are the keys of a table in the order in which they stand in the file.
func (d document) keys(table map[string]any, path ...string) []string {
	first := make(map[string]int, len(table))
	for _, s := range d.spots {
		if n := len(path); len(s.path) > n && slices.Equal(s.path[:n], path) {
			if _, ok := first[s.path[n]]; !ok {
				first[s.path[n]] = s.at
			}
		}
	}
	keys := make([]string, 0, len(table))
	for key := range table {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if n := first[a] - first[b]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return keys
}

// dotted writes a key as TOML does.
func dotted(path []string) string { return toml.Key(path).String() }
