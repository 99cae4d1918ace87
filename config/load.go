package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ProjectFile is the name of a project's own settings.
const ProjectFile = ".agentx.toml"

// Source is what Load reads.
type Source struct {
	Env     Env
	Paths   Paths
	Dir     string            // the working folder, absolute; "" reads no project file
	File    string            // instead of the user's config.toml; it has to be there
	Profile string            // a [profiles.NAME] table; "" is that of AGENTX_PROFILE
	Flags   map[string]string // values by key of setting, as they were typed
}

// Load lays all layers over each other. An error is an *Error that says where; what was ignored stands in Warnings.
func Load(s Source) (Config, error) {
	c := defaults()
	c.Paths, c.env = s.Paths, s.Env
	user, err := s.user()
	if err != nil {
		return c, err
	}
	if err := c.lay(user); err != nil {
		return c, err
	}
	if err := c.layProject(s); err != nil {
		return c, err
	}
	if err := c.layProfile(user, s); err != nil {
		return c, err
	}
	if err := c.layEnvironment(s.Env); err != nil {
		return c, err
	}
	if err := c.layFlags(s.Flags); err != nil {
		return c, err
	}
	c.addProviders()
	return c, nil
}

// user reads the user's file, which may be missing unless it was named.
func (s Source) user() (document, error) {
	name := s.File
	if name == "" {
		name = s.Paths.ConfigFile()
	}
	d, err := readDocument(name, User)
	if s.File == "" && errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	return d, err
}

// layProject reads the nearest project file. One that another user could have written is left out, as it would be a trap.
func (c *Config) layProject(s Source) error {
	name := findProject(s.Dir, s.Paths.Home)
	if name == "" {
		return nil
	}
	d, err := readDocument(name, Project)
	switch {
	case errors.Is(err, ErrUnsafe):
		c.warn(err.Error() + "; ignored")
		return nil
	case err != nil:
		return err
	}
	return c.lay(d)
}

// findProject looks in dir and the folders above it, up to the root of the git repository or the user's home. Outside of both it
// looks in dir alone: what lies in a folder such as /tmp belongs to no project.
func findProject(dir, home string) string {
	if dir == "" {
		return ""
	}
	root, name := dir, ""
	for at := dir; ; at = filepath.Dir(at) {
		if name == "" && exists(filepath.Join(at, ProjectFile)) {
			name = filepath.Join(at, ProjectFile)
		}
		if at == home || exists(filepath.Join(at, ".git")) {
			root = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if name != "" && (filepath.Dir(name) == dir || root != dir) {
		return name
	}
	return ""
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// layProfile lays the chosen table of the user's file over what there is.
func (c *Config) layProfile(user document, s Source) error {
	name, where := s.Profile, "--profile"
	if name == "" {
		name, where = s.Env.get("AGENTX_PROFILE"), "AGENTX_PROFILE"
	}
	if name == "" {
		return nil
	}
	profiles, _ := user.values["profiles"].(map[string]any)
	table, ok := profiles[name].(map[string]any)
	if !ok {
		names := slices.Sorted(maps.Keys(profiles))
		return &Error{Where: where, Err: fmt.Errorf("%w profile %q%s", ErrUnknown, name, meant(name, names))}
	}
	c.Profile = name
	user.layer = Profile
	return c.layTable(user, table, "profiles", name)
}

// lay lays a whole file over what there is.
func (c *Config) lay(d document) error { return c.layTable(d, d.values) }

// layTable lays one table of a file over what there is; path is where it stands.
func (c *Config) layTable(d document, table map[string]any, path ...string) error {
	known, tables := settings(), tableKeys()
	var names, ignored []string
	for _, s := range known {
		if !strings.Contains(s.key, ".") {
			names = append(names, s.key)
		}
	}
	names = append(names, slices.Sorted(maps.Keys(tables))...)
	for _, key := range d.keys(table, path...) {
		at := append(slices.Clip(path), key)
		i := slices.IndexFunc(known, func(s setting) bool { return s.key == key && slices.Contains(names, key) })
		read, isTable := tables[key]
		switch {
		case isTable && d.layer == Profile:
			return d.wrong(errors.New("a profile holds plain settings only"), at...)
		case i < 0 && !isTable:
			c.unknown(d, names, at...)
		case d.layer == Project && !allowed(known, i, key, table[key]):
			ignored = append(ignored, key)
		case isTable:
			if err := read(c, d, table[key]); err != nil {
				return err
			}
		default:
			if err := known[i].read(c, table[key]); err != nil {
				return d.wrong(err, at...)
			}
			c.origins[key] = Origin{d.layer, d.where(at...)}
		}
	}
	if len(ignored) > 0 {
		c.warn(fmt.Sprintf("%s: a project may not set %s; ignored", d.name, strings.Join(ignored, ", ")))
	}
	return nil
}

// allowed says whether a project may set key: nothing that runs, sends, permits or pays, and no file of the user's as system prompt.
func allowed(known []setting, i int, key string, v any) bool {
	if i < 0 {
		return key == "aliases"
	}
	if s, ok := v.(string); ok && key == "system" && strings.HasPrefix(strings.TrimSpace(s), "@") {
		return false
	}
	return known[i].project
}

const mostWarnings = 20 // more would hide what matters

func (c *Config) warn(line string) {
	switch n := len(c.Warnings); {
	case n < mostWarnings:
		c.Warnings = append(c.Warnings, line)
	case n == mostWarnings:
		c.Warnings = append(c.Warnings, "and more of the kind")
	}
}

// unknown warns of a key that means nothing, with the one that may have been meant.
func (c *Config) unknown(d document, names []string, path ...string) {
	if len(c.Warnings) > mostWarnings {
		return
	}
	c.warn(d.wrong(errors.New("unknown key"+meant(path[len(path)-1], names)), path...).Error())
}

// layEnvironment reads AGENTX_ variables and the customs that everybody keeps.
func (c *Config) layEnvironment(env Env) error {
	for _, s := range settings() {
		name := s.variable()
		v := env.get(name)
		if v == "" {
			name, v = custom(s.key, env)
		}
		if v == "" {
			continue
		}
		if err := s.read(c, typed(v)); err != nil {
			return &Error{Where: name, Err: err}
		}
		c.origins[s.key] = Origin{Environment, name}
	}
	return nil
}

// custom is a variable that other programs read too, and the value that it means here.
func custom(key string, env Env) (variable, value string) {
	switch {
	case key == "color" && env.get("NO_COLOR") != "":
		return "NO_COLOR", "never"
	case key == "screen_reader" && env.get("ACCESSIBLE") != "":
		return "ACCESSIBLE", "true"
	}
	return "", ""
}

func (c *Config) layFlags(flags map[string]string) error {
	known := settings()
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		name := "--" + strings.ReplaceAll(key, "_", "-")
		i := slices.IndexFunc(known, func(s setting) bool { return s.key == key })
		if i < 0 {
			return &Error{Where: name, Err: fmt.Errorf("%w setting", ErrUnknown)}
		}
		if err := known[i].read(c, typed(flags[key])); err != nil {
			return &Error{Where: name, Err: err}
		}
		c.origins[key] = Origin{Flag, name}
	}
	return nil
}

// addProviders completes the providers with the built-in ones and the base URLs of the environment.
func (c *Config) addProviders() {
	for _, p := range BuiltInProviders() {
		if own, ok := c.Providers[p.Name]; ok {
			p = own
		}
		with, err := p.withEnvironment(c.env)
		with.broken = err
		if with.urlFrom == with.urlEnv && with.urlEnv != "" {
			c.origins["providers."+p.Name+".base_url"] = Origin{Environment, with.urlEnv}
		}
		c.Providers[p.Name] = with.settled()
	}
}
