package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// Paths says where things are kept on this machine. Nothing is made until MakeState or a write.
type Paths struct {
	Config string // folder of config.toml and credentials.toml
	Data   string // folder of the database
	State  string // folder of crash reports and of what is being edited
	Cache  string // folder of what can be made again
	Home   string // the user's home, "" where it is unknown
}

// FindPaths reads AGENTX_HOME, else the XDG variables, else HOME. A path that is not absolute is an error that names its variable.
func FindPaths(env Env) (Paths, error) {
	home := userHome(env)
	if root := env.get("AGENTX_HOME"); root != "" {
		root, err := absolute("AGENTX_HOME", root)
		return Paths{Config: root, Data: root, State: root, Cache: filepath.Join(root, "cache"), Home: home}, err
	}
	p := Paths{Home: home}
	folders := []struct {
		at           *string
		name, beside string
	}{
		{&p.Config, "XDG_CONFIG_HOME", ".config"},
		{&p.Data, "XDG_DATA_HOME", ".local/share"},
		{&p.State, "XDG_STATE_HOME", ".local/state"},
		{&p.Cache, "XDG_CACHE_HOME", ".cache"},
	}
	var errs []error
	for _, f := range folders {
		dir, err := folder(env, f.name, f.beside, home)
		*f.at = dir
		errs = append(errs, err)
	}
	return p, first(errs)
}

// folder is agentx's own folder under the one that name gives, or under home where name is not set.
func folder(env Env, name, beside, home string) (string, error) {
	base := env.get(name)
	if base == "" {
		if home == "" {
			return "", &Error{Where: "HOME", Err: errors.New("neither it nor " + name + " is set; set HOME or AGENTX_HOME")}
		}
		if _, err := absolute("HOME", home); err != nil {
			return "", err
		}
		return filepath.Join(home, filepath.FromSlash(beside), "agentx"), nil
	}
	base, err := absolute(name, base)
	return filepath.Join(base, "agentx"), err
}

func absolute(name, path string) (string, error) {
	switch {
	case strings.ContainsRune(path, 0):
		return "", &Error{Where: name, Err: errors.New("holds a NUL byte")}
	case !filepath.IsAbs(path):
		return "", &Error{Where: name, Err: fmt.Errorf("%q is not an absolute path", path)}
	case len(path) > 4000:
		return "", &Error{Where: name, Err: fmt.Errorf("is a path of %d bytes, at most 4000 are possible", len(path))}
	}
	return filepath.Clean(path), nil
}

func userHome(env Env) string {
	home := env.get("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = env.get("USERPROFILE")
	}
	if filepath.IsAbs(home) {
		return filepath.Clean(home)
	}
	return home
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ConfigFile is the user's config.toml.
func (p Paths) ConfigFile() string { return filepath.Join(p.Config, "config.toml") }

// KeyFile is credentials.toml, the file of API keys.
func (p Paths) KeyFile() string { return filepath.Join(p.Config, "credentials.toml") }

// Database is the file of all sessions.
func (p Paths) Database() string { return filepath.Join(p.Data, "agentx.db") }

// MakeState makes the folder of what is left lying between two runs, readable by the user alone whatever the umask says.
func (p Paths) MakeState() error { return makeDir(p.State) }

// makeDir makes dir and its missing parents, all with mode 0700. What exists keeps its mode.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &Error{Where: dir, Err: errors.New("is not a folder")}
		}
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	switch err := os.Mkdir(dir, dirMode); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return os.Chmod(dir, dirMode) // Mkdir's mode goes through the umask
}
