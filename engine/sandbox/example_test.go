package sandbox_test

import (
	"context"
	"fmt"
	"os"

	"agentx/engine/event"
	"agentx/engine/sandbox"
)

// An agent works in a folder of its own; what it changed goes into another.
func Example() {
	ctx := context.Background()
	one, _ := os.MkdirTemp("", "one")
	two, _ := os.MkdirTemp("", "two")
	defer os.RemoveAll(one)
	defer os.RemoveAll(two)

	work, err := sandbox.Open(one, sandbox.Options{
		Tell:     func(d event.Data) { fmt.Printf("%s %+v\n", d.Type(), d) },
		Baseline: &sandbox.Manifest{},
	})
	if err != nil {
		panic(err)
	}
	defer work.Close()
	_ = work.Write(ctx, "plan.md", []byte("Think, then write.\n"))
	_, err = work.Read(ctx, "../secret")
	fmt.Println(err)
	changes, _ := work.Changes(ctx)

	copied, err := sandbox.Open(two, sandbox.Options{})
	if err != nil {
		panic(err)
	}
	defer copied.Close()
	_ = copied.Apply(ctx, changes)
	text, _ := copied.Read(ctx, "plan.md")
	fmt.Printf("%s", text)
	// Output:
	// file_written {Path:plan.md Size:19 Created:true}
	// workdir_error {Operation:read Path:../secret Code:outside Message:outside the work directory}
	// read ../secret: outside the work directory
	// Think, then write.
}
