package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const canary = "sk-canary-0123456789abcdefABCDEF"

func TestSecretNeverShows(t *testing.T) {
	s, err := NewSecret("test", canary)
	if err != nil {
		t.Fatal(err)
	}
	type inner struct{ key Secret }
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", s, "in", inner{s}, "any", []any{s})
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", s, "map", map[string]Secret{"k": s})
	encoded, _ := json.Marshal(map[string]any{"key": s, "at": &s, "in": struct{ K Secret }{s}})
	shown := []string{log.String(), string(encoded), s.String(), s.GoString(), fmt.Sprint(s, &s, inner{s}, []Secret{s}, map[Secret]Secret{s: s})}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t", "%p"} {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, inner{s}), fmt.Sprintf(verb, &inner{s}), fmt.Sprintf(verb, []inner{{s}}))
	}
	for _, text := range shown {
		if strings.Contains(text, "canary") || strings.Contains(text, fmt.Sprintf("%x", "canary")) {
			t.Errorf("the key shows: %s", text)
		}
	}
	if s.Reveal() != canary || s.IsZero() || !(Secret{}).IsZero() {
		t.Error("Reveal does not give the key back")
	}
}

func TestKeysThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "empty",
		canary + "\n":               "line break",
		"sk-a\r\nX-Evil: 1":         "line break",
		"sk- a":                     "space",
		"sk-\tb":                    "space",
		"sk-\x1b[31m":               "control character",
		"sk-ключ":                   "not ASCII",
		strings.Repeat("a", 20_000): "20000 bytes",
	} {
		_, err := NewSecret("OPENAI_API_KEY", text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "OPENAI_API_KEY: ") {
			t.Errorf("NewSecret(%.20q): %v, want %q", text, err, want)
		}
		if err != nil && len(text) > 3 && strings.Contains(err.Error(), text[:3]) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func TestRedact(t *testing.T) {
	own, _ := NewSecret("test", `p4ss/w0rd+"x"`)
	for in, want := range map[string]string{
		"Incorrect API key provided: " + canary + ".":                 "Incorrect API key provided: [redacted].",
		`{"error":"key ` + canary + `"}`:                              `{"error":"key [redacted]"}`,
		"a p4ss/w0rd+\"x\" b":                                         "a [redacted] b",
		"?key=p4ss%2Fw0rd%2B%22x%22&a=1":                              "?key=[redacted]&a=1",
		`{"k":"p4ss/w0rd+\"x\""}`:                                     `{"k":"[redacted]"}`,
		"Authorization: Bearer abcdefgh1234":                          "Authorization: Bearer [redacted]",
		"authorization: Basic dXNlcjpwYXNz":                           "authorization: Basic [redacted]",
		`"x-api-key": "0123456789ab"`:                                 `"x-api-key": "[redacted]"`,
		"bearer\ttokens are good":                                     "bearer\ttokens are good",
		"the bearer of news":                                          "the bearer of news",
		"http://me:secret@host/path":                                  "http://[redacted]@host/path",
		"ssh://git@github.com/x":                                      "ssh://git@github.com/x",
		"AKIAIOSFODNN7EXAMPLE":                                        "[redacted]",
		"AIza" + strings.Repeat("x", 35) + " end":                     "[redacted] end",
		"xoxb-12345-67890-abc":                                        "[redacted]",
		"ghp_" + strings.Repeat("a", 36):                              "[redacted]",
		"glpat-" + strings.Repeat("a", 20):                            "[redacted]",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4": "[redacted]",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest": "[redacted]\nrest",
		`"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"`:           `"[redacted]\n"`,
		"-----BEGIN PRIVATE KEY-----\nMIIE cut":                                      "[redacted]",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----":               "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"ask-the-risk-assessment-department-now":                                     "ask-the-risk-assessment-department-now",
		"/home/me/task-list sk-short":                                                "/home/me/task-list sk-short",
		"":                                                                           "",
	} {
		if got := Redact(in, own, Secret{}); got != want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestRedactLeavesNoSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[!-~]{6,60}`).Draw(t, "key")
		secret, err := NewSecret("test", key)
		if err != nil {
			t.Fatal(err)
		}
		text := rapid.String().Draw(t, "before") + key + rapid.String().Draw(t, "after")
		if got := Redact(text, secret); strings.Contains(got, key) && !strings.Contains(redacted, key) {
			t.Fatalf("Redact(%q) = %q", text, got)
		}
	})
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{canary, "Bearer " + canary, "http://a:b@c", "-----BEGIN PRIVATE KEY-----\n", "eyJ.a.b", "authorization:::", "://@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Redact(text)
		if twice := Redact(once); twice != once {
			t.Errorf("Redact is not stable: %q, %q, %q", text, once, twice)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("An ordinary line of a log, which says nothing: at=2026-01-01 level=info.\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Redact(text)
	}
}
