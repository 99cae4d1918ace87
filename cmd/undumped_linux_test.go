package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever is killed with a dump of its memory leaves none behind, and a release
// shows it to nobody.
func TestNoDump(t *testing.T) {
	version = "1.0"
	undumped()
	version = ""
	shown, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) != nil || err != nil || shown != 0 {
		t.Errorf("a release can be dumped: %d, %v", shown, err)
	}

	h := newHouse(t)
	cmd := exec.Command("sh", "-c", `ulimit -c "$(ulimit -H -c)"; exec agentx -p -m openai/gate hello`)
	cmd.Dir, cmd.Env = h.dir, h.environment(nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.until("text on the disk", func() bool { return h.live() != "" })
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max core file size") && f[4] != "0" {
			t.Errorf("it may leave a dump: %s", line)
		}
	}
	_ = cmd.Process.Signal(unix.SIGSEGV)
	_ = cmd.Wait()
	if left, _ := filepath.Glob(filepath.Join(h.dir, "core*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
