package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A detail is a piece of a thought as OpenRouter sends it and wants it back: a
// text, a summary, or something sealed that nobody else can read.
type detail struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Data      string `json:"data,omitempty"`
	Signature string `json:"signature,omitempty"`
	ID        string `json:"id,omitempty"`
	Format    string `json:"format,omitempty"`
	Index     *int   `json:"index,omitempty"`
}

// seal marks the proofs of what a model thought at this server.
func (d Driver) seal() string { return sealed + strings.ToLower(d.host()) + ":" }

const sealed = "reasoning_details@"

// A proof gathers the details of a message, which come in pieces.
type proof struct {
	all   []*gathered
	bytes int
}

type gathered struct {
	detail
	text, summary, data strings.Builder
}

const maxProof = 8 << 20 // bytes

// take adds a piece to the detail that it belongs to. What is too large to be
// sent back is forgotten.
func (p *proof) take(piece detail) {
	p.bytes += len(piece.Text) + len(piece.Summary) + len(piece.Data)
	if p.bytes > maxProof || len(p.all) > wire.MaxCalls {
		p.all = nil
		return
	}
	g := p.find(piece)
	g.text.WriteString(piece.Text)
	g.summary.WriteString(piece.Summary)
	g.data.WriteString(piece.Data)
	for _, word := range []struct {
		to   *string
		told string
	}{{&g.ID, piece.ID}, {&g.Format, piece.Format}, {&g.Signature, piece.Signature}} {
		if word.told != "" {
			*word.to = word.told
		}
	}
}

// find returns the detail that piece goes on with: the newest of its kind and
// index.
func (p *proof) find(piece detail) *gathered {
	if n := len(p.all); n > 0 {
		last := p.all[n-1]
		same := last.Index == nil && piece.Index == nil || last.Index != nil && piece.Index != nil && *last.Index == *piece.Index
		if same && last.Type == piece.Type && (piece.ID == "" || last.ID == "" || piece.ID == last.ID) {
			return last
		}
	}
	g := &gathered{detail: detail{Type: piece.Type, Index: piece.Index}}
	p.all = append(p.all, g)
	return g
}

// signature is what proves the thoughts of a message, or nothing where there is
// nothing to prove. A text that is all of them is not said twice.
func (p *proof) signature(seal string) string {
	var all []detail
	proven, texts := false, 0
	for _, g := range p.all {
		d := g.detail
		d.Text, d.Summary, d.Data = g.text.String(), g.summary.String(), g.data.String()
		proven = proven || d.Data != "" || d.Signature != ""
		if d.Text+d.Summary != "" {
			texts++
		}
		all = append(all, d)
	}
	if !proven || seal == "" {
		return ""
	}
	for i := range all {
		if texts == 1 && all[i].Summary == "" {
			all[i].Text = ""
		}
	}
	b, err := event.Marshal(all)
	if err != nil {
		return ""
	}
	return seal + string(b)
}

// proven reads a signature back. Text is what was thought before it.
func proven(signature, seal, text string) []detail {
	raw, ok := strings.CutPrefix(signature, seal)
	var all []detail
	if !ok || json.Unmarshal([]byte(raw), &all) != nil {
		return nil
	}
	silent := func(d detail) bool { return d.Text+d.Summary == "" }
	first := slices.IndexFunc(all, func(d detail) bool { return d.Type == "reasoning.text" })
	if first >= 0 && !slices.ContainsFunc(all, func(d detail) bool { return !silent(d) }) {
		all[first].Text = text
	}
	return all
}
