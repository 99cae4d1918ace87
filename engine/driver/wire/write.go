package wire

import (
	"bytes"
	"encoding/json"
	"slices"

	"agentx/engine/event"
)

// A Letter is a request as it is to be written: a conversation, and what stands
// around it.
type Letter struct {
	Around any    // a struct of which something is always written; nil is nothing
	List   string // name of the list that is the conversation, the last field

	First []any  // of the list
	Turns []Turn // what has been said
	Last  []any  // of the list, behind the turns

	// Become says what stands in the list for a turn. It is told nothing but the
	// turn; what else it goes by, How says.
	Become func(Turn) []any
	How    string
}

// Items are values to stand in the list of a letter.
func Items[M any](all []M) []any {
	items := make([]any, len(all))
	for i, m := range all {
		items[i] = m
	}
	return items
}

// Write returns the letter as JSON. The turns that the letter before it had too,
// which is most of them, are copied from there.
func (c *Client) Write(l Letter) ([]byte, error) {
	around, err := event.Marshal(l.Around)
	if err != nil {
		return nil, err
	}
	var w writer
	first, last := w.list(l.First), w.list(l.Last)
	said := c.lastWritten(l.How)
	said.update(&w, l)
	if w.err != nil {
		return nil, w.err // and what was written is forgotten
	}
	body := bind(around, l.List, first, said, last)
	if c != nil && said.size <= maxWritten {
		c.written.Store(said) // from now on it is somebody else's
	}
	return body, nil
}

// lastWritten takes what was written last. It belongs to one goroutine at a time:
// who comes meanwhile begins anew.
func (c *Client) lastWritten(how string) *written {
	if c != nil {
		if w := c.written.Swap(nil); w != nil && w.how == how {
			return w
		}
	}
	return &written{how: how}
}

// bind puts a list behind the other fields. What stands in the list has a comma
// behind it.
func bind(around []byte, name string, first []byte, said *written, last []byte) []byte {
	b := make([]byte, 0, len(around)+len(`,"":[]`)+len(name)+len(first)+said.size+len(last))
	b = append(b, around[:len(around)-1]...)
	b = append(b, `,"`+name+`":[`...)
	b = append(b, first...)
	for _, text := range said.texts {
		b = append(b, text...)
	}
	b = append(b, last...)
	return append(bytes.TrimSuffix(b, []byte(",")), "]}"...)
}

// A writer writes values as JSON, and keeps the first error.
type writer struct {
	b   bytes.Buffer
	err error
}

// list is all as JSON, a comma behind each.
func (w *writer) list(all []any) []byte {
	w.b.Reset()
	enc := json.NewEncoder(&w.b)
	enc.SetEscapeHTML(false)
	for _, v := range all {
		if w.err == nil {
			w.err = enc.Encode(v)
		}
		if w.err != nil {
			return nil
		}
		w.b.Bytes()[w.b.Len()-1] = ',' // where the line ends
	}
	return bytes.Clone(w.b.Bytes())
}

// written are turns, and what they have become.
type written struct {
	how   string
	turns []Turn
	texts [][]byte // of each turn
	size  int      // of all texts
}

// maxWritten is how many bytes a client keeps of what it has written.
const maxWritten = 16 << 20

// update makes it what is written of the letter. Where something else is said
// than before, that is written anew, and all behind it.
func (w *written) update(to *writer, l Letter) {
	same := 0
	for same < min(len(w.turns), len(l.Turns)) && alike(w.turns[same], l.Turns[same]) {
		same++
	}
	for _, text := range w.texts[same:] {
		w.size -= len(text)
	}
	clear(w.texts[same:])
	w.turns, w.texts = l.Turns, w.texts[:same]
	for _, t := range l.Turns[same:] {
		text := to.list(l.Become(t))
		w.texts, w.size = append(w.texts, text), w.size+len(text)
	}
}

// alike reports whether the same is said in two turns. Of what is kept in memory
// it compares no bytes: most parts are the very same.
func alike(a, b Turn) bool {
	return a.Assistant == b.Assistant && slices.EqualFunc(a.Parts, b.Parts, equal)
}

func equal(a, b event.Part) bool {
	switch a := a.(type) {
	case event.ToolCall:
		b, ok := b.(event.ToolCall)
		return ok && a.ID == b.ID && a.Name == b.Name && a.InputError == b.InputError && a.Raw == b.Raw && identical(a.Input, b.Input)
	case event.ToolReturn:
		b, ok := b.(event.ToolReturn)
		return ok && a.ID == b.ID && a.Name == b.Name && a.Output.Kind == b.Output.Kind && a.Output.Text == b.Output.Text &&
			identical(a.Output.JSON, b.Output.JSON) && slices.EqualFunc(a.Output.Parts, b.Output.Parts, equal)
	case event.Image:
		b, ok := b.(event.Image)
		return ok && a.MediaType == b.MediaType && a.URL == b.URL && a.Name == b.Name && identical(a.Data, b.Data)
	case event.File:
		b, ok := b.(event.File)
		return ok && a.MediaType == b.MediaType && a.Filename == b.Filename && identical(a.Data, b.Data)
	}
	switch b.(type) {
	case event.ToolCall, event.ToolReturn, event.Image, event.File:
		return false
	}
	return a == b // of strings
}

// identical tells none from empty ones.
func identical(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
