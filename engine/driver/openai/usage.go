package openai

import (
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A usage is a count of tokens, in the spellings of several servers.
type usage struct {
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`
	Total      *int64 `json:"total_tokens"`
	Cached     *int64 `json:"cached_tokens"`
	CacheHit   *int64 `json:"prompt_cache_hit_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	In         struct {
		Cached *int64 `json:"cached_tokens"`
		Write  *int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning *int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// total takes over a count of tokens. Of several the last is the sum.
func (d *decoder) total(u *usage) {
	if u == nil || u.Prompt == nil && u.Completion == nil {
		return
	}
	prompt, ok1 := wire.Tokens(u.Prompt)
	completion, ok2 := wire.Tokens(u.Completion)
	if !ok1 || !ok2 {
		d.usage = event.Usage{} // then nobody knows
		return
	}
	read := first(u.In.Cached, u.Cached, u.CacheHit)
	write := first(u.In.Write, u.CacheWrite)
	reasoning := first(u.Out.Reasoning)
	total, _ := wire.Tokens(u.Total)
	if reasoning > completion || total == prompt+completion+reasoning {
		completion += reasoning // counted apart
	}
	d.usage = event.Usage{
		InputTokens: max(0, prompt-read-write), OutputTokens: completion,
		CacheReadTokens: read, CacheWriteTokens: write, ReasoningTokens: reasoning,
	}
}

func first(all ...*int64) int64 {
	for _, n := range all {
		if v, ok := wire.Tokens(n); ok && v > 0 {
			return v
		}
	}
	return 0
}

// Count yields the total, once: there are servers that count downwards.
func (d *decoder) Count(out []event.Stream) []event.Stream {
	u := d.usage
	d.usage = event.Usage{}
	if u == (event.Usage{}) {
		return out
	}
	return append(out, event.MessageDelta{Usage: wire.Served(u, d.tier)})
}
