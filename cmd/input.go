package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"agentx/engine/event"
)

// Limits of what one message may carry.
const (
	maxStdin = 10 << 20
	maxFile  = 10 << 20
)

// content is the message of a one-shot prompt: the prompt, what stands on
// stdin as a marked block, and the files.
func (w *world) content(ctx context.Context, o options) (event.Content, error) {
	prompt, piped := o.prompt, ""
	var err error
	switch {
	case prompt == "-":
		prompt, err = w.readStdin(ctx, false)
	case !isTerminal(w.stdin):
		piped, err = w.readStdin(ctx, prompt != "" || len(o.files) > 0)
	}
	if err != nil {
		return nil, err
	}
	if prompt == "" && piped != "" {
		prompt, piped = piped, ""
	}
	prompt = strings.TrimRight(prompt, "\n")
	if strings.TrimSpace(prompt) == "" && len(o.files) == 0 {
		if isTerminal(w.stdin) {
			return nil, usage("there is no prompt: agentx -p \"your question\"")
		}
		if o.print {
			return nil, usage("there is no prompt: stdin is empty, and none was given: agentx -p \"your question\"")
		}
		return nil, usage("there is no prompt: stdin is empty, and none was given; agentx needs a terminal to chat (this is not one), or: agentx -p \"your question\"")
	}
	return w.compose(ctx, prompt, piped, o.files)
}

// compose puts a message together.
func (w *world) compose(ctx context.Context, prompt, piped string, files []string) (event.Content, error) {
	text := prompt
	if piped != "" {
		text += "\n\n<stdin>\n" + strings.TrimRight(piped, "\n") + "\n</stdin>"
	}
	var c event.Content
	if strings.TrimSpace(text) != "" {
		c = event.Say(text)
	}
	for _, name := range files {
		part, err := w.attach(ctx, name)
		if err != nil {
			return nil, err
		}
		c = append(c, part)
	}
	return c, nil
}

// openRegular opens a file that is one: no pipe or device that blocks or never
// ends.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, bare(err))
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, bare(err))
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return f, nil
}

// silence is how long a prompt that was given waits for the first byte of
// stdin. Whoever started the program may have left it a pipe that nobody writes
// to and nobody closes.
const silence = 10 * time.Second

// readStdin reads all of stdin, as text. Where there is a prompt beside it, it
// does not wait for ever.
func (w *world) readStdin(ctx context.Context, prompted bool) (string, error) {
	if w.stdin == nil {
		return "", nil
	}
	data, err := await(ctx, w.stdin, prompted, w.note)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return "", cause
	}
	return stdinText(data, err)
}

// await reads in to its end, and notes that it has to wait. If hasty, it goes
// on without what does not begin to come.
func await(ctx context.Context, in io.Reader, hasty bool, note func(format string, args ...any)) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	begun, done := make(chan struct{}), make(chan read, 1)
	go func() { // ends with in, or with the program
		r := bufio.NewReader(io.LimitReader(in, maxStdin+1))
		_, _ = r.Peek(1) // what is wrong comes again
		close(begun)
		data, err := io.ReadAll(r)
		done <- read{data, err}
	}()
	waiting, enough := time.After(2*time.Second), time.After(silence)
	if !hasty {
		enough = nil
	}
	for {
		select {
		case r := <-done:
			return r.data, r.err
		case <-waiting:
			note("waiting for the end of stdin; to go on without it call agentx with </dev/null")
		case <-begun:
			begun, enough = nil, nil
		case <-enough:
			note("nothing came on stdin in %v: the prompt goes without it; the output of a slow command comes along from a file, with -f", silence)
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func stdinText(data []byte, err error) (string, error) {
	switch {
	case errors.Is(err, os.ErrClosed) || err != nil && bare(err).Error() == "bad file descriptor":
		return "", nil // started with stdin closed
	case err != nil:
		return "", fmt.Errorf("stdin: %w", bare(err))
	case len(data) > maxStdin:
		return "", usage("stdin is larger than the %d MB that a message may have", maxStdin>>20)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", usage("stdin is not text (it has a NUL byte); attach files with -f")
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// readSystem reads the system prompt of a setting: a text, or @file.
func readSystem(s string) (string, error) {
	name, ok := strings.CutPrefix(s, "@")
	if !ok {
		return s, nil
	}
	f, err := openRegular(name)
	if err != nil {
		return "", usage("--system: %v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20+1))
	if err != nil {
		return "", usage("--system: %s: %v", name, bare(err))
	}
	if len(data) > 1<<20 {
		return "", usage("--system: %s is larger than 1 MB", name)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// confirm asks a question that only a y answers with yes.
func (w *world) confirm(question string) (bool, error) {
	if !isTerminal(w.stdin) {
		return false, usage("%s Without a terminal to ask on, say --yes", question)
	}
	fmt.Fprintf(w.stderr, "%s [y/N] ", question)
	line, err := readLine(w.stdin, 100)
	if err != nil {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// readLine reads one line, byte by byte: what stands behind it is not ours.
func readLine(in io.Reader, limit int) (string, error) {
	var b [1]byte
	var line []byte
	for len(line) < limit {
		n, err := in.Read(b[:])
		if n == 0 || b[0] == '\n' {
			if err == io.EOF {
				err = nil
			}
			return string(line), err
		}
		line = append(line, b[0])
	}
	return "", usage("the line is longer than %d characters", limit)
}

// maxSchema is more than any schema that a model can follow.
const maxSchema = 1 << 20

// readSchema reads a JSON schema, from a file where it does not stand there
// itself.
func readSchema(arg string) (json.RawMessage, error) {
	if arg == "" {
		return nil, nil
	}
	text := []byte(arg)
	if !strings.HasPrefix(strings.TrimSpace(arg), "{") {
		f, err := os.Open(arg)
		if err != nil {
			return nil, usage("--json-schema: %s: %v", arg, bare(err))
		}
		defer f.Close()
		if text, err = io.ReadAll(io.LimitReader(f, maxSchema+1)); err != nil {
			return nil, usage("--json-schema: %s: %v", arg, bare(err))
		}
		if len(text) > maxSchema {
			return nil, usage("--json-schema: %s is larger than 1 MB", arg)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, usage("--json-schema is a JSON object or a file of one: %v", err)
	}
	return text, nil
}
