package config_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentx/config"
)

func isColour(s string) bool { return strings.HasPrefix(s, "#") }

// A theme's file says colours by role, for both grounds or for one of them; what
// is wrong in it is told with file, line and key.
func TestThemes(t *testing.T) {
	p := config.Paths{Config: t.TempDir()}
	if names, err := p.ThemeNames(); err != nil || len(names) != 0 {
		t.Errorf("without a folder there are %q, %v", names, err)
	}
	if err := os.Mkdir(p.Themes(), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"sea":    "[dark]\naccent = \"#111111\"\n[light]\nerror = \"#222222\"\n",
		"order":  "[dark]\naccent = \"#111111\"\n", // said of one ground counts more, wherever it stands
		"deep":   "inherits = \"sea\"\nmuted = \"#333333\"\n",
		"typo":   "muted = \"#333333\"\n\n[dark]\nacent = \"#111111\"\n",
		"hue":    "[light]\nmuted = \"blue\"\n",
		"number": "[light]\nmuted = 3\n",
		"flat":   "dark = \"#111111\"\n",
		"broken": "muted = \n",
		"none":   "",
	} {
		if name == "order" {
			text = "accent = \"#444444\"\n" + text
		}
		if err := os.WriteFile(filepath.Join(p.Themes(), name+".toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name        string
		dark, light map[string]string
		wrong       string // in the error
	}{
		{name: "sea", dark: map[string]string{"accent": "#111111"}, light: map[string]string{"error": "#222222"}},
		{name: "order", dark: map[string]string{"accent": "#111111"}, light: map[string]string{"accent": "#444444"}},
		{name: "deep", dark: map[string]string{"muted": "#333333"}, light: map[string]string{"muted": "#333333"}},
		{name: "none", dark: map[string]string{}, light: map[string]string{}},
		{name: "typo", wrong: "typo.toml:4:1: dark.acent: unknown role (did you mean accent?); there are accent, error, muted"},
		{name: "hue", wrong: "hue.toml:2:1: light.muted: \"blue\" is no colour: #rrggbb, or a number from 0 to 255 in quotes"},
		{name: "number", wrong: "number.toml:2:1: light.muted: want text in quotes, found a whole number"},
		{name: "flat", wrong: "flat.toml:1:1: dark: want a table, found text"},
		{name: "broken", wrong: "broken.toml:1:"},
		{name: "gone", wrong: "gone.toml: "},
		{name: "../config", wrong: "is no name of a theme"},
	} {
		got, err := p.Theme(c.name, []string{"accent", "error", "muted"}, isColour)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: error %v, want %s", c.name, err, c.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case !maps.Equal(got.Dark, c.dark) || !maps.Equal(got.Light, c.light):
			t.Errorf("%s is %v and %v, want %v and %v", c.name, got.Dark, got.Light, c.dark, c.light)
		}
	}
	if _, err := p.Theme("gone", nil, isColour); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a theme that is not there: %v", err)
	}
	if names, err := p.ThemeNames(); err != nil || !slices.Contains(names, "sea") || !slices.IsSorted(names) {
		t.Errorf("the names are %q, %v", names, err)
	}
}
