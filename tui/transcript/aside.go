package transcript

import (
	"fmt"

	"agentx/engine/event"
	"agentx/tui/text"
)

// maxAsides is how many asides of a message are shown; /export writes all.
const maxAsides = 12

// asides shows what stands behind a message: what the provider did of its own
// accord, then what it refers to.
func (m Model) asides(parts event.Parts) Model {
	var deeds, sources []string
	for _, part := range parts {
		a, ok := part.(event.Aside)
		switch {
		case !ok:
		case a.Kind == event.AsideSource:
			sources = append(sources, fmt.Sprintf("[%d] %s", len(sources)+1, source(a)))
		default:
			deeds = append(deeds, deed(a))
		}
	}
	all := append(deeds, sources...)
	if over := len(all) - maxAsides; over > 0 {
		all = append(all[:maxAsides:maxAsides], fmt.Sprintf("… %d more", over))
	}
	var lines []string
	for _, s := range all {
		for _, row := range text.Wrap(s, m.inner()) { // an address is copied whole or not at all
			lines = append(lines, margin+m.look.muted(row))
		}
	}
	return m.block(lines...)
}

// deed is what the provider did.
func deed(a event.Aside) string {
	what := map[string]string{
		event.AsideSearch: "searched", event.AsideRead: "read", event.AsideCode: "ran code",
	}[a.Kind]
	if what == "" {
		what = "used"
	}
	if s := source(a); s != "" {
		return what + ": " + s
	}
	return what
}

// source is what the provider refers to, with where it lies.
func source(a event.Aside) string {
	title, url := text.Line(a.Text), text.Line(a.URL)
	switch {
	case title == "" || title == url:
		return url
	case url == "":
		return title
	}
	return title + " · " + url
}
