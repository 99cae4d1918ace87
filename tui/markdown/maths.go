package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maths reads $x_1 * y_1$, $$x$$, \(x\) and \[x\] within prose: what they are full
// of means something else there. A sum of money is no beginning of a formula.
type maths struct{}

func (maths) Trigger() []byte { return []byte{'$', '\\'} }

// verbatim is a formula.
type verbatim struct{ ast.BaseInline }

func (*verbatim) Kind() ast.NodeKind { return ast.KindString }

func (v *verbatim) Dump(source []byte, level int) { ast.DumpHelper(v, source, level, nil, nil) }

const (
	longFormula  = 4096 // bytes that a formula may have
	shortFormula = 256  // and in a long paragraph, to be sure that it is in one piece
)

func (maths) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	for _, marks := range [][2]string{{"$$", "$$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		if bytes.HasPrefix(line, []byte(marks[0])) {
			return enclosed(block, marks[1], pc)
		}
	}
	end := formula(line)
	if end == 0 {
		return nil
	}
	node := new(verbatim)
	node.AppendChild(node, ast.NewRawTextSegment(segment.WithStop(segment.Start+end)))
	block.Advance(end)
	return node
}

// formula returns where the formula ends that the line begins with, or 0.
func formula(line []byte) int {
	if len(line) < 3 || line[0] != '$' || blankByte(line[1]) {
		return 0
	}
	for i := 2; i < min(len(line), longFormula); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '$' && blankByte(line[i-1]):
			return 0
		case line[i] == '$':
			if i+1 < len(line) && letterOrDigit(line[i+1]) {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

func blankByte(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// enclosed reads what stands between a mark of two characters and the one that
// ends it, on any number of lines. Where one was looked for in vain there is none
// further on, either.
func enclosed(block text.Reader, mark string, pc parser.Context) ast.Node {
	refs, _ := pc.(references)
	if refs.never[mark] {
		return nil
	}
	at, where := block.Position()
	node := new(verbatim)
	left, from := longFormula, len(mark)
	for left > 0 {
		line, segment := block.PeekLine()
		if line == nil {
			break
		}
		if i := bytes.Index(line[min(from, len(line)):], []byte(mark)); i >= 0 {
			end := from + i + len(mark)
			node.AppendChild(node, ast.NewRawTextSegment(segment.WithStop(segment.Start+end)))
			block.Advance(end)
			return node
		}
		t := ast.NewRawTextSegment(segment.TrimRightSpace(block.Source()))
		t.SetSoftLineBreak(true)
		node.AppendChild(node, t)
		left, from = left-len(line), 0
		block.AdvanceLine()
	}
	block.SetPosition(at, where)
	if refs.never != nil {
		refs.never[mark] = true
	}
	return nil
}

// formula adds a formula: in letters where there are such, else as it was written.
func (r *reader) formula(src string, w weight, url string) {
	body := strings.Trim(src, "$")
	if src[0] == '\\' {
		body = src[2 : len(src)-2]
	}
	if said, ok := readable(body); ok && !r.literal && mathematical(body) && !strings.Contains(said, "\n") {
		w.emph = true
		src = said
	}
	r.text(src, w, url)
}

// mathematical says whether what stands between the marks of a formula is none of
// the prose whose brackets were escaped.
func mathematical(body string) bool {
	if strings.ContainsAny(body, `\^_`) {
		return true
	}
	words := strings.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) })
	return !slices.ContainsFunc(words, func(word string) bool { return len(word) > 2 })
}

// whole returns how long the formula is that s begins with, or 0; open says that
// s may end within one.
func whole(s []byte) (n int, open bool) {
	s = s[:min(len(s), shortFormula)]
	for _, marks := range [][2]string{{"$$", "$$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		if !bytes.HasPrefix(s, []byte(marks[0])) {
			continue
		}
		if i := bytes.Index(s[2:], []byte(marks[1])); i >= 0 {
			return i + 4, false
		}
		return 0, len(s) < shortFormula
	}
	n = formula(s)
	return n, n == 0 && len(s) < shortFormula && len(s) > 1 && s[0] == '$' && !blankByte(s[1]) && bytes.IndexByte(s[1:], '$') < 0
}
