package cmd

import (
	"errors"
	"fmt"
	"os"

	"agentx/engine/record"

	"github.com/spf13/cobra"
)

// A replay is what the flags of `agentx replay` say.
type replay struct {
	file   string
	verify bool
}

func replayCommand(w *world) *cobra.Command {
	var r replay
	c := &cobra.Command{
		Use: "replay FILE", Short: "Play a recorded conversation again, step by step, or check it",
		Args: exactly("the FILE that --trace has written"),
		RunE: func(c *cobra.Command, args []string) error {
			r.file = args[0]
			return w.replay(r)
		},
	}
	c.Flags().BoolVar(&r.verify, "verify", false, "check that the engine of today answers as it did: exit code 1 and the first difference where not")
	return c
}

func (w *world) replay(r replay) error {
	if r.verify {
		return w.verify(r.file)
	}
	return usage("`agentx replay` needs --verify")
}

// verify compares a recording with what the engine makes of its inputs today.
func (w *world) verify(name string) error {
	return readRecording(name, func(in *record.Reader) error {
		n, diff, err := record.Verify(in.Steps())
		if err != nil {
			return err
		}
		if diff != nil {
			return &exit{code: codeOther, err: fmt.Errorf("%s: %v", name, diff)}
		}
		_, err = fmt.Fprintf(w.stdout, "%s, %s: the same\n", count(n.Inputs, "input"), count(n.Outputs, "output"))
		if in.Cut {
			w.note("the last line of %s broke off and was left out", name)
		}
		return err
	})
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// readRecording opens a recording, and says of which file an error tells.
func readRecording(name string, read func(*record.Reader) error) error {
	f, err := openRegular(name)
	if err != nil {
		return usage("%v", err)
	}
	defer f.Close()
	in, err := record.NewReader(f)
	if err == nil {
		err = read(in)
	}
	if wrong, ok := errors.AsType[*record.FormatError](err); ok {
		return usage("%s cannot be played: %v", name, wrong)
	}
	if lost, ok := errors.AsType[*os.PathError](err); ok && lost.Path == name {
		return &exit{code: codeOther, err: lost}
	}
	return err
}
