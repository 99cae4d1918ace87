package engine

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/engine/event"
)

// A Seal is the hash of a conversation: of its last message and, by the seal
// before it, of all that was said before. The zero Seal is of nothing said.
type Seal [sha256.Size]byte

// Add returns the seal of the conversation that goes on with a message, given
// as the JSON by which it is kept.
func (s Seal) Add(message []byte) Seal {
	h := sha256.New()
	h.Write(s[:])
	h.Write(message)
	return Seal(h.Sum(s[:0:0]))
}

// imageDigits are letters and digits that are not mistaken for each other.
const imageDigits = "0123456789abcdefghjkmnpqrstvwxyz"

// imagePrefix begins the id of every image, and the name of none.
const imagePrefix = "img_"

// ImageID returns the id of the image that holds the sealed conversation with
// the system prompt, model, tools and files of im, whatever their order. Who
// took it, when, and what it is called is not in it.
func (s Seal) ImageID(im Image) event.ImageID {
	h := sha256.New()
	h.Write(s[:])
	write(h, im.System)
	write(h, im.Model)
	write(h, im.Tools...)
	files := slices.Clone(im.Sandbox)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		write(h, f.Path, fmt.Sprint(f.Mode, f.Gone), string(f.Data))
	}
	sum := h.Sum(nil)[:16] // two alike are not found, even by one who looks for them
	return event.ImageID(imagePrefix + base32.NewEncoding(imageDigits).WithPadding(base32.NoPadding).EncodeToString(sum))
}

// write adds a list to a hash so that no other list gives the same bytes.
func write(h hash.Hash, list ...string) {
	length := func(n int) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	length(len(list))
	for _, s := range list {
		length(len(s))
		_, _ = io.WriteString(h, s) // a hash never fails
	}
}

// maxImageName is how long the name of an image may be, in bytes.
const maxImageName = 200

// Valid returns what is wrong with an image that is to be frozen: a name that
// is no line or looks like an id, a file that lies outside the directory or
// comes twice.
func (im Image) Valid() error {
	if err := validName(im.Name); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range im.Sandbox {
		switch {
		case !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsRune(f.Path, 0):
			return fmt.Errorf("%q is no path inside a work directory", f.Path)
		case seen[f.Path]:
			return fmt.Errorf("the file %q comes twice", f.Path)
		case f.Mode&^uint32(fs.ModePerm) != 0:
			return fmt.Errorf("the file %q has the mode %o, which is more than permissions", f.Path, f.Mode)
		case f.Gone && (len(f.Data) > 0 || f.Mode != 0):
			return fmt.Errorf("the file %q was deleted, and has content", f.Path)
		}
		seen[f.Path] = true
	}
	return nil
}

func validName(name string) error {
	switch {
	case len(name) > maxImageName:
		return fmt.Errorf("the name of an image has at most %d bytes", maxImageName)
	case strings.HasPrefix(strings.ToLower(name), imagePrefix):
		return fmt.Errorf("the name %q looks like the id of an image", name)
	case !utf8.ValidString(name) || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("the name of an image is one line, without spaces around it")
	}
	return nil
}

// An AmbiguousImageError says that a reference means several images.
type AmbiguousImageError struct {
	Ref        string
	Candidates []Image // newest first, at most 10
}

func (e *AmbiguousImageError) Error() string {
	ids := make([]string, len(e.Candidates))
	for i, im := range e.Candidates {
		ids[i] = string(im.ID)
	}
	return fmt.Sprintf("%q means several images: %s", e.Ref, strings.Join(ids, ", "))
}
