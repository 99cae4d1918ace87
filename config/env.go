package config

import "strings"

// Env looks up an environment variable and says whether it is set.
type Env func(name string) (string, bool)

// Environ reads "name=value" lines as from os.Environ. Of two with one name the last counts.
func Environ(lines []string) Env {
	vars := make(map[string]string, len(lines))
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, "="); ok {
			vars[name] = value
		}
	}
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

// get is the value of name, "" where it is not set.
func (e Env) get(name string) string {
	if e == nil || name == "" {
		return ""
	}
	value, _ := e(name)
	return value
}
