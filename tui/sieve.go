package tui

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

// A sieve holds back what a terminal has sent only the beginning of, a sequence or
// a character: its rest, however late it comes, is not taken for what was typed.
type sieve struct {
	half   []byte    // what waits for its rest
	lost   []byte    // what was given up waiting, or taken for a key, by the read before
	at     time.Time // when the last of either came
	pastes bool      // all is text, until the end of a paste
	pours  bool      // what was read last was a part of lines that came at once, of which there is more
}

const (
	late    = endless // after which no rest is waited for
	maxHalf = 512     // bytes of a sequence; what is in a longer one is lost
)

// sift adds b to what waits and returns what is whole.
func (s *sieve) sift(b []byte, now time.Time) []byte {
	if len(b) == 0 {
		return nil
	}
	if len(s.half) > 0 && now.Sub(s.at) > late {
		s.lost, s.half = s.half, nil
	}
	if s.isRest(b, now) {
		s.half = s.lost
	}
	b, s.at, s.lost, s.half = append(s.half, b...), now, nil, nil
	for i := 0; i < len(b); {
		n := s.next(b[i:])
		if n == 0 {
			s.half = bytes.Clone(b[i:])
			if last := len(s.half) - 1; last > maxHalf {
				s.half = append(s.half[:2], s.half[last])
			}
			return b[:i]
		}
		i += n
	}
	return b
}

// next is how long the first thing in b is, or 0 where its end is missing.
func (s *sieve) next(b []byte) int {
	switch {
	case !s.pastes:
		n := first(b)
		s.pastes = string(b[:n]) == pasteBegins
		return n
	case bytes.HasPrefix(b, []byte(pasteEnds)):
		s.pastes = false
		return len(pasteEnds)
	case bytes.HasPrefix([]byte(pasteEnds), b):
		return 0
	}
	return character(b)
}

// isRest says whether b goes on with what was lost.
func (s *sieve) isRest(b []byte, now time.Time) bool {
	if len(s.lost) == 0 || len(b) < 2 || s.pastes {
		return false
	}
	all := append(bytes.Clone(s.lost), b...)
	if strings.IndexByte("[]P_^XO", all[1]) < 0 {
		return false
	}
	soon := now.Sub(s.at) <= late
	n := first(all)
	switch {
	case n == 0:
		return soon && len(all) > 2 && strings.IndexByte(goesOn(all[1]), all[2]) >= 0
	case soon && (n == len(all) || all[n] == '\x1b'):
		return true
	case soon && n > 3 && all[1] == '[' && all[n-1] != ']':
		return true // a key with numbers
	}
	return isAnswer(all[:n])
}

// goesOn is with what answers of that kind go on.
func goesOn(kind byte) string {
	switch kind {
	case '[':
		return "<=>?0123456789"
	case ']':
		return "0123456789"
	case 'P':
		return ">!+$01"
	case '_':
		return "G"
	}
	return ""
}

// mayBeKey says whether what waits may be a key, or several, and nothing more to
// come.
func (s *sieve) mayBeKey() bool {
	if len(s.half) == 0 || s.half[0] != '\x1b' || s.pastes {
		return false
	}
	behind := bytes.TrimLeft(s.half, "\x1b")
	return len(behind) < 2 || behind[0] == '[' && behind[1] >= '0' && behind[1] <= '9' && bytes.HasSuffix(behind, []byte("$"))
}

// key gives up waiting for the rest of what may be one. What a decoder would wait
// for once more is told so that nothing can be missing.
func (s *sieve) key() []byte {
	s.lost, s.half = s.half, nil
	switch {
	case len(s.lost) > 2 || runtime.GOOS == "windows":
		return s.lost
	case len(s.lost) == 1:
		return []byte("\x1b[27u")
	case s.lost[1] >= 'A' && s.lost[1] <= 'Z':
		return fmt.Appendf(nil, "\x1b[%d;4u", s.lost[1]+'a'-'A')
	}
	return fmt.Appendf(nil, "\x1b[%d;3u", s.lost[1])
}

// pour makes a paste of lines that came at once, or goes on with it.
func (s *sieve) pour(answered, text []byte, more bool) []byte {
	var b []byte
	if s.pours && len(answered) > 0 {
		b, s.pours = append(b, pasteEnds...), false // in a paste nobody would see them
	}
	b = append(b, answered...)
	if !s.pours {
		b = append(b, pasteBegins...)
	}
	b = append(b, text...)
	if s.pours = more; !more {
		b = append(b, pasteEnds...)
	}
	return b
}

// first is how long the sequence or the character is that b begins with, or 0
// where its end is missing.
func first(b []byte) int {
	switch {
	case b[0] != '\x1b':
		return character(b)
	case len(b) == 1:
		return 0
	}
	switch b[1] {
	case '[':
		return control(b)
	case ']', 'P', '_', '^', 'X':
		return str(b)
	case 'O':
		i := 2
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return within(i+1, b)
	}
	if n := first(b[1:]); n > 0 {
		return n + 1
	}
	return 0
}

func character(b []byte) int {
	if !utf8.FullRune(b) {
		return 0
	}
	_, n := utf8.DecodeRune(b)
	return n
}

// control is the length of a control sequence.
func control(b []byte) int {
	i := 2
	for i < len(b) && b[i] >= ' ' && b[i] <= '?' {
		i++
	}
	switch {
	case i == len(b):
		return 0
	case b[i] < '@' || b[i] > '~':
		return i // it was broken off
	case i == 2 && b[i] == '[':
		return within(4, b) // a function key of the Linux console
	case i == 2 && b[i] == 'M':
		return within(6, b) // an old mouse
	}
	return i + 1
}

// str is the length of a sequence that is ended by another, or by a bell.
func str(b []byte) int {
	for i := 2; i < len(b); i++ {
		switch b[i] {
		case '\a', '\x18', '\x1a':
			if b[i] != '\a' || b[1] == ']' {
				return i + 1
			}
		case '\x1b':
			if i+1 == len(b) {
				return 0
			}
			if b[i+1] == '\\' {
				return i + 2
			}
			return i // it was broken off
		}
	}
	return 0
}

func within(n int, b []byte) int {
	if n > len(b) {
		return 0
	}
	return n
}

// isAnswer says whether only a terminal sends that sequence, and no key of it.
func isAnswer(seq []byte) bool {
	if len(seq) < 3 || seq[0] != '\x1b' {
		return false
	}
	switch end := seq[len(seq)-1]; seq[1] {
	case ']', 'P', '_', '^', 'X':
		return true
	case '[':
		return seq[2] >= '<' && seq[2] <= '?' || end == 't' || end == 'n' || end == 'R' && bytes.IndexByte(seq, ';') > 0 || len(seq) == 3 && (end == 'I' || end == 'O')
	}
	return false
}

// part parts what the terminal answers from the rest. Both are whole.
func part(b []byte) (answered, rest []byte) {
	if bytes.IndexByte(b, '\x1b') < 0 {
		return nil, b
	}
	for len(b) > 0 {
		n := max(first(b), 1)
		if isAnswer(b[:n]) {
			answered = append(answered, b[:n]...)
		} else {
			rest = append(rest, b[:n]...)
		}
		b = b[n:]
	}
	return answered, rest
}
