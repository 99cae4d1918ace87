package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// keyFromCommand runs a program without a shell and takes the first line that it prints. Nothing that it prints is ever shown.
func keyFromCommand(ctx context.Context, command []string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out := &firstLine{}
	program := exec.CommandContext(ctx, command[0], command[1:]...)
	program.Stdout = out
	program.WaitDelay = time.Second // a grandchild that holds stdout open does not hold us
	err := program.Run()
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return "", fmt.Errorf("did not finish within %v", limit)
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		// It ended well and left a child behind: what it printed counts.
	case err != nil:
		return "", describeExit(err)
	}
	line, _, _ := strings.Cut(out.text.String(), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

func describeExit(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return errors.New(exit.ProcessState.String())
	}
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		return missing.Err
	}
	return err
}

// firstLine keeps as much as the longest key and swallows the rest, so that a program that prints for ever costs no memory.
type firstLine struct{ text bytes.Buffer }

func (w *firstLine) Write(p []byte) (int, error) {
	w.text.Write(p[:min(len(p), longestKey+2-min(w.text.Len(), longestKey+2))])
	return len(p), nil
}
