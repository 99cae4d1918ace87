package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// A memoryImage is an image, whole. Only its name ever changes, from none.
type memoryImage struct{ engine.Image }

// Freeze keeps an image of a session. An image has one name: one that was
// frozen without is given it by freezing it again, a second is
// [engine.ErrExists].
func (m *Memory) Freeze(_ context.Context, from event.SessionID, im engine.Image) (engine.Image, error) {
	if err := im.Valid(); err != nil {
		return engine.Image{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(from)
	if err != nil {
		return engine.Image{}, err
	}
	seal, err := m.take(s, &im)
	if err != nil {
		return engine.Image{}, err
	}
	im.ID = seal.ImageID(im)
	old := m.image(func(k *memoryImage) bool { return k.ID == im.ID })
	if taken := m.image(func(k *memoryImage) bool { return k.Name == im.Name }); im.Name != "" && taken != nil && taken != old {
		return engine.Image{}, fmt.Errorf("an image of the name %q %w: %s", im.Name, engine.ErrExists, taken.ID)
	}
	switch {
	case old == nil:
		old = &memoryImage{im}
		m.images = append(m.images, old)
	case im.Name != "" && old.Name != "" && im.Name != old.Name:
		return engine.Image{}, fmt.Errorf("image %s %w, by the name %q", old.ID, engine.ErrExists, old.Name)
	}
	old.Name = cmp.Or(old.Name, im.Name)
	return old.listed(), nil
}

// take fills in what im has of the session, and seals it. The message that
// replaced the last finished turn is in the log before its end; it belongs to
// the next.
func (m *Memory) take(s *memorySession, im *engine.Image) (seal engine.Seal, err error) {
	end := s.begun
	for i, e := range s.log {
		if _, ok := e.Data.(event.TurnResponse); ok {
			end = i + 1
		}
	}
	im.Messages = nil
	for i, e := range s.log[:end] {
		if u, ok := e.Data.(event.UserMessage); ok && i >= s.begun && u.ID == s.turn {
			continue
		}
		if event.LayerOf(e.Data) != event.MessageLayer {
			continue
		}
		text, err := json.Marshal(e)
		if err != nil {
			return seal, err
		}
		seal = seal.Add(text)
		im.Messages = append(im.Messages, e)
	}
	im.Session, im.Parent, im.Length = s.ID, s.Image, len(im.Messages)
	im.Model = cmp.Or(im.Model, s.Model)
	im.Tools, im.Sandbox = slices.Clone(im.Tools), filesOf(im.Sandbox)
	im.Created = cmp.Or(im.Created, event.MillisOf(m.now()))
	return seal, nil
}

// filesOf is a copy of files in the order of their paths.
func filesOf(files []engine.File) []engine.File {
	files = slices.Clone(files)
	for i := range files {
		files[i].Data = slices.Clone(files[i].Data)
	}
	slices.SortFunc(files, func(a, b engine.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

func (im *memoryImage) listed() engine.Image {
	out := im.Image
	out.Tools, out.Messages, out.Sandbox = slices.Clone(im.Tools), nil, nil
	return out
}

// image returns the image that is meant, or nil. The lock is held.
func (m *Memory) image(meant func(*memoryImage) bool) *memoryImage {
	if i := slices.IndexFunc(m.images, meant); i >= 0 {
		return m.images[i]
	}
	return nil
}

// newest are the images that are meant, the newest first. The lock is held.
func (m *Memory) newest(meant func(*memoryImage) bool) []engine.Image {
	var all []engine.Image
	for _, im := range slices.Backward(m.images) {
		if meant(im) {
			all = append(all, im.listed())
		}
	}
	slices.SortStableFunc(all, func(a, b engine.Image) int { return cmp.Compare(b.Created, a.Created) })
	return all
}

// Images returns all images without messages and files.
func (m *Memory) Images(context.Context) ([]engine.Image, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.newest(func(*memoryImage) bool { return true }), nil
}

// Image returns the image that ref means. Where it means several, the error is
// an [*engine.AmbiguousImageError].
func (m *Memory) Image(_ context.Context, ref string) (engine.Image, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	none := fmt.Errorf("image %q: %w", ref, engine.ErrNotFound)
	if ref == "" {
		return engine.Image{}, none
	}
	im := m.image(func(k *memoryImage) bool { return string(k.ID) == ref || k.Name == ref }) // no name looks like an id
	if im == nil {
		begins := func(k *memoryImage) bool { return strings.HasPrefix(string(k.ID), strings.ToLower(ref)) }
		if all := m.newest(begins); len(all) > 1 {
			return engine.Image{}, &engine.AmbiguousImageError{Ref: ref, Candidates: all[:min(len(all), 10)]}
		}
		im = m.image(begins)
	}
	if im == nil {
		return engine.Image{}, none
	}
	out := im.listed()
	out.Messages, out.Sandbox = slices.Clone(im.Messages), filesOf(im.Sandbox)
	return out, nil
}

// Thaw makes a session of what an image holds. What the image's turns used
// counts where it was used.
func (m *Memory) Thaw(_ context.Context, id event.ImageID, to engine.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	im := m.image(func(k *memoryImage) bool { return k.ID == id })
	if im == nil {
		return fmt.Errorf("image %q: %w", id, engine.ErrNotFound)
	}
	s, err := m.create(engine.Session{ID: to.ID, Title: engine.OneLine(to.Title, 200), Model: im.Model, Dir: to.Dir, System: to.System, Image: id, Created: to.Created})
	if err == nil {
		s.plant(im.Messages)
	}
	return err
}

// DeleteImage forgets an image. The sessions that were begun from it stay.
func (m *Memory) DeleteImage(_ context.Context, id event.ImageID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.images, func(k *memoryImage) bool { return k.ID == id })
	if i < 0 {
		return fmt.Errorf("image %q: %w", id, engine.ErrNotFound)
	}
	m.images = slices.Delete(m.images, i, i+1)
	return nil
}
