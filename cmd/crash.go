package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"agentx/config"
)

// crashed makes an error of a panic, with a report that the user can read
// before giving it away.
func (w *world) crashed(v any, stack []byte) error {
	return &exit{code: codeInternal, err: fmt.Errorf("agentx broke down: %v; what was said is saved; %s", v, w.keepCrash(v, stack))}
}

// safely runs f, and makes an error of its panic.
func (w *world) safely(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = w.crashed(v, debug.Stack())
		}
	}()
	return f()
}

// keepCrash writes the report and says where it lies.
func (w *world) keepCrash(v any, stack []byte) string {
	const none = "no report could be written"
	paths, err := config.FindPaths(w.env)
	if err != nil || paths.MakeState() != nil {
		return none
	}
	name := filepath.Join(paths.State, "crash-"+time.Now().Format("20060102-150405")+".txt")
	report := config.Redact(fmt.Sprintf("agentx %s\n\n%v\n\n%s", versionLine(), v, stack), w.secrets()...)
	if os.WriteFile(name, []byte(report), 0o600) != nil {
		return none
	}
	return "a report lies in " + name
}
