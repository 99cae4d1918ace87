package gemini

import (
	"cmp"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A usage is a count of tokens as it is sent: totals of the answer so far, of
// which some may be left out.
type usage struct {
	Prompt  *int64 `json:"promptTokenCount"` // with what is cached
	Cached  *int64 `json:"cachedContentTokenCount"`
	Tools   *int64 `json:"toolUsePromptTokenCount"` // read by the server's own tools
	Answer  *int64 `json:"candidatesTokenCount"`    // without thoughts
	Thought *int64 `json:"thoughtsTokenCount"`
	Traffic string `json:"trafficType"` // Vertex AI's word for the tier of service
	Tier    string `json:"serviceTier"`
}

// counts are the totals that were told last.
type counts struct {
	prompt, cached, tools, answer, thought int64
	lost                                   bool   // a total made no sense: nobody knows what it took
	tier                                   string // of service
}

func (c *counts) tally(u *usage) {
	if u == nil {
		return
	}
	c.take(&c.prompt, u.Prompt)
	c.take(&c.cached, u.Cached)
	c.take(&c.tools, u.Tools)
	c.take(&c.answer, u.Answer)
	c.take(&c.thought, u.Thought)
	c.tier = strings.ToLower(cmp.Or(u.Tier, strings.TrimPrefix(u.Traffic, "ON_DEMAND_"), c.tier))
}

func (c *counts) take(total, n *int64) {
	if n == nil {
		return
	}
	told, ok := wire.Tokens(n)
	if !ok {
		c.lost = true
	}
	*total = told
}

func (c counts) event() event.Usage {
	if c.lost {
		return event.Usage{}
	}
	return wire.Served(event.Usage{
		InputTokens: max(0, c.prompt-c.cached) + c.tools, OutputTokens: c.answer + c.thought,
		CacheReadTokens: c.cached, ReasoningTokens: c.thought,
	}, c.tier)
}
