package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const keyWait = 10 * time.Second // for a key_command, and for the keyring

// Keys finds, keeps and forgets API keys. A key is looked for in the environment first, as people expect a variable that they have
// exported to win; then key_command, then what was stored: in the system's keyring, else in credentials.toml. That file also notes
// which providers have a key in the keyring, so the keyring is only asked for a key that is there.
type Keys struct {
	Env       Env
	File      string              // credentials.toml
	Providers map[string]Provider //
	Ring      Ring                // nil keeps keys in the file only
}

// Keys is the keys of this configuration. Nothing is read before it is asked for.
func (c Config) Keys() Keys {
	k := Keys{Env: c.env, File: c.Paths.KeyFile(), Providers: c.Providers}
	if c.Keyring && hasRing(c.env) {
		k.Ring = systemRing{}
	}
	return k
}

// Lookup is the key of a provider and where it came from. Without one it is ErrNoKey; a provider that needs none gets an empty Secret
// and no error. A key that would travel unencrypted is not handed out.
func (k Keys) Lookup(ctx context.Context, provider string) (Secret, string, error) {
	p, ok := k.Providers[provider]
	if !ok && provider != string(Guide) {
		return Secret{}, "", fmt.Errorf("%w provider %q", ErrUnknown, provider)
	}
	secret, source, err := k.lookup(ctx, p)
	switch {
	case errors.Is(err, ErrNoKey) && !p.NeedsKey:
		return Secret{}, "", nil
	case err != nil:
		return Secret{}, source, err
	}
	if err := p.checkTransport(); err != nil {
		return Secret{}, source, err
	}
	return secret, source, nil
}

func (k Keys) lookup(ctx context.Context, p Provider) (Secret, string, error) {
	if name := p.keyVariable(k.Env); name != "" {
		secret, err := NewSecret(name, k.Env.get(name))
		return secret, name, err
	}
	if len(p.KeyCommand) > 0 {
		source := "providers." + p.Name + ".key_command"
		text, err := keyFromCommand(ctx, p.KeyCommand, keyWait)
		if err != nil {
			return Secret{}, source, &Error{Where: source, Err: err}
		}
		secret, err := NewSecret(source, text)
		return secret, source, err
	}
	stored, err := k.read()
	if err != nil {
		return Secret{}, k.File, err
	}
	if stored.ring[p.Name] {
		return k.fromRing(ctx, p.Name)
	}
	if secret, ok := stored.keys[p.Name]; ok {
		return secret, k.File, nil
	}
	return Secret{}, "", fmt.Errorf("%s: %w: %s", p.Name, ErrNoKey, p.remedy())
}

func (p Provider) remedy() string {
	way := "agentx key set " + p.Name
	if len(p.KeyEnv) > 0 {
		return "set " + p.KeyEnv[0] + " or run: " + way
	}
	return "run: " + way
}

func (k Keys) fromRing(ctx context.Context, provider string) (Secret, string, error) {
	const source = "keyring"
	if k.Ring == nil {
		return Secret{}, source, &Error{Where: source, Err: fmt.Errorf("the key of %s is in the system's keyring, which cannot be reached", provider)}
	}
	text, err := within(ctx, keyWait, func() (string, error) { return k.Ring.Get(provider) })
	if err != nil {
		return Secret{}, source, &Error{Where: source, Err: fmt.Errorf("key of %s: %w", provider, err)}
	}
	secret, err := NewSecret(source, text)
	return secret, source, err
}

// Set keeps a provider's key in the keyring or, where that does not work, in the file, and says where it is now. The key that was
// there before is gone from both.
func (k Keys) Set(ctx context.Context, provider string, secret Secret) (where string, err error) {
	if _, ok := k.Providers[provider]; !ok {
		return "", fmt.Errorf("%w provider %q%s", ErrUnknown, clip(provider), meant(provider, slices.Sorted(maps.Keys(k.Providers))))
	}
	if err := checkKey(secret.Reveal()); err != nil {
		return "", &Error{Where: "key of " + provider, Err: err}
	}
	where = k.File
	if k.Ring != nil {
		_, err := within(ctx, keyWait, func() (struct{}, error) { return struct{}{}, k.Ring.Set(provider, secret.Reveal()) })
		if err == nil {
			where = "keyring"
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return where, k.write(func(s *stored) {
		delete(s.keys, provider)
		delete(s.ring, provider)
		if where == "keyring" {
			s.ring[provider] = true
		} else {
			s.keys[provider] = secret
		}
	})
}

// Remove forgets the stored key of a provider, or is ErrNoKey. A variable or key_command is the user's own to remove.
func (k Keys) Remove(ctx context.Context, provider string) error {
	had, err := k.read()
	if err != nil {
		return err
	}
	if _, inFile := had.keys[provider]; !inFile && !had.ring[provider] {
		return fmt.Errorf("%s: %w is stored", provider, ErrNoKey)
	}
	if had.ring[provider] {
		if k.Ring == nil {
			return &Error{Where: "keyring", Err: errors.New("the system's keyring cannot be reached")}
		}
		_, err := within(ctx, keyWait, func() (struct{}, error) { return struct{}{}, k.Ring.Remove(provider) })
		if err != nil && !errors.Is(err, ErrNoKey) {
			return &Error{Where: "keyring", Err: err}
		}
	}
	return k.write(func(s *stored) {
		delete(s.keys, provider)
		delete(s.ring, provider)
	})
}

// KeyPlace says that a provider has a key and where, never what it is.
type KeyPlace struct {
	Provider string
	Source   string // variable, "key_command", "keyring" or the file
	Used     bool   // this is the one that Lookup gives; another source comes before the rest
}

// List is every place that holds a key, by provider. It runs no command and asks no keyring.
func (k Keys) List() ([]KeyPlace, error) {
	stored, err := k.read()
	if err != nil {
		return nil, err
	}
	var places []KeyPlace
	for _, p := range (Config{Providers: k.Providers}).InOrder() {
		var sources []string
		for _, name := range p.KeyEnv {
			if k.Env.get(name) != "" {
				sources = append(sources, name)
			}
		}
		if len(p.KeyCommand) > 0 {
			sources = append(sources, "key_command")
		}
		if stored.ring[p.Name] {
			sources = append(sources, "keyring")
		}
		if _, ok := stored.keys[p.Name]; ok {
			sources = append(sources, k.File)
		}
		for i, source := range sources {
			places = append(places, KeyPlace{p.Name, source, i == 0})
		}
	}
	return places, nil
}

// Stored names the providers with a key in keyring or file, sorted.
func (k Keys) Stored() ([]string, error) {
	s, err := k.read()
	if err != nil {
		return nil, err
	}
	names := slices.Collect(maps.Keys(s.keys))
	names = slices.AppendSeq(names, maps.Keys(s.ring))
	slices.Sort(names)
	return slices.Compact(names), nil
}
