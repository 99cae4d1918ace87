package cmd

import (
	"agentx/engine"
	"agentx/engine/event"
)

// What a request weighs before anybody has counted: four bytes a token, some
// for what stands around a message, and for what is no text as much as providers
// say that they ask for one of usual size.
const (
	bytesPerToken = 4
	aroundTokens  = 4    // of each message
	imageTokens   = 1600 // of an image
	fileBytes     = 30   // of a file that is no text, for a token: a page of a PDF has some 60 kB, and takes 2,000
)

// estimate is about how many tokens a model will read of a request. What it has
// counted itself is not guessed.
func estimate(req engine.Request) int64 {
	bytes := len(req.System)
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	tokens := int64(0)
	add := func(parts event.Parts) {
		b, t := weight(parts)
		bytes, tokens = bytes+b, tokens+t+aroundTokens
	}
	for m := range req.Messages() {
		switch m := m.(type) {
		case event.UserMessage:
			add(event.Parts(m.Content))
		case event.AssistantMessage:
			add(m.Content)
			if m.Usage != nil && m.Model == req.Model && m.Usage.Context() > 0 {
				bytes, tokens = 0, m.Usage.Context()
			}
		case event.ToolResultMessage:
			add(event.Parts{m.ToolResult})
		}
	}
	return tokens + int64(bytes/bytesPerToken)
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
