package config

import (
	"errors"
	"slices"
	"strings"
)

// tableKeys are the keys that hold tables and what reads each.
func tableKeys() map[string]func(*Config, document, any) error {
	return map[string]func(*Config, document, any) error{
		"aliases":   (*Config).readAliases,
		"keys":      (*Config).readBindings,
		"providers": (*Config).readProviders,
		"models":    (*Config).readModels,
		"profiles":  (*Config).readProfiles,
		"budget":    (*Config).readBudget,
	}
}

// each calls read for every key of the table at path, in the file's order.
func each(d document, v any, path []string, read func(key string, v any, path []string) error) error {
	table, err := asTable(v)
	if err != nil {
		return d.wrong(err, path...)
	}
	for _, key := range d.keys(table, path...) {
		if err := read(key, table[key], append(slices.Clip(path), key)); err != nil {
			return err
		}
	}
	return nil
}

// field is one key of a fixed table.
type field struct {
	key  string
	read func(v any) error
}

// readFields reads a table of fixed keys; others are warned of.
func (c *Config) readFields(d document, v any, path []string, fields []field) error {
	var names []string
	for _, f := range fields {
		names = append(names, f.key)
	}
	return each(d, v, path, func(key string, v any, path []string) error {
		i := slices.Index(names, key)
		if i < 0 {
			c.unknown(d, names, path...)
			return nil
		}
		if err := fields[i].read(v); err != nil {
			return d.wrong(err, path...)
		}
		c.origins[dotted(path)] = Origin{d.layer, d.where(path...)}
		return nil
	})
}

func (c *Config) readAliases(d document, v any) error {
	return each(d, v, []string{"aliases"}, func(key string, v any, path []string) error {
		name, err := asText(v)
		if err == nil {
			err = line(name)
		}
		if err == nil && (strings.Contains(key, "/") || key == "" || key == string(Guide)) {
			err = errors.New("an alias has a name of its own, without /")
		}
		if err != nil {
			return d.wrong(err, path...)
		}
		c.Aliases[key] = name
		c.origins[dotted(path)] = Origin{d.layer, d.where(path...)}
		return nil
	})
}

// readBindings reads [keys]: action = "ctrl+x", a list of such, or "none".
func (c *Config) readBindings(d document, v any) error {
	return each(d, v, []string{"keys"}, func(key string, v any, path []string) error {
		if s, ok := v.(string); ok {
			v = []any{s}
		}
		keys, err := asList(v)
		if err != nil {
			return d.wrong(err, path...)
		}
		c.Bindings[key] = slices.DeleteFunc(keys, func(k string) bool { return k == "none" || k == "" })
		c.origins[dotted(path)] = Origin{d.layer, d.where(path...)}
		return nil
	})
}

// readModels reads [models."name"]: prices in USD per million tokens, windows in tokens.
func (c *Config) readModels(d document, v any) error {
	return each(d, v, []string{"models"}, func(name string, v any, path []string) error {
		o := c.Models[name]
		price := func(to **float64) func(any) error {
			return func(v any) error {
				x, err := asNumber(v, 0, 100_000)
				*to = &x
				return err
			}
		}
		tokens := func(to **int) func(any) error {
			return func(v any) error {
				n, err := asWhole(v, 1, 1_000_000_000)
				*to = &n
				return err
			}
		}
		err := c.readFields(d, v, path, []field{
			{"input", price(&o.Input)}, {"output", price(&o.Output)},
			{"cache_read", price(&o.CacheRead)}, {"cache_write", price(&o.CacheWrite)}, {"cache_write_1h", price(&o.CacheWrite1h)},
			{"context", tokens(&o.Context)}, {"max_output", tokens(&o.MaxOutput)},
		})
		c.Models[name] = o
		return err
	})
}

// readProfiles checks every profile, so that a mistake shows before the profile is needed.
func (c *Config) readProfiles(d document, v any) error {
	return each(d, v, []string{"profiles"}, func(name string, v any, path []string) error {
		table, err := asTable(v)
		if err != nil {
			return d.wrong(err, path...)
		}
		d.layer = Profile
		trial := defaults()
		err = trial.layTable(d, table, path...)
		for _, warning := range trial.Warnings {
			c.warn(warning)
		}
		return err
	})
}

// readBudget reads [budget], whose keys are settings like those outside of tables.
func (c *Config) readBudget(d document, v any) error {
	var fields []field
	for _, s := range settings() {
		if key, ok := strings.CutPrefix(s.key, "budget."); ok {
			fields = append(fields, field{key, func(v any) error { return s.read(c, v) }})
		}
	}
	return c.readFields(d, v, []string{"budget"}, fields)
}
