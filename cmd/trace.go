package cmd

import (
	"fmt"
	"os"
	"sync"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/record"
)

// A trace is the file that --trace names. Nil, nothing is recorded.
type trace struct {
	name string
	file *os.File
	once sync.Once
	out  *record.Writer // from the first definition of an agent on
}

// openTrace makes the file. One that is there already stays as it is: it may be
// the recording of a bug.
func openTrace(name string) (*trace, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return nil, usage("%s is there already, and --trace writes over nothing; give --trace another name, or remove it", name)
	}
	if err != nil {
		return nil, usage("--trace %s: %v", name, bare(err))
	}
	return &trace{name: name, file: f}, nil
}

// recorder is what the engine tells its transitions. The first model that is
// chosen stands at the head of the file.
func (w *world) recorder(c config.Choice) func(engine.Transition) {
	t := w.trace
	if t == nil {
		return nil
	}
	t.once.Do(func() {
		t.out = record.NewWriter(t.file, record.Header{
			Agentx: versionLine(), Model: c.Model, Provider: c.Provider.Name, Timestamp: event.MillisOf(w.now()),
		})
	})
	return t.out.Step
}

// endTrace closes the file. A recording with a gap is none, so a person is told;
// one that nothing came of is removed.
func (w *world) endTrace(err error) error {
	t := w.trace
	if t == nil {
		return err
	}
	if t.out == nil {
		_ = t.file.Close()
		_ = os.Remove(t.name)
		return err
	}
	failed := t.out.Flush()
	if closed := t.file.Close(); failed == nil {
		failed = closed
	}
	if failed == nil {
		return err
	}
	lost := fmt.Errorf("the trace in %s is not complete: %w", t.name, bare(failed))
	if err != nil {
		w.warn("%v", lost)
		return err
	}
	return &exit{code: codeOutput, err: lost}
}
