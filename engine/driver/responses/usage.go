package responses

import (
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A usage is a count of tokens.
type usage struct {
	Input  *int64 `json:"input_tokens"`
	Output *int64 `json:"output_tokens"`
	Total  *int64 `json:"total_tokens"`
	In     struct {
		Cached *int64 `json:"cached_tokens"`
		Write  *int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Out struct {
		Reasoning *int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// total takes over a count of tokens. One that cannot be is none.
func (d *decoder) total(u *usage) {
	if u == nil {
		return
	}
	counts := [6]int64{}
	for i, n := range []*int64{u.Input, u.Output, u.Total, u.In.Cached, u.In.Write, u.Out.Reasoning} {
		ok := false
		if counts[i], ok = wire.Tokens(n); !ok {
			return
		}
	}
	input, output, total, read, write, reasoning := counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]
	if reasoning > output || total == input+output+reasoning {
		output += reasoning // counted apart
	}
	d.usage = event.Usage{
		InputTokens: max(0, input-read-write), OutputTokens: output,
		CacheReadTokens: read, CacheWriteTokens: write, ReasoningTokens: reasoning,
	}
}

// Count yields the total, once.
func (d *decoder) Count(out []event.Stream) []event.Stream {
	u := d.usage
	d.usage = event.Usage{}
	if u == (event.Usage{}) {
		return out
	}
	return append(out, event.MessageDelta{Usage: wire.Served(u, d.tier)})
}
