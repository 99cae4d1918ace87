package guide

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed manual/*.md
var pages embed.FS

// A section is an answer of the manual.
type section struct {
	Chapter, Title string
	Body           string
	asks           []string // how people ask for it; not shown
}

// name is how the section is cited.
func (s section) name() string { return s.Chapter + " › " + s.Title }

// A manual is all sections, and what their words weigh.
type manual struct {
	sections []section
	index    index
}

// readManual reads the pages that are part of the program.
func readManual() *manual {
	var m manual
	names, err := fs.Glob(pages, "manual/*.md")
	if err != nil {
		panic(err) // the pattern is ours
	}
	for _, name := range names {
		page, err := pages.ReadFile(name)
		if err != nil {
			panic(err) // it was compiled in
		}
		m.sections = append(m.sections, parsePage(string(page))...)
	}
	m.index = newIndex(m.sections)
	return &m
}

// parsePage splits a page at its headings: "# chapter", and "## title" for each
// section. A comment "<!-- ask: …; … -->" says how people ask for it.
func parsePage(page string) []section {
	var all []section
	chapter := ""
	for line := range strings.Lines(page) {
		if title, ok := strings.CutPrefix(line, "# "); ok && len(all) == 0 {
			chapter = strings.TrimSpace(title)
			continue
		}
		if title, ok := strings.CutPrefix(line, "## "); ok {
			all = append(all, section{Chapter: chapter, Title: strings.TrimSpace(title)})
			continue
		}
		if len(all) == 0 {
			continue
		}
		s := &all[len(all)-1]
		if asks, ok := strings.CutPrefix(line, "<!-- ask:"); ok {
			s.asks = strings.Split(strings.TrimSuffix(strings.TrimSpace(asks), "-->"), ";")
			continue
		}
		s.Body += line
	}
	for i := range all {
		all[i].Body = strings.TrimSpace(all[i].Body)
	}
	return all
}

// prose is a body without its blocks of code: examples are about other things
// than the section is.
func prose(body string) string {
	var b strings.Builder
	for i, part := range strings.Split(body, "```") {
		if i%2 == 0 {
			b.WriteString(part)
			b.WriteByte(' ')
		}
	}
	return b.String()
}
