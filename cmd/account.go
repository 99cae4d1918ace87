package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/event"
	"agentx/store"
)

// account is what a person has to know of an answer that is not a complete one:
// what happened, what is saved, and what to do.
func (w *world) account(ctx context.Context, t *talk, o outcome) error {
	parts := []string{happened(ctx, o.err), saved(t, o), remedy(t, o)}
	var said []string
	for _, s := range parts {
		if s != "" {
			said = append(said, s)
		}
	}
	return errors.New(strings.Join(said, "; "))
}

// happened is what went wrong.
func happened(ctx context.Context, err error) string {
	if i, ok := errors.AsType[engine.Interrupt](context.Cause(ctx)); ok {
		switch event.InterruptReason(i) {
		case event.ByTimeout:
			return "the answer took longer than --timeout allows"
		case event.BySystem:
			return "ended by a signal"
		}
	}
	if e, ok := errors.AsType[*store.Error](err); ok {
		what, _ := failing(e)
		return what
	}
	return sentence(err)
}

// saved is what became of the message and its answer.
func saved(t *talk, o outcome) string {
	_, lost := errors.AsType[*store.Error](o.err)
	switch {
	case !o.sent:
		return "nothing was saved and nothing was sent"
	case !t.kept:
		return ""
	case lost:
		return "not all of the answer is saved"
	case o.text != "":
		return "what came is saved"
	}
	return "your message is saved"
}

// remedy is what to do about it.
func remedy(t *talk, o outcome) string {
	if e, ok := errors.AsType[*exit](o.err); ok && e.remedy != "" {
		return e.remedy
	}
	if e, ok := errors.AsType[*store.Error](o.err); ok {
		_, todo := failing(e)
		return todo
	}
	switch code := codeOf(o.err); {
	case errors.Is(o.err, config.ErrNoKey): // says so itself
	case code == codeAuth && o.elsewhere: // it is the key of another provider, which the failure names
	case code == codeAuth:
		return fmt.Sprintf("to give another key: agentx key set %s", t.choice().Provider.Name)
	case t.kept && o.sent && (code == codeProvider || code == codeRate || code == codeLimit || code == codeIncomplete):
		return fmt.Sprintf("to go on: agentx -r %s", shortID(t.session))
	}
	return ""
}

// unsent reports whether err kept the message from the driver: what cannot be
// saved is not sent.
func unsent(err error) bool {
	f, ok := errors.AsType[*engine.Fault](err)
	return ok && f.Code == event.CodeStore
}

// unopened says of a session that could not be opened that nothing was sent.
func unopened(ctx context.Context, err error) error {
	if i, ok := errors.AsType[engine.Interrupt](context.Cause(ctx)); ok {
		return &exit{code: codeOf(i), err: errors.New(happened(ctx, i) + "; nothing was saved and nothing was sent")}
	}
	e, ok := errors.AsType[*store.Error](err)
	if !ok {
		return err
	}
	what, todo := failing(e)
	what += "; nothing was saved and nothing was sent"
	if todo != "" {
		what += "; " + todo
	}
	return &exit{code: codeStore, err: errors.New(what)}
}

// stored is a failure of the store in words.
func stored(e *store.Error) string {
	what, todo := failing(e)
	if todo == "" {
		return what
	}
	return what + "; " + todo
}

// alone is what makes a database work where files cannot be shared.
const alone = "let one agentx at a time use it, slower, with AGENTX_STORE_JOURNAL=delete (store.journal in config.toml)"

func isInUse(err error) bool {
	_, ok := errors.AsType[*store.InUseError](err)
	return ok
}

// failing is what is wrong with the store, and what to do about it.
func failing(e *store.Error) (what, todo string) {
	switch {
	case errors.Is(e, store.ErrDiskFull):
		return fmt.Sprintf("the disk is full (%s)", e.Path), "make room on it, or name another place with --db"
	case errors.Is(e, store.ErrReadOnly):
		return e.Path + " is read-only", "sessions can be read; to begin one elsewhere name a file with --db"
	case errors.Is(e, store.ErrPermission):
		return fmt.Sprintf("%s: permission denied (it belongs to %s)", e.Path, owner(e.Path)), "name another file with --db"
	case errors.Is(e, store.ErrNotDatabase):
		return e.Path + " is not a database of agentx, and was left as it is", "move it away, or name another file with --db"
	case errors.Is(e, store.ErrNewer):
		return fmt.Sprintf("%s was written by a newer agentx than this program, and was left as it is", e.Path), "use that one, or another file with --db"
	case errors.Is(e, store.ErrCorrupt):
		return e.Path + " is damaged, and was left as it is", "`agentx doctor` says where; sessions can be read as far as they are sound, and `agentx doctor --recover FILE` writes all that can be read into a new one"
	case errors.Is(e, store.ErrStray):
		return fmt.Sprintf("%s-wal belongs to another database, and was left as it is", e.Path), "move it to where it belongs; sessions can be read without it"
	case errors.Is(e, store.ErrIO):
		return fmt.Sprintf("disk I/O error at %s", e.Path), "nothing more is written there; `agentx doctor` looks closer"
	case errors.Is(e, store.ErrNetwork):
		return fmt.Sprintf("%s lies on a network file system, where a database breaks", e.Path), "name a file on a disk of this machine with --db, or " + alone
	case errors.Is(e, store.ErrUnshared):
		return fmt.Sprintf("%s lies where files cannot be shared between programs, as in some sandboxes", e.Path), "name another file with --db, or " + alone
	case errors.Is(e, store.ErrLocks):
		return fmt.Sprintf("%s lies where files cannot be locked, as in some sandboxes", e.Path), "name another file with --db, or keep nothing with --no-save"
	case errors.Is(e, store.ErrCrowded):
		return fmt.Sprintf("too many open files, of which %s would be one more", e.Path), "end what has opened them, or allow more with `ulimit -n`"
	case errors.Is(e, fs.ErrNotExist) && !errors.Is(e, store.ErrNotFound):
		return fmt.Sprintf("%s or its folder was removed while it was in use", e.Path), "what was said goes nowhere any more; name another file with --db"
	case errors.Is(e, store.ErrBusy) && !isInUse(e):
		return fmt.Sprintf("%s is in use by another program, or by another agentx: one that is older, or where only one at a time may have it", e.Path), "try again when that has ended"
	}
	return e.Err.Error(), ""
}
