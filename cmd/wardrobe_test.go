//go:build unix

package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wears puts a theme into the house.
func (h *house) wears(name, text string) {
	h.t.Helper()
	dir := filepath.Join(h.home, ".config", "agentx", "themes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// A theme of one's own is chosen in the chat, seen at once, kept, and there again
// at the next start; a mistake in it is told with its place, and nothing changes.
func TestChatTheme(t *testing.T) {
	h := newHouse(t)
	h.wears("deep", "inherits = \"sea\"\nuser = \"#010203\"\n")
	h.wears("sea", "inherits = \"moss\"\naccent = \"#040506\"\n")
	h.wears("typo", "[dark]\nacent = \"#111111\"\n")
	h.wears("ring", "inherits = \"gnir\"\n")
	h.wears("gnir", "inherits = \"ring\"\n")
	w := h.chat(120, 40, "openai/echo")
	w.says("/theme typo")
	w.reads("typo.toml:2:1: dark.acent: unknown role (did you mean accent?)")
	w.says("/theme ring")
	w.reads("inherits from itself")
	w.says("/theme nothing")
	w.reads(`There is no theme "nothing"; there are auto,`)
	w.says("/theme deep-dark")
	w.reads("Kept in " + filepath.Join(h.home, ".config", "agentx", "config.toml"))
	w.asks("hello", "You said: hello")
	w.leaves()
	w.wore(1, 2, 3)
	w.wore(4, 5, 6)

	w = h.open(80, 24, []string{"TERM=xterm-256color", "COLORTERM="}, "-m", "openai/echo", "again")
	w.sees("You said: again")
	w.ready()
	w.leaves()
	if raw := string(w.written()); strings.Contains(raw, "38;2;") || !strings.Contains(raw, "38;5;") {
		t.Error("a terminal of 256 colours is given others")
	}
	w = h.open(80, 24, []string{"TERM=xterm-16color", "COLORTERM=", "AGENTX_THEME=ember"}, "-m", "openai/echo", "again")
	w.sees("You said: again")
	w.ready()
	w.says("/theme dusk")
	w.reads("environment AGENTX_THEME says otherwise")
	w.leaves()
	if raw := string(w.written()); strings.Contains(raw, "38;2;") || strings.Contains(raw, "38;5;") {
		t.Error("a terminal of sixteen colours is given others")
	}
}

// wore wants a colour to have been written.
func (w *window) wore(r, g, b int) {
	w.t.Helper()
	if seq := fmt.Sprintf("38;2;%d;%d;%d", r, g, b); !strings.Contains(string(w.written()), seq) {
		w.t.Errorf("the colour %s was not seen", seq)
	}
}
