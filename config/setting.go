package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one plain key of the configuration, in every layer. A key with a dot stands in a table of a file.
type setting struct {
	key     string
	project bool // whether a folder that the user merely entered may set it
	value
}

// value reads into its place in a Config and shows what is there.
type value struct {
	read func(c *Config, v any) error
	show func(c Config) string
}

// variable is the environment's name of the setting.
func (s setting) variable() string {
	return "AGENTX_" + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// settings is the table of all plain keys.
func settings() []setting {
	return []setting{
		{"model", true, text(func(c *Config) *string { return &c.Model }, line)},
		{"system", true, text(func(c *Config) *string { return &c.System }, prose)},
		{"max_tokens", true, whole(func(c *Config) *int { return &c.MaxTokens }, 0, 100_000_000)},
		{"temperature", true, temperature()},
		{"effort", true, choice(func(c *Config) *string { return &c.Effort }, "", "none", "low", "medium", "high")},
		{"timeout", true, duration(func(c *Config) *time.Duration { return &c.Timeout }, time.Second, 24*time.Hour)},
		{"max_turns", false, whole(func(c *Config) *int { return &c.MaxTurns }, 0, 1_000_000)},
		{"compact_at", true, whole(func(c *Config) *int { return &c.CompactAt }, 0, 100)},
		{"save", true, yesNo(func(c *Config) *bool { return &c.Save })},
		{"color", true, choice(func(c *Config) *string { return &c.Color }, "auto", "always", "never")},
		{"theme", true, text(func(c *Config) *string { return &c.Theme }, line)},
		{"typewriter", true, yesNo(func(c *Config) *bool { return &c.Typewriter })},
		{"thinking", true, choice(func(c *Config) *string { return &c.Thinking }, "folded", "always", "never")},
		{"reduced_motion", true, yesNo(func(c *Config) *bool { return &c.ReducedMotion })},
		{"reading_width", true, whole(func(c *Config) *int { return &c.ReadingWidth }, 0, 10_000)},
		{"notify", true, choice(func(c *Config) *string { return &c.Notify }, "auto", "bell", "desktop", "off")},
		{"title", true, yesNo(func(c *Config) *bool { return &c.Title })},
		{"progress", true, yesNo(func(c *Config) *bool { return &c.Progress })},
		{"prompt_marks", true, yesNo(func(c *Config) *bool { return &c.PromptMarks })},
		{"screen_reader", true, yesNo(func(c *Config) *bool { return &c.ScreenReader })},
		{"vi_keys", false, yesNo(func(c *Config) *bool { return &c.ViKeys })},
		{"fullscreen", true, yesNo(func(c *Config) *bool { return &c.FullScreen })},
		{"mouse", true, yesNo(func(c *Config) *bool { return &c.Mouse })},
		{"keyring", false, yesNo(func(c *Config) *bool { return &c.Keyring })},
		{"store.journal", false, choice(func(c *Config) *string { return &c.Journal }, "wal", "delete")},
		{"max_budget_usd", false, dollars(func(c *Config) **float64 { return &c.Budget.Run })},
		{"budget.session", false, dollars(func(c *Config) **float64 { return &c.Budget.Session })},
		{"budget.day", false, dollars(func(c *Config) **float64 { return &c.Budget.Day })},
		{"budget.month", false, dollars(func(c *Config) **float64 { return &c.Budget.Month })},
		{"budget.unpriced", false, choice(func(c *Config) *string { return &c.Budget.Unpriced }, "refuse", "allow")},
		{"budget.large", false, whole(func(c *Config) *int { return &c.Budget.Large }, 0, 1_000_000_000)},
	}
}

// defaults is the configuration of somebody who has said nothing.
func defaults() Config {
	return Config{
		Timeout: 2 * time.Minute, CompactAt: 90, Save: true, Journal: "wal", Color: "auto", Theme: "auto", Typewriter: true, Thinking: "folded", Mouse: true, Keyring: true,
		ReadingWidth: 100, Notify: "auto", Title: true, Progress: true, PromptMarks: true,
		Budget:  Budget{Unpriced: "refuse", Large: 100_000},
		Aliases: map[string]string{}, Bindings: map[string][]string{}, Providers: map[string]Provider{}, Models: map[string]Override{},
		origins: map[string]Origin{},
	}
}

func text(at func(*Config) *string, check func(string) error) value {
	return value{
		func(c *Config, v any) error {
			s, err := asText(v)
			if err != nil {
				return err
			}
			*at(c) = s
			return check(s)
		},
		func(c Config) string { return strconv.Quote(*at(&c)) },
	}
}

func choice(at func(*Config) *string, names ...string) value {
	return text(at, func(s string) error {
		if slices.Contains(names, s) {
			return nil
		}
		return fmt.Errorf("%q is none of %s%s", clip(s), strings.TrimPrefix(strings.Join(names, ", "), ", "), meant(s, names))
	})
}

func whole(at func(*Config) *int, low, high int64) value {
	return value{
		func(c *Config, v any) error {
			n, err := asWhole(v, low, high)
			*at(c) = n
			return err
		},
		func(c Config) string { return strconv.Itoa(*at(&c)) },
	}
}

func temperature() value {
	return value{
		func(c *Config, v any) error {
			x, err := asNumber(v, 0, 2)
			c.Temperature = &x
			return err
		},
		func(c Config) string {
			if c.Temperature == nil {
				return `""`
			}
			return strconv.FormatFloat(*c.Temperature, 'g', -1, 64)
		},
	}
}

func dollars(at func(*Config) **float64) value {
	return value{
		func(c *Config, v any) error {
			x, err := asNumber(v, 0, 1_000_000)
			*at(c) = &x
			return err
		},
		func(c Config) string {
			if x := *at(&c); x != nil {
				return strconv.FormatFloat(*x, 'f', -1, 64)
			}
			return `""`
		},
	}
}

func duration(at func(*Config) *time.Duration, low, high time.Duration) value {
	return value{
		func(c *Config, v any) error {
			d, err := asDuration(v)
			if err == nil && (d < low || d > high) {
				err = fmt.Errorf("%v is not between %v and %v", d, low, high)
			}
			*at(c) = d
			return err
		},
		func(c Config) string { return strconv.Quote(at(&c).String()) },
	}
}

func yesNo(at func(*Config) *bool) value {
	return value{
		func(c *Config, v any) error {
			b, err := asBool(v)
			*at(c) = b
			return err
		},
		func(c Config) string { return strconv.FormatBool(*at(&c)) },
	}
}
