package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"agentx/tui/screen"
)

// A terminal is what the model can have done to it, beside being drawn on.
type terminal interface {
	copy(text string) error // to the clipboard
	tell(sign screen.Sign, seq string)
	ask()                             // for its background
	synchronised()                    // it can show what belongs together at once
	clusters(told bool)               // it measures characters as readers do, or will when it is told to
	repaint()                         // everything
	suspend()                         // until the chat is in front again
	edit(text string) (string, error) // in the user's editor
	hold() (release func())           // an answer begins, and ends
}

func (c *console) tell(sign screen.Sign, seq string) { c.screen.Tell(sign, seq) }

func (c *console) ask()               { c.screen.Ask() }
func (c *console) synchronised()      { c.screen.Synchronised() }
func (c *console) clusters(told bool) { c.screen.Clusters(told) }
func (c *console) repaint()           { c.screen.Repaint() }

func (c *console) hold() func() {
	c.answers.Add(1)
	return c.answers.Done
}

// maxEdited is how large a text may come back from the editor.
const maxEdited = 10 << 20

// edit gives the terminal to the user's editor.
func (c *console) edit(text string) (string, error) {
	name, err := c.putAside(text)
	if err != nil {
		return "", err
	}
	defer os.Remove(name)
	if !c.lend() {
		return text, nil
	}
	argv := c.editor()
	cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], name)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.options.In, c.options.Out, c.options.Out
	err = cmd.Run()
	c.takeBack()
	if err != nil {
		return "", fmt.Errorf("the editor %s: %w", argv[0], err)
	}
	return readBack(name)
}

// putAside writes text to a file that nobody else can read.
func (c *console) putAside(text string) (string, error) {
	if c.options.Private == "" {
		return "", errors.New("there is no private directory for the editor's file")
	}
	f, err := os.CreateTemp(c.options.Private, "prompt-*.md") // made with mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

func readBack(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEdited+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxEdited:
		return "", fmt.Errorf("the text is larger than %d MB", maxEdited>>20)
	}
	return strings.TrimRight(string(b), "\n"), nil
}

func (c *console) editor() []string {
	if len(c.options.Editor) > 0 {
		return c.options.Editor
	}
	for _, name := range []string{"VISUAL=", "EDITOR="} {
		for _, e := range c.options.Env {
			if words := strings.Fields(strings.TrimPrefix(e, name)); strings.HasPrefix(e, name) && len(words) > 0 {
				return words
			}
		}
	}
	return []string{"vi"}
}
