package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ThemeFile is what a file of the themes folder says: colours by role, on a dark and on a light ground.
type ThemeFile struct {
	Name        string
	Inherits    string // the theme that has the colours which this one does not say; "" is the usual one
	Dark, Light map[string]string
}

const mostThemes = 200 // files of the folder that are looked at

// Themes is the folder of themes, which need not exist.
func (p Paths) Themes() string { return filepath.Join(p.Config, "themes") }

// ThemeNames are the names of the files in the folder of themes, sorted. What is no theme's name is left out.
func (p Paths) ThemeNames() ([]string, error) {
	entries, err := os.ReadDir(p.Themes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries[:min(len(entries), mostThemes)] {
		if name, ok := strings.CutSuffix(e.Name(), ".toml"); ok && themeName(name) {
			names = append(names, name)
		}
	}
	return names, err
}

// Theme reads a file of the folder of themes. A key is one of roles, a value what colour accepts; what stands outside of [dark] and
// [light] holds for both. An error is an *Error with file, line and key, or fs.ErrNotExist.
func (p Paths) Theme(name string, roles []string, colour func(string) bool) (ThemeFile, error) {
	t := ThemeFile{Name: name, Dark: map[string]string{}, Light: map[string]string{}}
	if !themeName(name) {
		return t, &Error{Where: "theme", Err: fmt.Errorf("%q is no name of a theme: %w", clip(name), fs.ErrNotExist)}
	}
	d, err := readDocument(filepath.Join(p.Themes(), name+".toml"), User)
	if err != nil {
		return t, err
	}
	paint := func(key string, v any, path []string, onto ...map[string]string) error {
		if !slices.Contains(roles, key) {
			return d.wrong(fmt.Errorf("%w role%s; there are %s", ErrUnknown, meant(key, roles), strings.Join(roles, ", ")), path...)
		}
		s, err := asText(v)
		if err == nil && !colour(s) {
			err = fmt.Errorf("%q is no colour: #rrggbb, or a number from 0 to 255 in quotes", clip(s))
		}
		if err != nil {
			return d.wrong(err, path...)
		}
		for _, m := range onto {
			m[key] = s
		}
		return nil
	}
	tables := map[string]map[string]string{"dark": t.Dark, "light": t.Light}
	for _, both := range []bool{true, false} { // what is said of one ground counts more
		err := each(d, d.values, nil, func(key string, v any, path []string) error {
			onto, table := tables[key]
			switch {
			case table == both:
				return nil
			case table:
				return each(d, v, path, func(key string, v any, path []string) error { return paint(key, v, path, onto) })
			case key == "inherits":
				s, err := asText(v)
				if err != nil {
					return d.wrong(err, path...)
				}
				t.Inherits = s
				return nil
			}
			return paint(key, v, path, t.Dark, t.Light)
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// themeName accepts what names a file of the folder and nothing else.
func themeName(s string) bool {
	return s != "" && len(s) <= 60 && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
