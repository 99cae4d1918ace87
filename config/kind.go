package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// typed is a value as a person typed it for a flag or a variable; values of a file are TOML's own types.
type typed string

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
		return 0, fmt.Errorf("%s is not between %s and %s", decimal(x), decimal(low), decimal(high))
	}
	return x, nil
}

// decimal is x as a person writes it, without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

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
