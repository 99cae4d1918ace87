package config

import (
	"encoding/json"
	"iter"
	"net/url"
	"strings"
)

// Redact is text with every secret in it shown as [redacted]: the given ones, also as they look within a URL or JSON, and whatever has
// the form of a known kind of key. It stands before every sink that leaves the program's hands: log, error, crash report.
func Redact(text string, secrets ...Secret) string {
	for _, s := range secrets {
		text = withoutExact(text, s.Reveal())
	}
	return withoutKnown(text)
}

// shortestExact guards texts against a "key" such as x, which local servers are content with.
const shortestExact = 6

func withoutExact(text, secret string) string {
	for _, form := range forms(secret) {
		text = strings.ReplaceAll(text, form, redacted)
	}
	return text
}

// forms are how a secret looks alone, within a URL and within JSON.
func forms(secret string) []string {
	if len(secret) < shortestExact {
		return nil
	}
	quoted, _ := json.Marshal(secret)
	return []string{secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted[1 : len(quoted)-1])}
}

// keyForm is a kind of key that is known by how it begins.
type keyForm struct {
	prefix string
	least  int // characters after the prefix; fewer make a word and not a key
}

func keyForms() []keyForm {
	return []keyForm{
		{"sk-", 16}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, {"pk-lf-", 16}, // OpenAI, Anthropic, OpenRouter, DeepSeek; Stripe
		{"ghp_", 20}, {"gho_", 20}, {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20}, {"github_pat_", 20}, // GitHub
		{"glpat-", 16}, {"gldt-", 16}, {"npm_", 30}, {"pypi-", 30}, {"hf_", 20}, // GitLab, registries, Hugging Face
		{"AKIA", 16}, {"ASIA", 16}, {"AIza", 30}, {"ya29.", 20}, // AWS, Google
		{"xoxb-", 10}, {"xoxp-", 10}, {"xoxa-", 10}, {"xoxr-", 10}, {"xoxs-", 10}, {"xapp-", 10}, // Slack
		{"gsk_", 20}, {"xai-", 20}, {"csk-", 20}, {"fw_", 16}, {"tgp_v1_", 16}, {"nvapi-", 20}, {"pplx-", 20}, {"r8_", 20}, // model providers
	}
}

// withoutKnown masks what looks like a key, in one pass over the text.
func withoutKnown(text string) string {
	var b strings.Builder
	kept := 0 // what is copied
	for from, to := range known(text) {
		b.WriteString(text[kept:from])
		b.WriteString(redacted)
		kept = to
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

// Secrets returns where in text secrets stand, by bytes: the given ones in the forms that Redact masks, and whatever looks like a key.
// They are in no order and may overlap.
func Secrets(text string, secrets ...Secret) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for _, s := range secrets {
			for _, form := range forms(s.Reveal()) {
				for from := 0; ; from++ {
					n := strings.Index(text[from:], form)
					if n < 0 {
						break
					}
					if from += n; !yield(from, from+len(form)) {
						return
					}
				}
			}
		}
		known(text)(yield)
	}
}

// known finds what looks like a key.
func known(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		forms, word := keyForms(), false // whether the byte before i belongs to a word
		for i := 0; i < len(text); {
			from, to := secretAt(text, i, word, forms)
			if to == 0 {
				word = bare(text[i])
				if i++; text[i-1] == '\\' && i < len(text) && strings.IndexByte("nrt", text[i]) >= 0 {
					i++ // an escape within JSON is no part of a word
				}
				continue
			}
			if !yield(from, to) {
				return
			}
			i, word = to, false
		}
	}
}

// secretAt is the extent of a secret that begins at i; to is 0 if there is none. Within a word no key begins.
func secretAt(text string, i int, word bool, forms []keyForm) (from, to int) {
	rest := text[i:]
	switch {
	case rest[0] == '-':
		return i, pem(text, i)
	case rest[0] == ':':
		return userInfo(text, i)
	case word:
		return 0, 0
	}
	switch rest[0] {
	case 'e':
		return i, jwt(text, i)
	case 'b', 'B', 'a', 'A', 'x', 'X':
		if from, to := credential(text, i); to > 0 {
			return from, to
		}
	}
	for _, f := range forms {
		if f.prefix[0] == rest[0] && strings.HasPrefix(rest, f.prefix) {
			if n := run(rest[len(f.prefix):]); n >= f.least {
				return i, i + len(f.prefix) + n
			}
		}
	}
	return 0, 0
}

// run counts the bytes of a key.
func run(s string) int {
	for i := range len(s) {
		if !bare(s[i]) && s[i] != '.' {
			return len(strings.TrimRight(s[:i], "."))
		}
	}
	return len(strings.TrimRight(s, "."))
}

// pem is the end of a private key block, or of the text where the block is cut.
func pem(text string, i int) int {
	head, _, ok := strings.Cut(text[i:min(len(text), i+100)], "\n")
	if escaped, _, cut := strings.Cut(head, `\n`); cut {
		head, ok = escaped, true // within JSON
	}
	if !ok || !strings.HasPrefix(head, "-----BEGIN ") || !strings.Contains(head, "PRIVATE KEY") {
		return 0
	}
	const tail = "PRIVATE KEY-----"
	end := strings.Index(text[i:], "-----END ")
	if end < 0 {
		return len(text)
	}
	if n := strings.Index(text[i+end:], tail); n >= 0 {
		return i + end + n + len(tail)
	}
	return len(text)
}

// userInfo is the user:password of a URL, from the colon of its scheme.
func userInfo(text string, i int) (from, to int) {
	rest, ok := strings.CutPrefix(text[i:min(len(text), i+300)], "://")
	if !ok {
		return 0, 0
	}
	host, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if at <= 0 || strings.ContainsAny(host[:at], " \t\r\n\"'<>") || !strings.Contains(host[:at], ":") {
		return 0, 0
	}
	return i + 3, i + 3 + at
}

// jwt is the end of a signed token: three parts, of which the first is JSON in base64.
func jwt(text string, i int) int {
	if !strings.HasPrefix(text[i:], "eyJ") {
		return 0
	}
	n := run(text[i:])
	if token := text[i : i+n]; n < 30 || strings.Count(token, ".") < 2 {
		return 0
	}
	return i + n
}

// credential is the value behind Bearer, Authorization: and the headers of API keys.
func credential(text string, i int) (from, to int) {
	for _, name := range []string{"bearer", "authorization", "api-key", "api_key", "apikey", "x-api-key", "x-goog-api-key"} {
		if len(text)-i <= len(name) || !strings.EqualFold(text[i:i+len(name)], name) {
			continue
		}
		begin := i + len(name)
		gap := len(text[begin:]) - len(strings.TrimLeft(text[begin:], ` \"':=`))
		if gap == 0 {
			continue
		}
		begin += gap
		for _, scheme := range []string{"bearer ", "basic "} {
			if len(text)-begin > len(scheme) && strings.EqualFold(text[begin:begin+len(scheme)], scheme) {
				begin += len(scheme)
			}
		}
		if n := token(text[begin:]); n >= 8 {
			return begin, begin + n
		}
	}
	return 0, 0
}

// token counts the bytes of a credential in a header.
func token(s string) int {
	for i := range len(s) {
		if !bare(s[i]) && !strings.ContainsRune(".~+/=:", rune(s[i])) {
			return i
		}
	}
	return len(s)
}
