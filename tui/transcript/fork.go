package transcript

import "slices"

// Fork returns a transcript that goes on from here and leaves m as it is, so
// that m can be gone back to. A fork keeps its width and theme: what of its
// answer came before it cannot be laid out anew.
func (m Model) Fork() Model {
	if m.message.doc != nil {
		m.message.doc, m.message.source = m.message.doc.Clone(), nil
	}
	m.out, m.message.mind = slices.Clip(m.out), slices.Clip(m.message.mind)
	return m
}
