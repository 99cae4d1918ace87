//go:build unix

package cmd

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// hides says that the terminal does not show what is typed.
func (w *window) hides() bool {
	state, err := unix.IoctlGetTermios(int(w.tty.Fd()), getTermios)
	return err == nil && state.Lflag&unix.ECHO == 0
}

// What is typed as a key is never seen, and is kept.
func TestKeyIsTypedUnseen(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 24, nil, "key", "set", "mistral")
	w.sees("Key of mistral (it is not shown):")
	w.until("a terminal that shows nothing", w.hides)
	w.types("secretkey0123456789" + enter)
	w.sees("the key of mistral is kept in")
	w.ends(0)
	w.restored()
	if bytes.Contains(w.written(), []byte("secretkey")) {
		t.Errorf("the key is shown:\n%s", w.all())
	}
	if out, _, _ := h.run("key", "list"); !strings.Contains(out, "mistral") {
		t.Errorf("the key is not kept:\n%s", out)
	}
}

// Whoever thinks better of it gets a terminal that shows what is typed again.
func TestKeyIsNotTyped(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 24, nil, "key", "set", "mistral")
	w.sees("Key of mistral")
	w.until("a terminal that shows nothing", w.hides)
	w.types("secr" + ctrlC)
	w.ends(130)
	w.restored()
	if out, errs, _ := h.run("key", "list"); strings.Contains(out, "mistral") {
		t.Errorf("something is kept:\n%s%s", out, errs)
	}
	if _, err := os.Stat(h.home + "/.config/agentx/credentials.toml"); err == nil {
		t.Error("there is a file for keys")
	}
}
