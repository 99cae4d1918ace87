package cmd

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/config"
	"agentx/engine/record"
)

// private finds what must not be given away: keys that this machine knows or
// that look like some, the home folder, the user's name.
func (w *world) private(ctx context.Context) (record.Finder, error) {
	c, err := w.config()
	if err != nil {
		return nil, err
	}
	keys := append(w.everyKey(ctx, c), secretVariables(os.Environ())...)
	homes, names := w.whoAmI()
	return func(text string) iter.Seq2[int, int] {
		return func(yield func(int, int) bool) {
			for from, to := range config.Secrets(text, keys...) {
				if !yield(from, to) {
					return
				}
			}
			for from, to := range homesIn(text, homes) {
				if !yield(from, to) {
					return
				}
			}
			namesIn(text, names)(yield)
		}
	}, nil
}

// everyKey is the keys of all providers. One that cannot be read is told of.
func (w *world) everyKey(ctx context.Context, c config.Config) []config.Secret {
	var all []config.Secret
	for _, p := range c.InOrder() {
		key, _, err := c.Keys().Lookup(ctx, p.Name)
		switch {
		case err == nil && !key.IsZero():
			all = append(all, key)
		case err != nil && !errors.Is(err, config.ErrNoKey):
			w.warn("the key of %s cannot be read, and is masked only if it looks like one: %v", p.Name, err)
		}
	}
	return all
}

// secretVariables are the values of the environment that are called secrets.
func secretVariables(environ []string) []config.Secret {
	var all []config.Secret
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		name = strings.ToUpper(name)
		called := slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"}, func(s string) bool { return strings.HasSuffix(name, s) })
		if !called || len(value) < 8 {
			continue
		}
		if s, err := config.NewSecret(name, value); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// whoAmI is the user's home folder, as it is named and as it is, and the names
// of the user that are not everybody's.
func (w *world) whoAmI() (homes, names []string) {
	for _, v := range []string{"HOME", "USERPROFILE"} {
		home, _ := w.env(v)
		if home = filepath.Clean(home); len(home) < 3 {
			continue
		}
		homes = append(homes, home)
		if real := absolute(home); real != home {
			homes = append(homes, real)
		}
		names = append(names, filepath.Base(home))
	}
	for _, v := range []string{"USER", "LOGNAME", "USERNAME"} {
		name, _ := w.env(v)
		names = append(names, name)
	}
	slices.Sort(names)
	return homes, slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return len(name) < 3 || slices.Contains([]string{"root", "home", "user", "users", "admin", "guest", "test", "ubuntu", "debian"}, strings.ToLower(name))
	})
}

// homesIn finds folders, but not others whose names begin like theirs.
func homesIn(text string, homes []string) iter.Seq2[int, int] {
	return occurrences(text, homes, func(_, after rune) bool { return !inName(after) })
}

// namesIn finds names that stand alone, in small and capital letters.
func namesIn(text string, names []string) iter.Seq2[int, int] {
	text, names = lower(text), slices.Clone(names)
	for i, name := range names {
		names[i] = lower(name)
	}
	return occurrences(text, names, func(before, after rune) bool { return !inName(before) && !inName(after) })
}

// lower is s with its ASCII letters small, byte by byte where it was.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func inName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// occurrences finds words where what stands around them allows it.
func occurrences(text string, words []string, allowed func(before, after rune) bool) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for _, word := range words {
			for from := 0; ; from++ {
				n := strings.Index(text[from:], word)
				if n < 0 {
					break
				}
				from += n
				to := from + len(word)
				before, _ := utf8.DecodeLastRuneInString(text[:from])
				after, _ := utf8.DecodeRuneInString(text[to:])
				if allowed(before, after) && !yield(from, to) {
					return
				}
			}
		}
	}
}
