package transcript

import (
	"iter"
	"slices"
	"strings"

	"agentx/engine/event"
)

// An item is a message with what belongs to it: its calls and their results, and
// how it failed. It is kept as events, as few and as small as they can be and
// still be laid out as they were when they came.
type item struct {
	key, next int64 // what counts its first event, and the first behind it
	gap       bool  // these events are not here

	events []event.Event
	text   []byte // of the last of them, while pieces of it come
	size   int    // bytes, about

	user     bool
	answer   bool   // a message of the model
	headless bool   // its beginning is in the item before, which is not here
	id       string // of the message, while that is arriving
	arriving bool
	streamed bool // pieces of it have come
	calls    int  // that have no result
	came     bool // an answer to the user's message has begun before
	answered bool // and in this one

	unfolded bool
}

// A note is a notice among the events, and a heading is one.
type (
	note struct {
		kind      Kind
		sentences []string
	}
	heading struct{ title string }
)

func (note) Type() string    { return "note" }
func (heading) Type() string { return "heading" }

// grow adds an event to the last of items, or begins another with it. What
// nobody sees is only counted.
func grow(items []*item, key int64, e event.Event) []*item {
	var last *item
	if n := len(items); n > 0 && !items[n-1].gap {
		last = items[n-1]
	}
	e, shown := compact(e)
	switch {
	case shown && !unannounced(last, e.Data):
		if last == nil || last.begins(e.Data) {
			last = newItem(last, key, e.Data)
			items = append(items, last)
		}
		last.add(key, e)
	case last != nil:
		last.next = key + 1
	}
	return items
}

// unannounced is a call that its message is yet to bring, as logs have it.
func unannounced(last *item, d event.Data) bool {
	_, call := d.(event.ToolCallMessage)
	return call && (last == nil || !last.arriving)
}

// begins reports whether d begins another item. What comes in the middle of a
// message stays there.
func (it *item) begins(d event.Data) bool {
	switch d := d.(type) {
	case event.UserMessage, event.MessageStart:
		return true
	case event.TurnResponse:
		return false // it was stopped before an answer came
	case event.AssistantMessage:
		return !it.arriving || it.id != d.ID && it.id != ""
	case note, heading, event.SystemError:
		return !it.arriving && it.calls == 0
	}
	return !it.answer
}

func newItem(last *item, key int64, d event.Data) *item {
	it := &item{key: key}
	if last != nil {
		it.came = last.hasCome()
	}
	switch d.(type) {
	case event.UserMessage:
		it.user, it.came = true, false
	case note, heading, event.SystemError:
	case event.MessageStart, event.AssistantMessage:
		it.answer = true
	default:
		it.answer, it.headless = true, true
	}
	return it
}

// hasCome reports whether an answer has begun by the end of the item.
func (it *item) hasCome() bool { return it.came || it.answered }

// add takes an event of its own.
func (it *item) add(key int64, e event.Event) {
	it.next = key + 1
	switch d := e.Data.(type) {
	case event.MessageStart:
		it.id, it.arriving = d.MessageID, true
	case event.TextDelta, event.ThinkingDelta, event.ToolUseStart:
		it.arriving, it.streamed = true, true
	case event.AssistantMessage:
		it.answered = it.answered || len(d.Content) > 0
		it.calls += len(d.Content.ToolCalls())
		if it.streamed {
			d.Content = onlyAsides(d.Content)
			e.Data = d
		}
		it.arriving, it.streamed = false, false
	case event.ToolResultMessage:
		it.calls = max(it.calls-1, 0)
	}
	it.append(e)
}

// append joins pieces of a text, so that a long one takes what it holds.
func (it *item) append(e event.Event) {
	it.size += weight + volume(e.Data)
	if more, ok := piece(e.Data); ok {
		if n := len(it.events); n > 0 && it.events[n-1].Data.Type() == e.Data.Type() {
			if it.text == nil {
				before, _ := piece(it.events[n-1].Data)
				it.text = []byte(before)
			}
			it.text = append(it.text, more...)
			it.size -= weight
			return
		}
	}
	it.join()
	it.events = append(it.events, e)
}

// join ends a text that came in pieces.
func (it *item) join() {
	if it.text == nil {
		return
	}
	last := &it.events[len(it.events)-1]
	switch last.Data.(type) {
	case event.TextDelta:
		last.Data = event.TextDelta{Text: string(it.text)}
	case event.ThinkingDelta:
		last.Data = event.ThinkingDelta{Text: string(it.text)}
	}
	it.text = nil
}

func piece(d event.Data) (string, bool) {
	switch d := d.(type) {
	case event.TextDelta:
		return d.Text, true
	case event.ThinkingDelta:
		return d.Text, true
	}
	return "", false
}

// weight is about what an event takes beside its texts.
const weight = 150

// volume is about what the texts of an event take.
func volume(d event.Data) int {
	n := 0
	for s := range texts(d) {
		n += len(s)
	}
	return n
}

// maxKept is how many bytes of what a tool was asked or said are kept.
const maxKept = 64 << 10

// compact is an event without what is never seen of it; false says that nothing
// is.
func compact(e event.Event) (event.Event, bool) {
	switch d := e.Data.(type) {
	case event.UserMessage:
		d.Content = light(d.Content)
		e.Data = d
	case event.AssistantMessage:
		d.Content = light(d.Content)
		e.Data = d
	case event.ToolCallMessage:
		d.ToolCall = lightCall(d.ToolCall)
		e.Data = d
	case event.ToolResultMessage:
		o := &d.ToolResult.Output
		o.Text, o.JSON, o.Parts = string(head([]byte(o.Text))), head(o.JSON), light(o.Parts)
		e.Data = d
	case event.ThinkingDelta:
		e.Data = event.ThinkingDelta{Text: d.Text}
	case event.MessageStart, event.TextDelta, event.ToolUseStart, event.ErrorMessage, event.SystemError, note, heading:
	case event.TurnResponse:
		return e, unanswered(d)
	default:
		return e, false
	}
	return e, true
}

// light is parts without the bytes of pictures and files, and without what only
// a provider reads.
func light[P ~[]event.Part](parts P) P {
	out := make(P, 0, len(parts))
	for _, part := range parts {
		switch p := part.(type) {
		case event.Thinking:
			part = event.Thinking{Text: p.Text}
		case event.Image:
			p.Data = nil
			part = p
		case event.File:
			p.Data = nil
			part = p
		case event.ToolCall:
			part = lightCall(p)
		}
		out = append(out, part)
	}
	return out
}

func lightCall(c event.ToolCall) event.ToolCall {
	c.Input, c.Raw = head(c.Input), string(head([]byte(c.Raw)))
	return c
}

// head is the beginning of b, and holds on to no more.
func head[B ~[]byte](b B) B {
	if len(b) <= maxKept {
		return b
	}
	return slices.Clone(b[:maxKept])
}

func onlyAsides(parts event.Parts) event.Parts {
	return slices.DeleteFunc(slices.Clone(parts), func(p event.Part) bool { _, aside := p.(event.Aside); return !aside })
}

// texts are all that can be read of an event.
func texts(d event.Data) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch d := d.(type) {
		case event.UserMessage:
			read(d.Content, yield)
		case event.AssistantMessage:
			read(d.Content, yield)
		case event.TextDelta:
			yield(d.Text)
		case event.ThinkingDelta:
			yield(d.Text)
		case event.ToolUseStart:
			yield(d.ToolName)
		case event.ToolCallMessage:
			read(event.Parts{d.ToolCall}, yield)
		case event.ToolResultMessage:
			yield(d.ToolResult.Output.String())
		case event.ErrorMessage:
			yield(d.Content)
		case event.SystemError:
			_ = yield(d.Message) && yield(d.Details)
		case note:
			_ = yield(strings.Join(d.sentences, " "))
		}
	}
}

func read[P ~[]event.Part](parts P, yield func(string) bool) {
	for _, part := range parts {
		s := ""
		switch p := part.(type) {
		case event.Text:
			s = p.Text
		case event.Thinking:
			s = p.Text
		case event.ToolCall:
			s = p.Name + " " + string(p.Input) + p.Raw
		case event.Aside:
			s = p.Text + " " + p.URL
		case event.Image, event.File:
			s = attached(p)
		}
		if s != "" && !yield(s) {
			return
		}
	}
}

// said is what the item says, without thoughts and calls.
func (it *item) said() string {
	var b strings.Builder
	it.join()
	for _, e := range it.events {
		switch d := e.Data.(type) {
		case event.UserMessage:
			b.WriteString(d.Content.Text())
		case event.TextDelta:
			b.WriteString(d.Text)
		case event.AssistantMessage:
			b.WriteString(d.Content.Text())
		case event.ErrorMessage:
			b.WriteString(d.Content)
		case event.SystemError:
			b.WriteString(d.Message)
		case note:
			b.WriteString(strings.Join(d.sentences, "\n"))
		}
	}
	return strings.TrimSpace(b.String())
}

// holds reports whether all of words are in the item, whatever their case.
func (it *item) holds(words []string) bool {
	it.join()
	missing := slices.Clone(words)
	for _, e := range it.events {
		for s := range texts(e.Data) {
			s = strings.ToLower(s)
			missing = slices.DeleteFunc(missing, func(w string) bool { return strings.Contains(s, w) })
		}
	}
	return len(missing) == 0
}
