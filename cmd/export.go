package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/store"
	"agentx/tui/text"
)

// exportJSON writes lines of JSON: the session, then every event of its log.
func exportJSON(out io.Writer, s store.Session, events []event.Event) error {
	if err := writeLine(out, struct {
		Type string `json:"type"`
		listed
	}{"session", list(s, "")}); err != nil {
		return err
	}
	return writeEvents(out, events)
}

// writeEvents writes events, one a line.
func writeEvents(out io.Writer, events []event.Event) error {
	for _, e := range events {
		if err := writeLine(out, e); err != nil {
			return err
		}
	}
	return nil
}

// exportMarkdown writes what was said, for people.
func exportMarkdown(out io.Writer, s store.Session, events []event.Event) error {
	p := pages{out: out}
	p.say("# %s\n\n%s · %s · session %s\n", cmp.Or(text.Line(s.Title), "Untitled"), s.Created.Local().Format("2006-01-02 15:04"), text.Line(s.Model), s.ID)
	for _, e := range events {
		p.event(e.Data)
	}
	return p.err
}

// exportImage writes what an image holds, for people.
func exportImage(out io.Writer, im engine.Image) error {
	p := pages{out: out}
	p.say("# %s\n\n%s · %s · image %s", cmp.Or(text.Line(im.Name), "Untitled"), im.Created.Time().Local().Format("2006-01-02 15:04"), text.Line(im.Model), im.ID)
	if im.Session != "" {
		p.say(" · of session %s", shortID(im.Session))
	}
	if im.Parent != "" {
		p.say(" · begun from image %s", im.Parent)
	}
	p.say("\n")
	if im.Description != "" {
		p.say("\n%s\n", strings.TrimSpace(im.Description))
	}
	if im.System != "" {
		p.say("\n## System\n\n%s\n", strings.TrimSpace(im.System))
	}
	for _, e := range im.Messages {
		p.event(e.Data)
	}
	return p.err
}

// pages write until the first error.
type pages struct {
	out io.Writer
	err error
}

func (p *pages) say(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

func (p *pages) event(d event.Data) {
	switch m := d.(type) {
	case event.UserMessage:
		p.say("\n## You\n\n%s\n", strings.TrimSpace(m.Content.Text()))
		for _, part := range m.Content {
			p.attachment(part)
		}
	case event.AssistantMessage:
		p.say("\n## %s\n", cmp.Or(text.Line(m.Model), "Assistant"))
		for _, part := range m.Content {
			p.part(part)
		}
		if m.Incomplete {
			p.say("\n*(incomplete: %s)*\n", m.StopReason)
		}
	case event.ToolResultMessage:
		p.say("\n%s\n", fence(m.ToolResult.Output.String()))
	case event.ErrorMessage:
		p.say("\n> **Error:** %s\n", text.Line(m.Content))
	}
}

func (p *pages) attachment(part event.Part) {
	switch f := part.(type) {
	case event.Image:
		p.say("\n*[image: %s]*\n", text.Line(cmp.Or(f.Name, f.MediaType)))
	case event.File:
		p.say("\n*[file: %s]*\n", text.Line(cmp.Or(f.Filename, f.MediaType)))
	}
}

func (p *pages) part(part event.Part) {
	switch part := part.(type) {
	case event.Text:
		p.say("\n%s\n", strings.TrimSpace(part.Text))
	case event.Thinking:
		if s := strings.TrimSpace(part.Text); s != "" {
			p.say("\n> *Thinking:* %s\n", strings.ReplaceAll(s, "\n", "\n> "))
		}
	case event.Aside:
		p.say("\n*%s:* %s\n", text.Line(part.Kind), strings.TrimSpace(text.Line(part.Text)+" "+text.Line(part.URL)))
	case event.ToolCall:
		p.say("\n**%s** `%s`\n", text.Line(part.Name), strings.ReplaceAll(string(part.Input), "`", "'"))
	}
}

// fence puts s into a code block whose fence s does not have.
func fence(s string) string {
	mark := "```"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimRight(s, "\n") + "\n" + mark
}

// visible writes foreign text with its control characters made visible.
type visible struct{ out io.Writer }

func (v visible) Write(p []byte) (int, error) {
	if _, err := io.WriteString(v.out, controls(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// controls makes C0 and C1 control characters visible, so that a pipe that ends
// in a terminal does not obey them. Tabs, line ends and everything that is text
// pass untouched. A CR inside a line would let what follows cover it.
func controls(s string) string {
	harmless := func(r rune) bool {
		return r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) || r == '\n' || r == '\t'
	}
	if strings.IndexFunc(s, func(r rune) bool { return !harmless(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case harmless(r), r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// toNewFile writes a file that must not be there yet.
func toNewFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return usage("%s is there already; nothing was written", name)
	}
	if err != nil {
		return &exit{code: codeOutput, err: err}
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return &exit{code: codeOutput, err: fmt.Errorf("%s: %w", name, err)}
	}
	return nil
}

// Export writes the open session as markdown into a new file.
func (d *desk) Export(ctx context.Context, path string) (string, error) {
	t := d.current()
	events, err := t.events(ctx)
	if err != nil {
		return "", d.say(err)
	}
	s, err := t.client.Session(ctx, string(t.session))
	if err != nil {
		return "", d.say(err)
	}
	if path == "" {
		path = "agentx-" + slug(s.Title) + shortID(s.ID) + ".md"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.world.dir, path)
	}
	err = toNewFile(path, func(out io.Writer) error { return exportMarkdown(out, s, t.unkept.with(events)) })
	return path, d.say(err)
}

// slug makes the beginning of a file name of a title.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case b.Len() >= 40:
			return b.String() + "-"
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return strings.TrimSuffix(b.String(), "-") + "-"
}
