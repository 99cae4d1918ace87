package config

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strconv"
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
	first  map[string]int // offset of where a path, joined by NUL, first stands
	lines  []int          // offset of each line
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
	d := document{name: name, layer: layer, text: text, lines: lineStarts(text)}
	if at := invalid(text); at >= 0 {
		return d, d.fail(at, errors.New("is not UTF-8 text"))
	}
	spots, deep := scan(text)
	if deep >= 0 {
		return d, d.fail(deep, errors.New("nested too deep"))
	}
	d.spots, d.first = spots, firstPlaces(spots)
	if _, err := toml.Decode(text, &d.values); err != nil {
		if p, ok := errors.AsType[toml.ParseError](err); ok {
			return d, d.fail(p.Position.Start, errors.New(clip(Redact(p.Message))))
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

// firstPlaces is where each path first stands, and each table around it.
func firstPlaces(spots []spot) map[string]int {
	first := make(map[string]int, len(spots))
	for _, s := range spots {
		for n := range s.path {
			if path := strings.Join(s.path[:n+1], "\x00"); !has(first, path) {
				first[path] = s.at
			}
		}
	}
	return first
}

func has(m map[string]int, key string) bool {
	_, ok := m[key]
	return ok
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineColumn counts from 1, in characters.
func (d document) lineColumn(at int) (line, column int) {
	at = min(max(at, 0), len(d.text))
	line = sort.Search(len(d.lines), func(i int) bool { return d.lines[i] > at })
	return line, utf8.RuneCountInString(d.text[d.lines[line-1]:at]) + 1
}

func (d document) fail(at int, err error) error {
	line, column := d.lineColumn(at)
	return &Error{Where: d.name, Line: line, Column: column, Err: err}
}

// offset is where path first stands in the file, or the nearest table around it.
func (d document) offset(path ...string) int {
	for n := len(path); n > 0; n-- {
		if at, ok := d.first[strings.Join(path[:n], "\x00")]; ok {
			return at
		}
	}
	return 0
}

func (d document) wrong(err error, path ...string) error {
	return d.fail(d.offset(path...), &Error{Where: shown(path), Err: err})
}

func (d document) where(path ...string) string {
	line, column := d.lineColumn(d.offset(path...))
	return place(d.name, line, column)
}

// keys are the keys of a table in the order in which they stand in the file.
func (d document) keys(table map[string]any, path ...string) []string {
	type placed struct {
		key string
		at  int
	}
	order := make([]placed, 0, len(table))
	for key := range table {
		order = append(order, placed{key, d.offset(append(slices.Clip(path), key)...)})
	}
	slices.SortFunc(order, func(a, b placed) int { return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.key, b.key)) })
	keys := make([]string, len(order))
	for i, p := range order {
		keys[i] = p.key
	}
	return keys
}

// shown writes a key for a message: as TOML does, but with everything odd escaped and nothing longer than a line.
func shown(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		if parts[i] = clip(part); part == "" || strings.ContainsFunc(part, func(r rune) bool { return r > '~' || !bare(byte(r)) }) {
			parts[i] = strconv.Quote(parts[i])
		}
	}
	return strings.Join(parts, ".")
}

// clip keeps the beginning of a text for a message.
func clip(s string) string {
	const enough = 80
	if len(s) <= enough {
		return s
	}
	return strings.ToValidUTF8(s[:enough], "") + "…"
}

// dotted writes a key as TOML does.
func dotted(path []string) string { return toml.Key(path).String() }
