package screen

// A Sign is what a terminal shows or does beside the picture.
type Sign int

const (
	Once     Sign = iota // is done once: a bell, a notification, text for the clipboard
	Title                // of the window
	Progress             // of the work
	kinds
)

// Marks stand between the lines of a conversation, in [Frame.Above], where a
// terminal can then jump from prompt to prompt. They show nothing, take no line
// and are no part of what is copied.
const (
	PromptMark = "\x1b]133;A\x1b\\" // what the user said begins
	AnswerMark = "\x1b]133;C\x1b\\" // the answer to it begins
	EndMark    = "\x1b]133;D\x1b\\" // the answer has ended
)

func isMark(line string) bool { return line == PromptMark || line == AnswerMark || line == EndMark }

// maxOnce is how many things that are done once may wait for a slow terminal.
const maxOnce = 16

// signs are what there is to tell, and what was told last of what lasts.
type signs struct {
	once  []string
	last  [kinds]string
	owing [kinds]bool
}

func (s *signs) tell(sign Sign, seq string) {
	if sign != Once {
		s.owing[sign], s.last[sign] = true, seq
		return
	}
	if len(s.once) < maxOnce {
		s.once = append(s.once, seq)
	}
}

// take returns what there is to tell.
func (s *signs) take() []byte {
	var b []byte
	for sign := range s.last {
		if s.owing[sign] {
			b = append(b, s.last[sign]...)
		}
	}
	for _, seq := range s.once {
		b = append(b, seq...)
	}
	s.once, s.owing = nil, [kinds]bool{}
	return b
}

// again has all told again that lasts.
func (s *signs) again() {
	for sign, seq := range s.last {
		s.owing[sign] = seq != ""
	}
}
