package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/event"
	"agentx/store"
	"agentx/tui/text"

	"github.com/spf13/cobra"
)

// The exit codes. `agentx help exit-codes` prints them.
const (
	codeOK         = 0
	codeOther      = 1
	codeUsage      = 2
	codeAuth       = 3
	codeConfig     = 4
	codeProvider   = 5
	codeRate       = 6
	codeBudget     = 7
	codeLimit      = 8
	codeRefused    = 9
	codeContext    = 10
	codeIncomplete = 12
	codeStore      = 13
	codeInternal   = 70
	codeOutput     = 74
	codeSignal     = 128
)

const exitCodes = `Exit codes of agentx:

    0   a complete answer
    1   anything that has no number of its own
    2   usage: a flag, an argument or a name that cannot be
    3   authentication: no key, or one that the provider refuses
    4   configuration: a file or a setting that cannot be used
    5   network or provider
    6   rate limit or quota
    7   budget
    8   turn or time limit
    9   the model refused, or its answer was filtered
   10   the conversation is longer than the model can read
   11   permission denied
   12   the answer is incomplete; what came is saved
   13   the session store
   14   a required tool server is missing
   70   a fault of agentx itself
   74   the output could not be written
  129, 130, 143   ended by SIGHUP, SIGINT, SIGTERM; 131, 134 by SIGQUIT, SIGABRT
`

func exitCodesCommand() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodes}
}

// exit is an error that knows its exit code.
type exit struct {
	code   int
	err    error
	remedy string // what to do, where that is not in err
	quiet  bool   // has been said, or need not be
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

// codeOf finds the exit code for what went wrong.
func codeOf(err error) int {
	if err == nil {
		return codeOK
	}
	if e, ok := errors.AsType[*exit](err); ok {
		return e.code
	}
	if errors.Is(err, syscall.EPIPE) {
		return codeSignal + int(syscall.SIGPIPE)
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok && p.Op == "write" && p.Path == os.Stdout.Name() {
		return codeOutput
	}
	if errors.Is(err, driver.ErrSteps) {
		return codeLimit
	}
	if f, ok := errors.AsType[*engine.Fault](err); ok {
		return codeOfFault(f.Code)
	}
	if i, ok := errors.AsType[engine.Interrupt](err); ok && event.InterruptReason(i) == event.ByTimeout {
		return codeLimit
	}
	if e, ok := errors.AsType[*config.Error](err); ok {
		if strings.HasPrefix(e.Where, "--") {
			return codeUsage
		}
		return codeConfig
	}
	if _, ok := errors.AsType[*store.Error](err); ok {
		return codeStore
	}
	return codeOther
}

func codeOfFault(c event.ErrorCode) int {
	switch c {
	case event.CodeAuthentication, event.CodePermission:
		return codeAuth
	case event.CodeConfiguration:
		return codeConfig
	case event.CodeRateLimit, event.CodeQuota:
		return codeRate
	case event.CodeBudget:
		return codeBudget
	case event.CodeContextOverflow:
		return codeContext
	case event.CodeContentFilter:
		return codeRefused
	case event.CodeIncomplete, event.CodeProtocol, event.CodeTooLarge, event.CodeTimeout:
		return codeIncomplete
	case event.CodeStore:
		return codeStore
	case event.CodeInternal:
		return codeInternal
	}
	return codeProvider
}

// report says what went wrong, in one line, and returns the exit code.
func (w *world) report(err error) int {
	code := codeOf(err)
	if err == nil || code > codeSignal {
		return code
	}
	if e, ok := errors.AsType[*exit](err); ok && e.quiet {
		return code
	}
	fmt.Fprintln(w.stderr, "agentx: "+w.words(err))
	return code
}

// words are an error as one clean line without secrets.
func (w *world) words(err error) string {
	s := config.Redact(sentence(err), w.secrets()...)
	s = text.Line(strings.Join(strings.Fields(s), " "))
	if len(s) > 2000 {
		s = text.Truncate(s, 2000)
	}
	return s
}

// sentence is what err says first: of several failures that were joined the
// others follow from it or repeat it.
func sentence(err error) string {
	if e, ok := errors.AsType[*store.Error](err); ok {
		return stored(e)
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		if all := joined.Unwrap(); len(all) > 0 {
			return sentence(all[0])
		}
	}
	return err.Error()
}

// usage is an error in how the program was called.
func usage(format string, args ...any) error {
	return &exit{code: codeUsage, err: fmt.Errorf(format, args...)}
}
