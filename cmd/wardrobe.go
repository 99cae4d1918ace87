package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"agentx/config"
	"agentx/tui/theme"
)

// A wardrobe is the themes: the built-in ones, and those of the user's folder.
type wardrobe struct{ world *world }

// mostHeirs is how many themes may inherit one from the other.
const mostHeirs = 8

// Themes are the names of all: what follows the terminal, what does not, and
// those of the user's folder at the end.
func (w wardrobe) Themes(context.Context) ([]string, error) {
	var names []string
	for i, f := range theme.Families() {
		if names = append(names, f.Name); i == 0 {
			names = append(names, "dark", "light", "plain")
		}
	}
	c, err := w.world.config()
	if err != nil {
		return names, err
	}
	own, err := c.Paths.ThemeNames()
	for _, name := range own {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}

// Theme finds one. A file of the name of a built-in one is not read.
func (w wardrobe) Theme(name string) (theme.Family, error) {
	var seen []string
	var heirs []config.ThemeFile
	for {
		if f, ok := builtIn(name); ok {
			for _, h := range slices.Backward(heirs) {
				f = f.With(h.Name, h.Dark, h.Light)
			}
			return f, nil
		}
		c, err := w.world.config()
		if err != nil {
			return theme.Family{}, err
		}
		file, err := c.Paths.Theme(name, theme.Roles(), theme.IsColour)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			all, _ := w.Themes(context.Background())
			return theme.Family{}, fmt.Errorf("there is no theme %q; there are %s. Themes of your own lie in %s", name, strings.Join(all, ", "), c.Paths.Themes())
		case err != nil:
			return theme.Family{}, err
		case slices.Contains(seen, name) || len(seen) == mostHeirs:
			return theme.Family{}, fmt.Errorf("the theme %q inherits from itself, or from too many: %s", seen[0], strings.Join(append(seen, name), " → "))
		}
		seen, heirs = append(seen, name), append(heirs, file)
		if name = file.Inherits; name == "" {
			name = theme.Families()[0].Name
		}
	}
}

func builtIn(name string) (theme.Family, bool) {
	all := theme.Families()
	if name == "dark" || name == "light" {
		return all[0], true
	}
	if i := slices.IndexFunc(all, func(f theme.Family) bool { return f.Name == name }); i >= 0 {
		return all[i], true
	}
	return theme.Family{}, false
}

// Keep writes the choice down for the chats to come, and returns where.
func (w wardrobe) Keep(_ context.Context, name string) (string, error) {
	c, err := w.world.config()
	if err != nil {
		return "", err
	}
	if o := c.Origin("theme"); o.Layer != config.User && o.Layer != config.Default {
		return "", fmt.Errorf("%s says otherwise", o)
	}
	file, err := w.world.configFile()
	if err != nil {
		return "", err
	}
	return file, config.Edit(file, "theme", name)
}
