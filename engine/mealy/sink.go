package mealy

import "context"

// Only hands s the outputs that keep lets through. Where it lets none through,
// s is not asked.
func Only[E any](keep func(E) bool, s Sink[E]) Sink[E] {
	return SinkFunc[E](func(ctx context.Context, id string, outs []E) error {
		var kept []E
		for _, e := range outs {
			if keep(e) {
				kept = append(kept, e)
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return s.Take(ctx, id, kept)
	})
}
