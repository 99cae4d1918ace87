package markdown

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	glamour "charm.land/glamour/v2/ansi"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/dlclark/regexp2"
)

const (
	longCode  = 1024                   // bytes of a line beyond which it is not coloured
	slowCode  = 100 * time.Millisecond // what one line may take
	slowLines = 3                      // that took longer, and no more are coloured; one may be the machine's fault
	maxStack  = 100                    // states in states that a lexer may be in
	tock      = 250 * time.Millisecond // by how much later than at slowCode an expression may be stopped
)

// slowClock has the clock that stops an expression tick less often: it does so
// for as long as code is coloured, and each time the machine wakes up for it.
var slowClock = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(tock) })

// colours is chroma for code that comes line by line: what a line leaves open is carried to the next.
type colours struct {
	of    map[chroma.TokenType]string // the sequences that begin their styles
	lexer *chroma.LexerState          // nil: the language is not known, or too slow
	slow  int                         // lines that took too long
	pairs []pair
	here  chroma.TokenType // what here-documents are, where there are any
	in    *pair            // the line begins inside of it
}

// A pair is what begins and ends a comment or a string of several lines, where the lexer only knows it as a whole.
type pair struct {
	begin, end string
	as         chroma.TokenType
}

// colours returns the colours of a language, at the beginning of a block.
func (l *look) colours(lang string) *colours {
	lang = strings.ToLower(lang)
	c, ok := l.lexers[lang]
	if !ok {
		c = newColours(lang, l.style.CodeBlock.Chroma)
		l.lexers[lang] = c
	}
	return c.clone()
}

// start is a state of ours in front of the lexer's own: it lets us hold the lexer's state, which chroma keeps to itself.
const start = "start of block"

func newColours(lang string, style *glamour.Chroma) *colours {
	c := &colours{}
	if lang == "" || len(lang) > 32 || style == nil {
		return c
	}
	known, ok := lexers.Get(lang).(*chroma.RegexLexer)
	if !ok {
		return c
	}
	rules, err := known.Rules()
	if err != nil {
		return c
	}
	slowClock()
	rules = rules.Clone()
	rules[start] = []chroma.Rule{{Mutator: chroma.MutatorFunc(func(s *chroma.LexerState) error {
		if c.lexer == nil {
			c.lexer = s
		}
		s.Stack = []string{"root"}
		return nil
	})}}
	// Where no rule takes the end of a line, chroma begins anew with the first
	// state, which is ours and leads back here: for ever, but for this one.
	rules["root"] = append(rules["root"], chroma.Rule{Pattern: `\n`, Type: chroma.Text})
	own, err := chroma.NewLexer(known.Config(), func() chroma.Rules { return rules })
	if err != nil {
		return c
	}
	tokens, err := own.SetRegistry(lexers.GlobalLexerRegistry).Tokenise(&chroma.TokeniseOptions{State: start, Nested: true}, "\n")
	if err != nil {
		return c
	}
	tokens.Tokens()
	for _, state := range c.lexer.Rules {
		for _, rule := range state {
			if rule.Regexp != nil {
				rule.Regexp.MatchTimeout = slowCode
			}
		}
	}
	c.of = inks(style)
	for _, ends := range [][2]string{{"/*", "*/"}, {"<!--", "-->"}, {`"""`, `"""`}, {"'''", "'''"}, {"`", "`"}} {
		p := pair{begin: ends[0], end: ends[1]}
		if p.as = c.whole(p.begin + "\nx\n" + p.end); p.as != 0 {
			c.pairs = append(c.pairs, p)
		}
	}
	c.here = c.whole("<<X\nx\nX")
	return c
}

func (c *colours) clone() *colours {
	if c.lexer == nil {
		return c
	}
	next, state := *c, *c.lexer
	state.Stack = slices.Clone(state.Stack)
	state.MutatorContext = maps.Clone(state.MutatorContext)
	next.lexer = &state
	return &next
}

// whole returns what s is if it is one comment or string to the lexer.
func (c *colours) whole(s string) chroma.TokenType {
	if tokens := c.clone().lex(s); len(tokens) > 0 && tokens[0].Value == s && quoted(tokens[0].Type) {
		return tokens[0].Type
	}
	return 0
}

func quoted(t chroma.TokenType) bool {
	return t.InCategory(chroma.Comment) || t.InSubCategory(chroma.LiteralString)
}

// line returns one line of code in its colours.
func (c *colours) line(s string) string {
	if c.lexer == nil || len(s) > longCode {
		return s
	}
	var b strings.Builder
	if c.in != nil {
		end := len(s)
		i := strings.Index(s, c.in.end)
		if i >= 0 {
			end = i + len(c.in.end)
		}
		b.WriteString(dress(c.ink(c.in.as), s[:end]))
		if s = s[end:]; i < 0 {
			return b.String()
		}
		c.in = nil
	}
	began, before := time.Now(), slices.Clone(c.lexer.Stack)
	tokens := c.lex(s + "\n")
	if time.Since(began) > slowCode {
		c.slow++
	}
	if c.slow == slowLines {
		c.lexer = nil
	}
	at := 0
	for _, t := range tokens {
		if p, i := c.opens(s, at, t); p != nil {
			b.WriteString(s[at:i])
			b.WriteString(dress(c.ink(p.as), s[i:]))
			c.in = p
			return b.String()
		}
		at += len(t.Value)
		b.WriteString(dress(c.ink(t.Type), strings.TrimSuffix(t.Value, "\n")))
	}
	if n := len(tokens); n > 0 && c.lexer != nil && slices.Equal(before, c.lexer.Stack) {
		c.in = c.unended(tokens[n-1])
	}
	return b.String()
}

// unended returns the pair whose beginning the lexer took for the whole of a comment, since it had not seen more.
func (c *colours) unended(t chroma.Token) *pair {
	for i, p := range c.pairs {
		if rest, ok := strings.CutPrefix(t.Value, p.begin); ok && p.as == t.Type && !strings.Contains(rest, p.end) {
			return &c.pairs[i]
		}
	}
	return nil
}

// opens returns the pair that begins within the token at s[at:], and where.
func (c *colours) opens(s string, at int, t chroma.Token) (*pair, int) {
	if quoted(t.Type) || at >= len(s) {
		return nil, 0
	}
	for i := range c.pairs {
		p := &c.pairs[i]
		n := strings.Index(s[at:min(len(s), at+len(t.Value)+len(p.begin)-1)], p.begin)
		if n >= 0 {
			return p, at + n
		}
	}
	if c.here == 0 {
		return nil, 0
	}
	n := strings.Index(s[at:min(len(s), at+len(t.Value)+1)], "<<")
	if n < 0 || strings.HasPrefix(s[at+n:], "<<<") {
		return nil, 0
	}
	if word := hereWord(s[at+n+2:]); word != "" {
		return &pair{end: word, as: c.here}, at + n
	}
	return nil, 0
}

// hereWord returns the word that ends the here-document which s begins, behind its <<. A space there, or a number, is arithmetic.
func hereWord(s string) string {
	s = strings.TrimLeft(strings.TrimPrefix(s, "-"), `\'"`)
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return ""
	}
	n := 0
	for n < len(s) && (letterOrDigit(s[n]) || s[n] == '_') {
		n++
	}
	return s[:n]
}

// lex returns the tokens of s, and stands behind it then.
func (c *colours) lex(s string) (tokens []chroma.Token) {
	defer func() {
		if recover() != nil { // a lexer's rules are wrong
			c.lexer, tokens = nil, []chroma.Token{{Type: chroma.Text, Value: s}}
		}
	}()
	l := c.lexer
	if len(l.Stack) == 0 || len(l.Stack) > maxStack {
		l.Stack = []string{"root"}
	}
	l.Text, l.Pos = []rune(s), 0
	for t := l.Iterator(); t != chroma.EOF; t = l.Iterator() {
		if n := len(tokens); n > 0 && tokens[n-1].Type == t.Type {
			tokens[n-1].Value += t.Value
		} else {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// ink returns the sequence that begins a token's style.
func (c *colours) ink(t chroma.TokenType) string {
	for _, t := range [...]chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if s, ok := c.of[t]; ok {
			return s
		}
	}
	return ""
}

func inks(s *glamour.Chroma) map[chroma.TokenType]string {
	of := map[chroma.TokenType]string{}
	for t, p := range map[chroma.TokenType]glamour.StylePrimitive{
		chroma.Text:                s.Text,
		chroma.Comment:             s.Comment,
		chroma.CommentPreproc:      s.CommentPreproc,
		chroma.Keyword:             s.Keyword,
		chroma.KeywordReserved:     s.KeywordReserved,
		chroma.KeywordNamespace:    s.KeywordNamespace,
		chroma.KeywordType:         s.KeywordType,
		chroma.Operator:            s.Operator,
		chroma.Punctuation:         s.Punctuation,
		chroma.Name:                s.Name,
		chroma.NameBuiltin:         s.NameBuiltin,
		chroma.NameTag:             s.NameTag,
		chroma.NameAttribute:       s.NameAttribute,
		chroma.NameClass:           s.NameClass,
		chroma.NameConstant:        s.NameConstant,
		chroma.NameDecorator:       s.NameDecorator,
		chroma.NameException:       s.NameException,
		chroma.NameFunction:        s.NameFunction,
		chroma.NameOther:           s.NameOther,
		chroma.Literal:             s.Literal,
		chroma.LiteralNumber:       s.LiteralNumber,
		chroma.LiteralDate:         s.LiteralDate,
		chroma.LiteralString:       s.LiteralString,
		chroma.LiteralStringDoc:    s.Comment,
		chroma.LiteralStringEscape: s.LiteralStringEscape,
		chroma.GenericDeleted:      s.GenericDeleted,
		chroma.GenericEmph:         s.GenericEmph,
		chroma.GenericInserted:     s.GenericInserted,
		chroma.GenericStrong:       s.GenericStrong,
		chroma.GenericSubheading:   s.GenericSubheading,
	} {
		of[t] = begin(p)
	}
	return of
}
