package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maths leaves $x_1 * y_1$ and $$x$$ as they were written: what they are full of
// means something else in prose. A sum of money is no beginning of a formula.
type maths struct{}

func (maths) Trigger() []byte { return []byte{'$'} }

// verbatim is prose in which nothing means anything else.
type verbatim struct{ ast.BaseInline }

func (*verbatim) Kind() ast.NodeKind { return ast.KindString }

func (v *verbatim) Dump(source []byte, level int) { ast.DumpHelper(v, source, level, nil, nil) }

// longFormula is how many bytes a formula may have.
const longFormula = 4096

func (maths) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if bytes.HasPrefix(line, []byte("$$")) {
		return displayed(block)
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
	if len(line) < 3 || blankByte(line[1]) {
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

// displayed reads what stands between two dollars and two more, on any number
// of lines.
func displayed(block text.Reader) ast.Node {
	at, where := block.Position()
	node := new(verbatim)
	left, from := longFormula, len("$$")
	for left > 0 {
		line, segment := block.PeekLine()
		if line == nil {
			break
		}
		if i := bytes.Index(line[min(from, len(line)):], []byte("$$")); i >= 0 {
			end := from + i + len("$$")
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
	return nil
}
