package wire

import (
	"strings"
	"testing"

	"agentx/engine/event"
)

// TestAsidesOfAnybody shows nothing that acts, nothing without end, and no
// address that is none of the web.
func TestAsidesOfAnybody(t *testing.T) {
	long := strings.Repeat("ü", 3000)
	for _, test := range []struct{ title, address, text, url string }{
		{"A\x1b[2J\ntitle\u202e", "https://a.example", "A␛[2J title\uFFFD", "https://a.example"},
		{long, "https://a.example/" + long, strings.Repeat("ü", 200) + " …", ""},
		{"Trap", "javascript:alert(1)", "Trap", ""},
		{"Trap", "https:a.example", "Trap", ""},
		{"Trap", "https://a.example/\u202egpj", "Trap", ""},
		{"Trap", "https://a.example/ b", "Trap", ""},
		{"Trap", "https://a.example/\xff", "Trap", ""},
		{"\xff", "https://a.example", "\uFFFD", "https://a.example"},
		{" ", "HTTPS://a.example/ü", "", "HTTPS://a.example/ü"},
		{" ", "//a.example", "", ""},
		{"Trap", "https://bank.example@a.example/", "Trap", ""},
	} {
		var told Asides
		var got event.Aside
		for _, e := range told.Note(nil, event.AsideSource, test.title, test.address) {
			got = e.(event.Aside)
		}
		if got.Text != test.text || got.URL != test.url {
			t.Errorf("%.40q at %.40q is %+v, want %q at %q", test.title, test.address, got, test.text, test.url)
		}
	}
	var told Asides
	var all []event.Stream
	for i := range 2 * maxAsides {
		all = told.Note(all, event.AsideSearch, strings.Repeat("x", i/2+1), "")
	}
	if len(all) != maxAsides || all[1] != (event.Aside{Kind: event.AsideSearch, Text: "xx"}) {
		t.Errorf("%d asides, then %v", len(all), all[1])
	}
}
