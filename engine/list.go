package engine

// A list is an immutable list, newest first.
type list[T any] struct{ head *node[T] }

type node[T any] struct {
	v    T
	next *node[T]
	n    int // elements from here on
}

func (l list[T]) push(v T) list[T] { return list[T]{&node[T]{v, l.head, l.len() + 1}} }

func (l list[T]) len() int {
	if l.head == nil {
		return 0
	}
	return l.head.n
}

// find returns the newest element that is meant.
func (l list[T]) find(meant func(T) bool) (T, bool) {
	for n := l.head; n != nil; n = n.next {
		if meant(n.v) {
			return n.v, true
		}
	}
	var none T
	return none, false
}

// change returns the list with the newest element that is meant replaced by
// what f makes of it, or without it where f says so. The rest is shared.
func (l list[T]) change(meant func(T) bool, f func(T) (T, bool)) list[T] {
	if l.head == nil {
		return l
	}
	if meant(l.head.v) {
		v, keep := f(l.head.v)
		if !keep {
			return list[T]{l.head.next}
		}
		return list[T]{l.head.next}.push(v)
	}
	return list[T]{l.head.next}.change(meant, f).push(l.head.v)
}

// oldestFirst returns the elements in the order in which they were pushed.
func (l list[T]) oldestFirst() []T {
	n := l.len()
	all := make([]T, n)
	for e := l.head; e != nil; e = e.next {
		n--
		all[n] = e.v
	}
	return all
}
