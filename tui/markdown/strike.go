package markdown

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// strike reads ~~text that is struck~~. goldmark's own would bring the regular expressions of all its extensions to every start, and strike
// what stands between single tildes, which mean about, or home.
type strike struct{}

func (strike) Trigger() []byte { return []byte{'~'} }

func (s strike) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 2, s)
	if node == nil || node.OriginalLength != 2 || before == '~' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

func (strike) IsDelimiter(b byte) bool { return b == '~' }

func (strike) CanOpenCloser(opener, closer *parser.Delimiter) bool { return opener.Char == closer.Char }

func (strike) OnMatch(int) ast.Node { return east.NewStrikethrough() }
