package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// typed is a value as a person typed it for a flag or a variable; values of a file are TOML's own types.
type typed string

// setting is one plain key of the configuration, in every layer.
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
func (s setting) variable() string { return "AGENTX_" + strings.ToUpper(s.key) }

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
		{"max_budget_usd", false, amount(func(c *Config) *float64 { return &c.MaxBudget }, 0, 1e9)},
		{"save", true, yesNo(func(c *Config) *bool { return &c.Save })},
		{"tools", false, list(func(c *Config) *[]string { return &c.Tools })},
		{"allow", false, list(func(c *Config) *[]string { return &c.Allow })},
		{"deny", false, list(func(c *Config) *[]string { return &c.Deny })},
		{"color", true, choice(func(c *Config) *string { return &c.Color }, "auto", "always", "never")},
		{"theme", true, text(func(c *Config) *string { return &c.Theme }, line)},
		{"typewriter", true, yesNo(func(c *Config) *bool { return &c.Typewriter })},
		{"reduced_motion", true, yesNo(func(c *Config) *bool { return &c.ReducedMotion })},
		{"screen_reader", true, yesNo(func(c *Config) *bool { return &c.ScreenReader })},
		{"fullscreen", true, yesNo(func(c *Config) *bool { return &c.FullScreen })},
		{"mouse", true, yesNo(func(c *Config) *bool { return &c.Mouse })},
		{"title", true, yesNo(func(c *Config) *bool { return &c.Title })},
		{"notifications", true, choice(func(c *Config) *string { return &c.Notifications }, "auto", "bell", "osc9", "off")},
		{"keyring", false, yesNo(func(c *Config) *bool { return &c.Keyring })},
	}
}

// defaults is the configuration of somebody who has said nothing.
func defaults() Config {
	return Config{
		Timeout: 2 * time.Minute, Save: true, Color: "auto", Theme: "auto", Typewriter: true, Mouse: true, Notifications: "auto", Keyring: true,
		Aliases: map[string]string{}, Bindings: map[string][]string{}, Providers: map[string]Provider{}, Models: map[string]Override{},
		MCP: map[string]MCPServer{}, origins: map[string]Origin{},
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
		return fmt.Errorf("%q is none of %s%s", clip(s), strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" }), ", "), meant(s, names))
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

func amount(at func(*Config) *float64, low, high float64) value {
	return value{
		func(c *Config, v any) error {
			x, err := asNumber(v, low, high)
			*at(c) = x
			return err
		},
		func(c Config) string { return strconv.FormatFloat(*at(&c), 'g', -1, 64) },
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

func list(at func(*Config) *[]string) value {
	return value{
		func(c *Config, v any) error {
			words, err := asList(v)
			*at(c) = words
			return err
		},
		func(c Config) string { return showList(*at(&c)) },
	}
}

func asText(v any) (string, error) {
	switch v := v.(type) {
	case typed:
		return string(v), nil
	case string:
		return v, nil
	}
	return "", wrongType("text in quotes", v)
}

func asWhole(v any, low, high int64) (int, error) {
	n, ok := v.(int64)
	if s, isTyped := v.(typed); isTyped {
		var err error
		if n, err = strconv.ParseInt(strings.TrimSpace(string(s)), 10, 64); err != nil {
			return 0, fmt.Errorf("%q is not a whole number", clip(string(s)))
		}
	} else if !ok {
		return 0, wrongType("a whole number", v)
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%d is not between %d and %d", n, low, high)
	}
	return int(n), nil
}

func asNumber(v any, low, high float64) (float64, error) {
	var x float64
	switch v := v.(type) {
	case int64:
		x = float64(v)
	case float64:
		x = v
	case typed:
		var err error
		if x, err = strconv.ParseFloat(strings.TrimSpace(string(v)), 64); err != nil {
			return 0, fmt.Errorf("%q is not a number", clip(string(v)))
		}
	default:
		return 0, wrongType("a number", v)
	}
	if math.IsNaN(x) || x < low || x > high {
		return 0, fmt.Errorf("%v is not between %v and %v", x, low, high)
	}
	return x, nil
}

func asBool(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case typed:
		switch strings.ToLower(strings.TrimSpace(string(v))) {
		case "1", "true", "yes", "on":
			return true, nil
		case "0", "false", "no", "off":
			return false, nil
		}
		return false, fmt.Errorf("%q is neither true nor false", clip(string(v)))
	}
	return false, wrongType("true or false", v)
}

// asDuration reads "90s" or "2m"; a bare number is seconds.
func asDuration(v any) (time.Duration, error) {
	if n, ok := v.(int64); ok {
		v = typed(strconv.FormatInt(n, 10))
	}
	s, err := asText(v)
	if err != nil {
		return 0, wrongType(`a duration such as "90s"`, v)
	}
	s = strings.TrimSpace(s)
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 90s or 2m", clip(s))
	}
	return d, nil
}

func asList(v any) ([]string, error) {
	words := []string{}
	switch v := v.(type) {
	case typed:
		for word := range strings.SplitSeq(string(v), ",") {
			if word = strings.TrimSpace(word); word != "" && word != "none" {
				words = append(words, word)
			}
		}
	case []any:
		for _, item := range v {
			word, ok := item.(string)
			if !ok {
				return nil, wrongType("a list of texts", item)
			}
			words = append(words, word)
		}
	default:
		return nil, wrongType("a list", v)
	}
	for _, word := range words {
		if err := line(word); err != nil {
			return nil, err
		}
	}
	return words, nil
}

func asTable(v any) (map[string]any, error) {
	if table, ok := v.(map[string]any); ok {
		return table, nil
	}
	return nil, wrongType("a table", v)
}

func wrongType(want string, v any) error {
	found := "a date or time"
	switch v.(type) {
	case string, typed:
		found = "text"
	case int64:
		found = "a whole number"
	case float64:
		found = "a number"
	case bool:
		found = "true or false"
	case []any, []map[string]any:
		found = "a list"
	case map[string]any:
		found = "a table"
	}
	return fmt.Errorf("want %s, found %s", want, found)
}

// line accepts text that fits on one line and hides nothing.
func line(s string) error {
	if strings.ContainsAny(s, "\n\t") {
		return errors.New("holds a line break or a tab")
	}
	return prose(s)
}

// prose accepts text of several lines without control characters.
func prose(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("is not UTF-8 text")
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return fmt.Errorf("holds the control character %U", r)
		}
	}
	return nil
}
