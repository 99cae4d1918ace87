package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// checkURL is raw as a base URL without its final slash, or an error that names field and never shows a password.
func checkURL(field, raw string) (string, error) {
	fail := func(format string, a ...any) (string, error) {
		return "", &Error{Where: field, Err: fmt.Errorf(format, a...)}
	}
	if len(raw) > 2000 {
		return fail("the URL is %d bytes long, at most 2000 are possible", len(raw))
	}
	for _, r := range raw {
		if r <= ' ' || r == 0x7f || r > 0x7f {
			return fail("the URL contains %s", spell(r))
		}
	}
	if strings.Contains(raw, "@") {
		return fail("a URL with a user name or password is not accepted: give the key by its own setting")
	}
	brief := clip(raw)
	if scheme, _, _ := strings.Cut(strings.ToLower(raw), "://"); scheme != "http" && scheme != "https" {
		return fail("%q has no scheme http:// or https://", brief)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return fail("%q: %s", brief, clip(innermost(err).Error()))
	}
	switch {
	case u.Hostname() == "":
		return fail("%q names no host", brief)
	case strings.Contains(u.Host, ":") && strings.Count(u.Host, ":") > 1 && !strings.HasPrefix(u.Host, "["):
		return fail("%q: an IPv6 address stands in brackets, as in http://[::1]:8080", brief)
	case u.RawQuery != "" || u.ForceQuery:
		return fail("%q has a query (the part from ?)", brief)
	case strings.Contains(raw, "#"):
		return fail("%q has a fragment (the part from #)", brief)
	}
	return strings.TrimRight(u.Scheme+"://"+strings.ToLower(u.Host)+u.EscapedPath(), "/"), nil
}

func spell(r rune) string {
	switch r {
	case ' ':
		return "a space"
	case '\n', '\r':
		return "a line break"
	}
	return fmt.Sprintf("the character %U", r)
}

func innermost(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// plainText says that base is http to another machine.
func plainText(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Scheme == "http" && !loopback(u.Hostname())
}

// local says that base is a server on this machine.
func local(base string) bool {
	u, err := url.Parse(base)
	return err == nil && loopback(u.Hostname())
}

// loopback says that host is this machine.
func loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// openAI says that base is OpenAI's own, in whichever part of the world.
func openAI(base string) bool {
	u, err := url.Parse(base)
	return err == nil && strings.HasSuffix("."+strings.ToLower(u.Hostname()), ".api.openai.com")
}

// ollamaURL reads OLLAMA_HOST as Ollama does: host, host:port, :port or a URL.
func ollamaURL(raw string) string {
	port := "11434"
	scheme, rest, ok := strings.Cut(raw, "://")
	switch {
	case !ok:
		scheme, rest = "http", raw
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	host, path, _ := strings.Cut(rest, "/")
	if name, ok := strings.CutPrefix(host, ":"); ok && !strings.Contains(name, ":") {
		host = "127.0.0.1:" + name
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = "[" + host + "]"
	}
	if !strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":") {
		host += ":" + port
	}
	for wildcard, here := range map[string]string{"0.0.0.0:": "127.0.0.1:", "[::]:": "[::1]:"} {
		if rest, ok := strings.CutPrefix(host, wildcard); ok {
			host = here + rest // a server's "everywhere" is a client's "here"
		}
	}
	return strings.TrimRight(scheme+"://"+host+"/"+strings.Trim(path, "/"), "/")
}
