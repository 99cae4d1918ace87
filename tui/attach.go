package tui

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"agentx/tui/composer"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
	"github.com/dustin/go-humanize"
)

// Limits of what goes with one message: more than any provider takes.
const (
	maxFiles = 20
	maxBytes = 32 << 20
)

// finding is the list of files that is being made for the composer.
type finding struct {
	stop  context.CancelFunc
	early *composer.Mention // was written before the world was there
}

// find asks for what fits a mention that is being written. Whoever is still
// looking for the one before is told to stop.
func (m Model) find(w composer.Mention) (Model, tea.Cmd) {
	if m.finding.stop != nil {
		m.finding.stop()
	}
	if m.backend == nil {
		waits := m.finding.early != nil
		m.finding.early = &w
		if waits {
			return m, nil
		}
		return m, soon(func(m Model) (Model, tea.Cmd) {
			last := *m.finding.early
			m.finding.early = nil
			return m.find(last)
		})
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.finding.stop = stop
	b := m.backend
	return m, func() tea.Msg {
		defer stop()
		entries, err := b.Complete(ctx, w.Part)
		if err != nil || ctx.Err() != nil {
			return nil // a list that does not come is none
		}
		list := make([]composer.Command, len(entries))
		for i, e := range entries {
			list[i] = composer.Command{Name: e.Name, Help: e.Detail}
		}
		return result{func(m Model) (Model, tea.Cmd) {
			m.composer = m.composer.SetMentions(w.Part, list)
			return m.fit(), nil
		}}
	}
}

// mentioned makes a chip of a mention that has ended, where it names a file.
// Else it stays text; why a file that is there cannot go is said at once.
func (m Model) mentioned(w composer.Mentioned) (Model, tea.Cmd) {
	if m.backend == nil {
		return m, soon(func(m Model) (Model, tea.Cmd) { return m.mentioned(w) })
	}
	ctx, b := m.ctx, m.backend
	return m, func() tea.Msg {
		f, name, err := lookUp(ctx, b, w.Name)
		return result{func(m Model) (Model, tea.Cmd) {
			switch {
			case errors.Is(err, ErrNoFile) || errors.Is(err, ErrFolder):
				return m, nil
			case err != nil:
				m.composer = m.composer.Forget(w.Name)
				return m.say(transcript.Failure, asIs(err), "It stays text; nothing goes with the message for it."), nil
			}
			word := w.Word
			if name != w.Name {
				word = "@" + name
				m.composer = m.composer.Forget(w.Name)
			}
			return m.attachTo(word, word, f)
		}}
	}
}

// lookUp finds the file of a name, or of the name without the punctuation that
// a sentence has put behind it.
func lookUp(ctx context.Context, b Backend, name string) (File, string, error) {
	if strings.Contains(name, "://") {
		return File{}, name, ErrNoFile // an address is fetched by /attach, never because it was mentioned
	}
	f, err := b.Attach(ctx, name)
	if bare := strings.TrimRight(name, ".,;:!?)]}'\"*_"); errors.Is(err, ErrNoFile) && bare != name && bare != "" {
		if f, err := b.Attach(ctx, bare); err == nil {
			return f, bare, nil
		}
	}
	return f, name, err
}

// attachTo puts a file's chip in the place of a word, or at the caret.
func (m Model) attachTo(word, says string, f File) (Model, tea.Cmd) {
	if err := tooMuch(m.composer.Draft().Files(), f); err != nil {
		return m.say(transcript.Failure, asIs(err), "It stays text; nothing goes with the message for it."), nil
	}
	m.composer = m.composer.Attach(word, says, m.chip(f))
	m, save := m.keepDraft()
	return m.fit(), save
}

// asIs is an error in one sentence that may begin with the name of a file.
func asIs(err error) string { return strings.TrimRight(err.Error(), ".") + "." }

// tooMuch says why a file cannot go with those that are there.
func tooMuch(there []composer.Chip, f File) error {
	total := f.Size
	for _, c := range there {
		if c.Path == f.Path {
			return nil
		}
		total += c.Size
	}
	switch {
	case len(there) >= maxFiles:
		return fmt.Errorf("%d files go with a message at most", maxFiles)
	case total > maxBytes:
		return fmt.Errorf("with %s the files would be %s; the most that goes with a message is %s",
			text.Line(f.Name), humanize.Bytes(uint64(total)), humanize.Bytes(maxBytes))
	}
	return nil
}

// chip is a file as the composer shows it: name, kind and size.
func (m Model) chip(f File) composer.Chip {
	dot := " · "
	if m.prefs.ascii {
		dot = ", "
	}
	name := text.Line(f.Name)
	if text.Width(name) > maxName {
		name = filepath.Base(name)
	}
	label := "[" + text.Truncate(name, maxName) + dot + f.Kind + dot + humanize.Bytes(uint64(max(f.Size, 0))) + "]"
	return composer.Chip{Kind: composer.Attached, Label: label, Path: f.Path, Size: f.Size}
}

// maxName is how many columns a file's name takes in its chip.
const maxName = 40

// says is what stands in a text for a file that no mention names.
func (f File) says() string {
	if strings.ContainsAny(f.Name, " \t") {
		return `@"` + f.Name + `"`
	}
	return "@" + f.Name
}

// attach sends a file along with what is being written, or asks which.
func (m Model) attach(path string) (Model, tea.Cmd) {
	if path == "" {
		return m.toComposer(tea.KeyPressMsg{Code: '@', Text: "@"})
	}
	return fetch(m, "attach the file", func(ctx context.Context, b Backend) (File, error) { return b.Attach(ctx, path) }, func(m Model, f File) (Model, tea.Cmd) { return m.attachTo("", f.says(), f) })
}

// pasteImage sends the image in the clipboard along. Terminals paste texts alone.
func (m Model) pasteImage() (Model, tea.Cmd) {
	return fetch(m, "paste an image", func(ctx context.Context, b Backend) (File, error) { return b.Clipped(ctx) }, func(m Model, f File) (Model, tea.Cmd) { return m.attachTo("", f.says(), f) })
}

// maxPath is how long a path is that a terminal writes when a file is dropped.
const maxPath = 4096

// dropped looks whether a paste was the path of an image, and makes a chip of
// it then. Meanwhile it stands there as what it is, a text.
func (m Model) dropped(paste string) tea.Cmd {
	word := strings.TrimSpace(paste)
	if len(word) > maxPath || !pathlike(word) {
		return nil
	}
	if m.backend == nil {
		return soon(func(m Model) (Model, tea.Cmd) { return m, m.dropped(paste) })
	}
	ctx, b := m.ctx, m.backend
	return func() tea.Msg {
		f, ok := b.Dropped(ctx, word)
		if !ok {
			return nil
		}
		return result{func(m Model) (Model, tea.Cmd) { return m.attachTo(word, f.says(), f) }}
	}
}

// pathlike says whether s may be a path as terminals write one.
func pathlike(s string) bool {
	if s == "" || strings.ContainsAny(s, "\n\r") {
		return false
	}
	s = strings.TrimLeft(s, `'"`)
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "file://") || len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// post puts a message into the outbox. One with mentions that nobody has looked
// up waits for that.
func (m Model) post(d Message, mentions []string) (Model, tea.Cmd) {
	m.outbox = m.outbox.push(d)
	if d.Empty() || len(mentions) == 0 {
		return m, nil
	}
	var id int
	m.outbox, id = m.outbox.open()
	return m, m.lookInto(id, d, mentions)
}

// lookInto looks up the mentions of a message that waits for that.
func (m Model) lookInto(id int, d Message, mentions []string) tea.Cmd {
	if m.backend == nil {
		return soon(func(m Model) (Model, tea.Cmd) { return m, m.lookInto(id, d, mentions) })
	}
	ctx, b := m.ctx, m.backend
	return func() tea.Msg {
		out, none, err := m.resolve(ctx, b, d, mentions)
		return result{func(m Model) (Model, tea.Cmd) {
			if i := m.chats.find(func(c chat) bool { return c.outbox.holds(id) }); i >= 0 {
				return m.closeElsewhere(i, id, out, err)
			}
			if err != nil {
				var there bool
				if m.outbox, d, there = m.outbox.take(id); there {
					m = m.giveBack(d)
				}
				m = m.say(transcript.Failure, asIs(err), "Nothing was sent; your text is back in the composer, and would now go without the file.")
				return m.keepDraft()
			}
			for _, name := range none {
				m = m.say(transcript.Info, "There is no file "+text.Line(name)+"; what you wrote went as text.")
			}
			m.outbox = m.outbox.close(id, out)
			m, cmd := m.pump()
			m, save := m.keepDraft()
			return m, tea.Batch(cmd, save)
		}}
	}
}

// resolve makes chips of the mentions in d that name files. None are those that
// look as if they should have.
func (m Model) resolve(ctx context.Context, b Backend, d Message, mentions []string) (out Message, none []string, err error) {
	for _, name := range mentions {
		f, found, err := lookUp(ctx, b, name)
		switch {
		case errors.Is(err, ErrFolder):
			continue
		case errors.Is(err, ErrNoFile):
			if strings.ContainsAny(name, "./") {
				none = append(none, name)
			}
			continue
		case err != nil:
			return d, nil, err
		}
		if err := tooMuch(d.Files(), f); err != nil {
			return d, nil, err
		}
		word := "@" + found
		if strings.Contains(d.Text, `@"`+found+`"`) {
			word = `@"` + found + `"`
		}
		d = d.With(word, m.chip(f))
	}
	return d, none, nil
}

// content is what a message says: its text, and each output of a command as a
// part of its own.
func content(d Message) []string {
	said, outputs := d.Without(composer.Output)
	var parts []string
	if said = strings.TrimSpace(said); said != "" {
		parts = append(parts, said)
	}
	return append(parts, outputs...)
}

// paths are the files that go with a message.
func paths(d Message) []string {
	var all []string
	for _, c := range d.Files() {
		all = append(all, c.Path)
	}
	return all
}

// begin puts the files that the user has begun the chat with before the text.
func (m Model) begin(files []File) Model {
	for i := len(files) - 1; i >= 0; i-- {
		says := files[i].says()
		c := m.chip(files[i])
		c.Len = len(says)
		m.composer = m.composer.Prepend(Message{Text: says + " ", Chips: []composer.Chip{c}})
	}
	return m
}
