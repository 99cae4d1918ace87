package markdown

import (
	"maps"
	"slices"
)

// Clone returns a Doc that goes on from here without changing d, so that a text can be gone back to. What of it is finished and not
// taken is the clone's, too. The two belong to one goroutine.
func (d *Doc) Clone() *Doc {
	c := d.copy()
	c.words = d.words.fresh()
	maps.Copy(c.words.refs, d.words.refs)
	c.in, c.line, c.prose, c.tried = d.in, slices.Clone(d.line), d.prose, d.tried
	c.past, c.done = slices.Clone(d.past), slices.Clone(d.done)
	return c
}
