package driver

import (
	"slices"

	"agentx/engine"
	"agentx/engine/event"
)

// What a request weighs before anybody has counted: four bytes a token, some
// for what stands around a message, and for what is no text as much as providers
// say that they ask for one of usual size. No language needs more than six bytes
// a token on average.
const (
	bytesPerToken = 4
	mostBytes     = 6
	aroundTokens  = 4    // of each message
	imageTokens   = 1600 // of an image
	fileBytes     = 30   // of a file that is no text, for a token: a page of a PDF has some 60 kB, and takes 2,000
)

// A Size is how many tokens a model will read of a request. What it has counted
// itself is not guessed.
type Size struct {
	Least int64 // so low that what is longer than a model can read certainly is
	About int64
}

// SizeOf guesses the size of a request, without looking at its texts, nor at what
// stands before the last message that the model has counted itself.
func SizeOf(req engine.Request) Size {
	var g guess
	if len(req.Message.Content) > 0 {
		g.add(event.Parts(req.Message.Content))
	}
	for _, m := range slices.Backward(req.History) {
		switch m := m.(type) {
		case event.UserMessage:
			g.add(event.Parts(m.Content))
		case event.AssistantMessage:
			if m.Usage != nil && m.Model == req.Model && m.Usage.Context() > 0 {
				return g.behind(m.Usage.Context())
			}
			g.add(m.Content)
		case event.ToolResultMessage:
			g.add(event.Parts{m.ToolResult})
		}
	}
	g.bytes += len(req.System)
	for _, t := range req.Tools {
		g.bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return g.behind(0)
}

// A guess is what nobody has counted.
type guess struct {
	bytes  int
	tokens int64
}

func (g *guess) add(parts event.Parts) {
	b, t := weight(parts)
	g.bytes, g.tokens = g.bytes+b, g.tokens+t+aroundTokens
}

// behind is the size with what was counted.
func (g guess) behind(counted int64) Size {
	return Size{Least: counted + int64(g.bytes/mostBytes), About: counted + g.tokens + int64(g.bytes/bytesPerToken)}
}

// weight is the text of parts in bytes, and the rest of them in tokens.
func weight(parts event.Parts) (bytes int, tokens int64) {
	for _, p := range parts {
		switch p := p.(type) {
		case event.Text:
			bytes += len(p.Text)
		case event.Thinking:
			bytes += len(p.Text)
		case event.ToolCall:
			bytes += len(p.Name) + len(p.Input)
		case event.ToolReturn:
			b, t := weight(p.Output.Parts)
			bytes, tokens = bytes+b+len(p.Output.Text)+len(p.Output.JSON), tokens+t
		case event.Image:
			tokens += imageTokens
		case event.File:
			tokens += int64(len(p.Data) / fileBytes)
		}
	}
	return bytes, tokens
}
