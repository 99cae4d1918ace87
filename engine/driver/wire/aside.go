package wire

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/engine/event"
)

const (
	maxAsides = 200  // of one message: more than anybody reads
	maxURL    = 2000 // bytes
)

// Asides are what has been told, beside one message, of what a provider did of
// its own accord and of what it refers to. Many tell the same again and again.
// What comes that way may have been written by anybody.
type Asides struct{ known map[event.Aside]bool }

// Note appends an aside, once, whatever is said about the same address later. An
// address that is none of the web is left out, and so is what then says nothing.
func (told *Asides) Note(out []event.Stream, kind, text, address string) []event.Stream {
	a := event.Aside{Kind: kind, Text: Visible(text), URL: Web(address)}
	key := a
	if a.URL != "" {
		key.Text = ""
	}
	if a.Text == "" && a.URL == "" || told.known[key] || len(told.known) == maxAsides {
		return out
	}
	if told.known == nil {
		told.known = map[event.Aside]bool{}
	}
	told.known[key] = true
	return append(out, a)
}

// Source appends a page that is referred to, if there is an address.
func (told *Asides) Source(out []event.Stream, title, address string) []event.Stream {
	if Web(address) == "" {
		return out
	}
	return told.Note(out, event.AsideSource, title, address)
}

// Each appends an aside for each text.
func (told *Asides) Each(out []event.Stream, kind string, texts ...string) []event.Stream {
	for _, s := range texts {
		out = told.Note(out, kind, s, "")
	}
	return out
}

// Web is an address that a browser may be sent to, else nothing.
func Web(address string) string {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError }
	if len(address) > maxURL || strings.ContainsFunc(address, hidden) {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}

// Lenient reads as much of raw as has the type that it should have, and reports
// whether there was anything to read.
func Lenient(raw json.RawMessage, v any) bool {
	if len(raw) == 0 {
		return false
	}
	err := json.Unmarshal(raw, v)
	return err == nil || Mistyped(err)
}
