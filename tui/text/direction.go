package text

import "strings"

const (
	isolate    = '\u2068' // what follows runs in the direction of its first letter, and moves nothing around it
	endIsolate = '\u2069'
)

// directs says whether r is a mark of direction, or an isolate, whose end is known: that of the line.
func directs(r rune) bool {
	return r == 0x200e || r == 0x200f || r == 0x61c || r >= 0x2066 && r <= endIsolate
}

// fromRight says whether a letter is of a script that is written from right to left.
func fromRight(r rune) bool {
	return r >= 0x590 && (r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff)
}

// Isolate keeps a piece of a line to itself where it runs from right to left: a terminal that turns it round must not turn what
// stands beside it, such as a border, with it. Other pieces are returned as they are.
func Isolate(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return fromRight(r) || directs(r) }) {
		return s
	}
	return string(isolate) + s + string(endIsolate)
}

// Undirected is s without marks of direction and isolates, for what is no terminal, or a simple one.
func Undirected(s string) string {
	if !strings.ContainsFunc(s, directs) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if directs(r) {
			return -1
		}
		return r
	}, s)
}
