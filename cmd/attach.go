package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"agentx/engine/event"
	"agentx/tui"
)

// attach reads a file, or what lies at an address, once and makes a part of it.
func (w *world) attach(ctx context.Context, name string) (event.Part, error) {
	if isAddress(name) {
		data, err := w.download(ctx, name)
		if err != nil {
			return nil, err
		}
		return partOf(data, nameOf(name))
	}
	data, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(name, err)
	}
	if err != nil {
		return nil, err
	}
	return partOf(data, filepath.Base(name))
}

// missing says of a name that is no file what may have been meant by it.
func missing(name string, err error) error {
	scheme, _, addressed := strings.Cut(name, "://")
	switch {
	case name == "":
		return usage("a file has no name: is a variable of the script empty?")
	case name == "-":
		return usage("there is no file -; what comes on stdin goes along by itself")
	case addressed:
		return usage("%s: only http and https can be fetched, not %s", name, scheme)
	}
	return err
}

// readFile reads a file that can go with a message.
func readFile(name string) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, usage("%w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, usage("%s: %v", name, bare(err))
	}
	if len(data) > maxFile {
		return nil, usage("%s is larger than the %d MB that a file may have", name, maxFile>>20)
	}
	return data, nil
}

// partOf is a file as a part of a message: an image, a PDF, or text as a marked
// block.
func partOf(data []byte, name string) (event.Part, error) {
	switch kind := http.DetectContentType(data); {
	case kind == "image/png", kind == "image/jpeg", kind == "image/gif", kind == "image/webp":
		return event.Image{MediaType: kind, Data: data, Name: name}, nil
	case kind == "application/pdf":
		return event.File{MediaType: kind, Data: data, Filename: name}, nil
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, usage("%s is neither text in UTF-8, nor a PDF, nor an image (PNG, JPEG, GIF, WebP)", name)
	}
	return event.Text{Text: fmt.Sprintf("<file name=%q>\n%s\n</file>", name, strings.TrimRight(string(data), "\n"))}, nil
}

// kindOf is what a person calls such a part.
func kindOf(p event.Part) string {
	switch p := p.(type) {
	case event.Image:
		return strings.ToUpper(strings.TrimPrefix(p.MediaType, "image/"))
	case event.File:
		return "PDF"
	}
	return "text"
}

// maxHeld is how much of what was attached is held in memory, in bytes.
const maxHeld = 64 << 20

// held are files as they were when they were attached, in case they are gone
// when the message is sent. The zero value holds none.
type held struct {
	mu    sync.Mutex
	data  map[string][]byte
	order []string // oldest first
	bytes int
}

func (h *held) put(path string, data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.data == nil {
		h.data = map[string][]byte{}
	}
	if old, ok := h.data[path]; ok {
		h.bytes -= len(old)
	} else {
		h.order = append(h.order, path)
	}
	h.data[path] = data
	h.bytes += len(data)
	for h.bytes > maxHeld && len(h.order) > 1 {
		h.bytes -= len(h.data[h.order[0]])
		delete(h.data, h.order[0])
		h.order = h.order[1:]
	}
}

func (h *held) get(path string) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	data, ok := h.data[path]
	return data, ok
}

// Attach reads a file that is to go with a message, or what lies at an address.
func (d *desk) Attach(ctx context.Context, path string) (tui.File, error) {
	if isAddress(path) {
		f, err := d.fetch(ctx, path)
		return f, d.say(err)
	}
	var err error
	for _, name := range spellings(path) {
		var f tui.File
		switch f, err = d.attach(name); {
		case errors.Is(err, tui.ErrNoFile):
		case errors.Is(err, tui.ErrFolder):
			return f, err
		default:
			return f, d.say(err)
		}
	}
	return tui.File{}, err
}

// fetch attaches what lies at an address. It is fetched once, and goes as it was
// then.
func (d *desk) fetch(ctx context.Context, address string) (tui.File, error) {
	data, err := d.world.download(ctx, address)
	if err != nil {
		return tui.File{}, err
	}
	part, err := partOf(data, nameOf(address))
	if err != nil {
		return tui.File{}, err
	}
	d.held.put(address, data)
	return tui.File{Path: address, Name: nameOf(address), Kind: kindOf(part), Size: int64(len(data))}, nil
}

func (d *desk) attach(name string) (tui.File, error) {
	full := d.world.under(name)
	data, err := readFile(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tui.File{}, fmt.Errorf("%s: %w", name, tui.ErrNoFile)
	case err != nil && isFolder(full):
		return tui.File{}, fmt.Errorf("%s: %w", name, tui.ErrFolder)
	case err != nil:
		return tui.File{}, err
	}
	shown := d.world.near(full)
	part, err := partOf(data, shown)
	if err != nil {
		return tui.File{}, err
	}
	d.held.put(full, data)
	return tui.File{Path: full, Name: shown, Kind: kindOf(part), Size: int64(len(data))}, nil
}

// Dropped attaches the image or PDF whose path, and nothing else, text is.
func (d *desk) Dropped(_ context.Context, text string) (tui.File, bool) {
	for _, name := range spellings(text) {
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~") {
			continue
		}
		if f, err := d.attach(name); err == nil && f.Kind != "text" {
			return f, true
		}
	}
	return tui.File{}, false
}

// spellings are the paths that text can mean: itself, and what it is without
// the quotes and escapes that terminals put into a path that is dropped on them.
func spellings(text string) []string {
	all := []string{text}
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
		return []string{filepath.FromSlash(u.Path)}
	}
	if n := len(text); n > 1 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return append(all, strings.ReplaceAll(text[1:n-1], `'\''`, "'"))
	}
	if runtime.GOOS != "windows" && strings.Contains(text, `\`) {
		all = append(all, unescape(text))
	}
	return all
}

// unescape takes the backslashes of a shell out of a word.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// under is the whole path of a name: relative to where the program was started,
// or to the user's home behind a tilde.
func (w *world) under(name string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(name), "~/"); ok {
		if home := w.homeFolder(); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(w.dir, name)
}

func (w *world) homeFolder() string {
	for _, v := range []string{"HOME", "USERPROFILE"} {
		if home, ok := w.env(v); ok && home != "" {
			return home
		}
	}
	return ""
}

// near is a path as one speaks of it: from the folder here where it lies in
// that, else its last part alone.
func (w *world) near(full string) string {
	if rel, err := filepath.Rel(w.dir, full); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(full)
}

// files reads what goes with a message, as it is now. What is gone goes as it
// was when it was attached.
func (d *desk) files(ctx context.Context, t *talk, paths []string) (event.Content, error) {
	var c event.Content
	for _, path := range paths {
		data, err := d.attachedAt(ctx, t, path)
		if err != nil {
			return nil, err
		}
		name := d.world.near(path)
		if isAddress(path) {
			name = nameOf(path)
		}
		part, err := partOf(data, name)
		if err != nil {
			return nil, err
		}
		c = append(c, part)
	}
	return c, nil
}

// attachedAt is what is attached by a path, or by an address, from where nothing
// is fetched twice.
func (d *desk) attachedAt(ctx context.Context, t *talk, path string) ([]byte, error) {
	if isAddress(path) {
		if data, ok := d.lost(ctx, t, path); ok {
			return data, nil
		}
		return d.world.download(ctx, path)
	}
	data, err := readFile(path)
	if err != nil {
		if old, ok := d.lost(ctx, t, path); ok {
			return old, nil
		}
	}
	return data, err
}

// lost is a file as it was when it was attached, by this program or by one that
// has crashed.
func (d *desk) lost(ctx context.Context, t *talk, path string) ([]byte, bool) {
	if data, ok := d.held.get(path); ok {
		return data, true
	}
	if t == nil || !t.kept {
		return nil, false
	}
	data, ok, err := d.world.db.DraftFile(ctx, t.session, path)
	return data, ok && err == nil
}

// keepFiles keeps beside a draft what goes with it.
func (d *desk) keepFiles(ctx context.Context, in event.SessionID, draft tui.Draft) error {
	paths := []string{}
	for _, m := range append(append([]tui.Message{draft.Message}, draft.Queued...), draft.Aside...) {
		for _, c := range m.Files() {
			paths = append(paths, c.Path)
		}
	}
	d.mu.Lock()
	idle := len(paths) == 0 && d.filed == in
	d.filed = ""
	if len(paths) == 0 {
		d.filed = in
	}
	d.mu.Unlock()
	if idle {
		return nil
	}
	return d.world.db.KeepFiles(ctx, in, paths, d.held.get)
}
