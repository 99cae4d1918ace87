package driver_test

import (
	"testing"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/guide"
	"agentx/engine/driver/script"
)

// People are told who answers, and tools around a model do not change that. A
// model that says nothing of itself is called a loop (F10).
func TestALoopIsCalledAsItsModel(t *testing.T) {
	model := guide.New(0)
	var d engine.Described = driver.Loop{Model: driver.Loop{Model: model}}
	if d.Name() == "" || d.Name() != model.Name() || d.Description() == "" || d.Description() != model.Description() {
		t.Errorf("it is %q, %q", d.Name(), d.Description())
	}
	d = driver.Loop{Model: script.Messages{}}
	if d.Name() != "loop" || d.Description() != "" {
		t.Errorf("it is %q, %q", d.Name(), d.Description())
	}
}
