package transcript

import (
	"sort"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/theme"
)

// Items are a conversation message by message, for a screen that shows a part of
// it: laid out is only what is asked for. The same code draws them as draws what
// is printed. What the log held before is here page by page, as far as somebody
// wanted to see it; gaps stand for the rest. Items belong to one goroutine, and
// to the newest copy of their Model.
type Items struct {
	list    []*item
	end     int64 // behind the last key
	stored  int64 // what lies below it, from 1, can be had again
	missing int   // messages that are in gaps
	size    int   // bytes of what is here, about

	blank Model // what an item is laid out with
	shown bool  // somebody looks
	beat  int
	live  Model    // of the last item, as it grows
	done  []string // its finished rows, below a blank one
	tail  []string // what is not finished, as it looks now
	fresh bool     // tail is that
	young map[int64]layout
	old   map[int64]layout
	rows  int // in young
}

// A layout is an item's rows, below a blank one. If another blank one comes
// first, the item is always set apart, else it is unless both are calls.
type layout struct {
	rows  []string
	calls bool // the last of them is a call
}

// before is where keys begin that are not those of a log.
const before = -1 << 40

func newItems(c Config, th *theme.Theme) *Items {
	c.Keep, c.Marks, c.Unfold = false, Marks{}, "" // there, messages have keys of their own
	return &Items{end: before, blank: New(c, th), young: map[int64]layout{}}
}

// begin goes on with what a log holds from first on.
func (l *Items) begin(first int64, missing int, events []event.Event) {
	l.end = max(first, 1)
	if l.end > 1 {
		l.list = append(l.list, &item{key: 1, next: l.end, gap: true})
		l.missing = missing
	}
	for _, e := range events {
		l.Add(e)
	}
	l.stored = l.end
	for _, it := range l.list {
		l.size += it.size
	}
}

// inherit takes over what was noted before there was a conversation, and whether
// somebody looks.
func (l *Items) inherit(from *Items) {
	if from == nil {
		return
	}
	for _, it := range from.list {
		for _, e := range it.events {
			l.Add(e)
		}
	}
}

// Add takes an event as it comes.
func (l *Items) Add(e event.Event) {
	n := len(l.list)
	l.list = grow(l.list, l.end, e)
	l.end++
	if len(l.list) > n {
		if n > 0 {
			l.list[n-1].join()
		}
		l.turn()
	}
	if l.shown {
		l.live = l.live.Apply(e)
		l.take()
	}
}

// turn looks at the last item as it grows. What was the last until now has its
// rows already, unless something of it was still to come.
func (l *Items) turn() {
	if !l.shown {
		return
	}
	if n := len(l.list); n > 1 && l.live.resting() {
		l.keep(l.list[n-2], layout{trimmed(l.done), l.live.listed})
	}
	l.live, l.done, l.fresh = l.model(l.list[len(l.list)-1]), []string{""}, false
}

func (l *Items) take() {
	var lines []string
	l.live, lines = l.live.Take()
	l.done, l.fresh = append(l.done, lines...), false
}

// Show lays items out from now on, where somebody asks for them.
func (l *Items) Show() {
	l.shown = true
	l.relay()
}

// Hide forgets how they look.
func (l *Items) Hide() {
	l.shown = false
	l.live, l.done = Model{}, nil
	l.forget()
}

func (l *Items) forget() { l.young, l.old, l.rows = map[int64]layout{}, nil, 0 }

// relay forgets how items look.
func (l *Items) relay() {
	l.forget()
	l.wake()
}

// wake lays out the item that grows.
func (l *Items) wake() {
	if n := len(l.list); n > 0 && l.shown {
		last := l.list[n-1]
		l.live, l.done = l.model(last), []string{""}
		last.join()
		for _, e := range last.events {
			l.live = l.live.apply(e)
		}
		l.take()
	}
}

func (l *Items) dress(change func(Model) Model) {
	l.blank = change(l.blank)
	l.relay()
}

func (l *Items) advance(now time.Time) {
	l.live = l.live.Advance(now)
	l.take()
}

func (l *Items) hurry() {
	l.live = l.live.Hurry()
	l.take()
}

// Beat turns the marks of what is at work; it counts tenths of a second.
func (l *Items) Beat(n int) {
	l.fresh = l.fresh && (n == l.beat || len(l.live.calls) == 0)
	l.beat = n
}

// Len is how many items there are, gaps among them.
func (l *Items) Len() int { return len(l.list) }

// Key returns what an item keeps, whatever comes before it.
func (l *Items) Key(i int) int64 { return l.list[i].key }

// Next returns the key behind those of an item.
func (l *Items) Next(i int) int64 { return l.list[i].next }

// Index returns the item of a key, or of the nearest below it, or the first.
func (l *Items) Index(key int64) int {
	return max(sort.Search(len(l.list), func(i int) bool { return l.list[i].key > key })-1, 0)
}

// End is a key that is greater than all.
func (l *Items) End() int64 { return l.end }

// Share is how much of the conversation lies before an item, in percent of what
// is here and what is not.
func (l *Items) Share(i int) int {
	gaps := int64(0)
	for _, it := range l.list {
		if it.gap {
			gaps += it.next - it.key
		}
	}
	above, all := int64(0), int64(0)
	for n, it := range l.list {
		weight := int64(1)
		if it.gap {
			weight = int64(l.missing) * (it.next - it.key) / gaps
		}
		if all += weight; n < i {
			above += weight
		}
	}
	return int(100 * above / max(all, 1))
}

// User reports whether an item is what the user said.
func (l *Items) User(i int) bool { return l.list[i].user }

// Asked returns the id of the user's message that an item is, or answers; empty
// where that is not here.
func (l *Items) Asked(i int) string {
	for ; i >= 0 && !l.list[i].gap; i-- {
		if !l.list[i].user {
			continue
		}
		for _, e := range l.list[i].events {
			if u, ok := e.Data.(event.UserMessage); ok {
				return u.ID
			}
		}
	}
	return ""
}

// Message reports whether an item was said by the user or the model.
func (l *Items) Message(i int) bool { return l.list[i].user || l.list[i].answer && !l.list[i].empty() }

func (it *item) empty() bool { return len(it.events) == 0 }

// messages counts them as the log does.
func (it *item) messages() int {
	n := 0
	for _, e := range it.events {
		switch e.Data.(type) {
		case event.UserMessage, event.AssistantMessage:
			n++
		}
	}
	return n
}

// Said returns what an item says, as it was written.
func (l *Items) Said(i int) string { return l.list[i].said() }

// Holds reports whether all of words, which are in lower case, are in an item.
func (l *Items) Holds(i int, words []string) bool { return l.list[i].holds(words) }

// Fold lays an item's thoughts and calls out whole, or as a line each again.
func (l *Items) Fold(i int) {
	it := l.list[i]
	it.unfolded = !it.unfolded
	l.drop(it)
	if i == len(l.list)-1 {
		l.relay()
	}
}

// Foldable reports whether there is anything to fold in an item.
func (l *Items) Foldable(i int) bool {
	for _, e := range l.list[i].events {
		switch d := e.Data.(type) {
		case event.ThinkingDelta, event.ToolUseStart, event.ToolResultMessage:
			return true
		case event.AssistantMessage:
			if len(d.Content.ToolCalls()) > 0 || d.Content.Thinking() != "" {
				return true
			}
		}
	}
	return false
}

// model is what an item is laid out with. It takes it to stand behind a call, so
// that it begins with a blank row unless it begins with another.
func (l *Items) model(it *item) Model {
	m := l.blank
	m.came, m.spaced, m.listed, m.unfolded = it.came, false, true, it.unfolded
	return m
}

// Rows returns an item as it looks, with the blank row before it that keeps it
// apart.
func (l *Items) Rows(i int) []string {
	it := l.list[i]
	if it.gap {
		return l.gap(i)
	}
	rows := l.layout(i).rows
	switch {
	case len(trimmed(rows)) == 0:
		return nil
	case i == 0 && rows[1] == "":
		return rows[2:]
	case i == 0, rows[1] == "", l.endsWithCall(i - 1):
		return rows[1:]
	}
	return rows
}

// layout is how an item looks now.
func (l *Items) layout(i int) layout {
	if i < len(l.list)-1 || !l.shown {
		return l.lay(l.list[i])
	}
	if !l.fresh {
		l.tail, l.fresh = l.live.Tail(everything, l.beat), true
	}
	return layout{rows: append(l.done, l.tail...)} // into room that is written again when more comes
}

// endsWithCall looks past items that show nothing.
func (l *Items) endsWithCall(i int) bool {
	for ; i >= 0 && !l.list[i].gap; i-- {
		if out := l.lay(l.list[i]); len(out.rows) > 1 {
			return out.calls
		}
	}
	return false
}

func (l *Items) gap(i int) []string {
	s := "… "
	if l.missing > 0 && i <= 1 {
		s += plural(l.missing, "earlier message")
	}
	rows := []string{"", l.blank.look.muted(strings.TrimRight(s, " "))}
	if i == 0 {
		return rows[1:]
	}
	return rows
}

// maxRows is how many rows of items that have been laid out are kept at least,
// and twice as many at most.
const maxRows = 4000

// lay lays an item out, or finds it laid out. What has not been asked for while
// as many rows as are kept were laid out is forgotten.
func (l *Items) lay(it *item) layout {
	if out, ok := l.young[it.key]; ok {
		return out
	}
	out, ok := l.old[it.key]
	if !ok {
		m := l.model(it)
		it.join()
		for _, e := range it.events {
			m = m.apply(e)
		}
		m = m.settle()
		out = layout{append([]string{""}, trimmed(m.out)...), m.listed}
	}
	l.keep(it, out)
	return out
}

func trimmed(rows []string) []string {
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

func (l *Items) keep(it *item, out layout) {
	if l.rows > maxRows {
		l.young, l.old, l.rows = map[int64]layout{}, l.young, 0
	}
	l.young[it.key] = out
	l.rows += len(out.rows)
}

func (l *Items) drop(it *item) {
	delete(l.young, it.key)
	delete(l.old, it.key)
}
