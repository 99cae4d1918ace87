package engine

import (
	"strings"
	"unicode"

	"agentx/engine/event"
)

// maxTitle is how long a title gets that nobody gave, in characters.
const maxTitle = 80

// TitleOf is what a conversation is called that begins with a message: what was
// asked, as one line of at most 80 characters. What came with it, such as a file,
// piped text or a block of code, is no part of that; only where nothing else was
// said is it called after those.
func TitleOf(c event.Content) string {
	var asked strings.Builder
	for _, p := range c {
		if t, ok := p.(event.Text); ok && asked.Len() == 0 {
			asked.WriteString(prose(t.Text))
		}
	}
	for _, text := range []string{asked.String(), strings.Join(attached(c), ", ")} {
		if title := headline(text); title != "" {
			return title
		}
	}
	return headline(firstLines(c.Text()))
}

// headline is as much of a text as a title holds, in whole words.
func headline(text string) string {
	whole := OneLine(text, maxTitle+1)
	s := OneLine(whole, maxTitle)
	if s == whole {
		return s
	}
	s = OneLine(s, maxTitle-1)
	if i := strings.LastIndexByte(s, ' '); whole[len(s)] != ' ' && i > len(s)/2 {
		s = s[:i]
	}
	return strings.TrimRight(s, " .,;:") + "…"
}

// OneLine is a text as one line without control characters, of at most n
// characters.
func OneLine(text string, n int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	for i := range text {
		if n == 0 {
			return strings.TrimRight(text[:i], " ")
		}
		n--
	}
	return text
}

// enough is as much of a paragraph as says what it is about, in bytes.
const enough = 8

// prose is the first paragraph of a text without its marked blocks, code blocks
// and the marks of headings, as much of it as a title may need.
func prose(s string) string {
	var b strings.Builder
	fence := ""
	for s != "" && b.Len() < 8*maxTitle {
		if fence == "" {
			if rest, ok := skipBlock(s); ok {
				s = rest
				continue
			}
		}
		var line string
		line, s, _ = strings.Cut(s, "\n")
		switch mark := fenceOf(line); {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		case mark != "":
			fence = mark
		case strings.TrimSpace(line) == "" && b.Len() >= enough:
			return b.String()
		default:
			b.WriteString(plainLine(line))
		}
	}
	return b.String()
}

// plainLine is a line without the marks of headings and quotes, cut where it is
// longer than any title.
func plainLine(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "#> ")
	if line == "" {
		return ""
	}
	return strings.ToValidUTF8(line[:min(len(line), 8*maxTitle)], "") + "\n"
}

// skipBlock returns what stands behind a block that the command line has
// marked, such as <stdin> or <file name="a">, if s begins with one.
func skipBlock(s string) (string, bool) {
	for _, name := range []string{"file", "stdin"} {
		inner, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\n"), "<"+name)
		if !ok || !strings.HasPrefix(inner, ">") && !strings.HasPrefix(inner, " ") {
			continue
		}
		if _, rest, ok := strings.Cut(inner, "\n</"+name+">"); ok {
			return rest, true
		}
	}
	return s, false
}

// fenceOf is the mark that begins or ends a block of code in a line, if one does.
func fenceOf(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// attached are the names of what came with a message.
func attached(c event.Content) []string {
	var names []string
	for _, p := range c {
		switch p := p.(type) {
		case event.Image:
			names = append(names, p.Name)
		case event.File:
			names = append(names, p.Filename)
		case event.Text:
			if rest, ok := strings.CutPrefix(p.Text, `<file name="`); ok {
				name, _, _ := strings.Cut(rest, `"`)
				names = append(names, name)
			}
		}
		if len(names) == 4 {
			break
		}
	}
	return names
}

// firstLines is the beginning of a text without the marks of blocks.
func firstLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if b.Len() > 4*maxTitle {
			break
		}
		if t := strings.TrimSpace(line); fenceOf(t) == "" && t != "<stdin>" {
			b.WriteString(line[:min(len(line), 4*maxTitle)] + " ")
		}
	}
	return strings.ToValidUTF8(b.String(), "")
}
