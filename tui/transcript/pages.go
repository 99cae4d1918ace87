package transcript

import (
	"slices"

	"agentx/engine/event"
)

// Missing reports whether an item stands for events of the log that are not
// here: those from first on, before the one that next counts.
func (l *Items) Missing(i int) (first, next int64, ok bool) {
	it := l.list[i]
	return it.key, it.next, it.gap
}

// Fill puts events of the log where they are missing; first counts the first of
// them. What is here already stays as it is.
func (l *Items) Fill(first int64, events []event.Event) {
	if len(l.list) == 0 {
		return
	}
	i := l.Index(first)
	gap := l.list[i]
	if !gap.gap || first < gap.key || len(events) == 0 {
		return
	}
	events = events[:min(int64(len(events)), gap.next-first)]
	page := l.page(first, events)
	next := first + int64(len(events))
	if first > gap.key {
		page = append([]*item{{key: gap.key, next: first, gap: true}}, page...)
	}
	if next < gap.next {
		page = append(page, &item{key: next, next: gap.next, gap: true})
	}
	end := l.list[len(l.list)-1]
	l.list = slices.Replace(l.list, i, i+1, page...)
	l.mend(i, i+len(page))
	if end != l.list[len(l.list)-1] {
		l.wake()
	}
}

// mend puts together what a page has cut, among the items from first on up to
// last.
func (l *Items) mend(first, last int) {
	for i := min(last, len(l.list)-1); i >= max(first, 1); i-- {
		if it, rest := l.list[i-1], l.list[i]; rest.headless && it.answer && !it.gap && !rest.gap {
			l.drop(it)
			l.drop(rest)
			it.events, it.next, it.size = append(it.events, rest.events...), rest.next, it.size+rest.size
			it.answered = it.answered || rest.answered
			l.list = slices.Delete(l.list, i, i+1)
		}
	}
	for i := max(first, 1); i < len(l.list) && !l.list[i].user; i++ {
		if it, prev := l.list[i], l.list[i-1]; it.came != prev.hasCome() {
			it.came = prev.hasCome()
			l.drop(it)
		}
	}
}

// page makes items of events.
func (l *Items) page(first int64, events []event.Event) []*item {
	var page []*item
	for n, e := range events {
		page = grow(page, first+int64(n), e)
	}
	if len(page) == 0 {
		page = []*item{{answer: true, headless: true}}
	}
	page[0].key, page[len(page)-1].next = first, first+int64(len(events))
	for _, it := range page {
		it.join()
		l.size += it.size
		l.missing = max(l.missing-it.messages(), 0)
	}
	return page
}

// maxLoaded is how many bytes of what can be had again are kept.
const maxLoaded = 8 << 20

// Trim lets go of pages that lie farthest from an item, as long as there are too
// many. They can be had again.
func (l *Items) Trim(i int) {
	for key := l.Key(i); l.size > maxLoaded; {
		far := l.farthest(l.Index(key))
		if far < 0 {
			return
		}
		it := l.list[far]
		l.missing += it.messages()
		l.size -= it.size
		l.drop(it)
		l.list[far] = &item{key: it.key, next: it.next, gap: true}
		l.close(far)
	}
}

// near is how many items around the one that is looked at always stay.
const near = 100

// farthest is the item of an earlier page that lies farthest from i, or less
// than 0 where none lies far.
func (l *Items) farthest(i int) int {
	far, away := -1, near
	first := slices.IndexFunc(l.list, l.again)
	last := l.Index(l.stored - 1)
	for last > first && !l.again(l.list[last]) {
		last--
	}
	for _, n := range []int{first, last} {
		if d := max(n-i, i-n); n >= 0 && d > away {
			far, away = n, d
		}
	}
	return far
}

// again reports whether an item is here and can be had again.
func (l *Items) again(it *item) bool { return !it.gap && it.key > 0 && it.next <= l.stored }

// close makes one gap of those that touch.
func (l *Items) close(i int) {
	for i+1 < len(l.list) && l.list[i+1].gap {
		l.list[i] = &item{key: l.list[i].key, next: l.list[i+1].next, gap: true}
		l.list = slices.Delete(l.list, i+1, i+2)
	}
	if i > 0 && l.list[i-1].gap {
		l.close(i - 1)
	}
}
