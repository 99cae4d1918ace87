package guide

import (
	"strings"
	"testing"
)

// Every section can be read, and is found under every name that people have for
// it: before all others.
func TestEverySectionIsFound(t *testing.T) {
	m := readManual()
	if len(m.sections) < 50 {
		t.Fatalf("the manual has %d sections", len(m.sections))
	}
	for _, s := range m.sections {
		if s.Chapter == "" || s.Title == "" || len(s.Body) < 40 || len(s.Body) > 3000 || strings.Contains(s.Body, "<!--") {
			t.Errorf("%s: a body of %d bytes", s.name(), len(s.Body))
		}
		for _, ask := range s.asks {
			found := m.search(query{Query: ask}).Sections
			if len(found) == 0 || found[0].Section != s.name() {
				t.Errorf("%q leads to %+v and not to %q", strings.TrimSpace(ask), names(found), s.name())
			}
		}
		if found := m.search(query{Query: s.Title}).Sections; len(found) == 0 || found[0].Section != s.name() {
			t.Errorf("the title %q leads to %q", s.Title, names(found))
		}
	}
}

func names(found []hit) []string {
	var all []string
	for _, h := range found {
		all = append(all, h.Section)
	}
	return all
}
