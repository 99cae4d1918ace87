package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentx/config"
)

// A panic is one line, an exit code, and a report that only the user can read
// and that holds no key.
func TestACrashIsReported(t *testing.T) {
	home := t.TempDir()
	key, err := config.NewSecret("test", "sk-thekeythatwasused0123456789")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{env: config.Environ([]string{"HOME=" + home}), known: []config.Secret{key}}
	err = w.safely(func() error { panic("with sk-thekeythatwasused0123456789 in it") })
	if codeOf(err) != codeInternal {
		t.Errorf("exit code %d, want %d", codeOf(err), codeInternal)
	}
	reports, _ := filepath.Glob(filepath.Join(home, ".local/state/agentx/crash-*.txt"))
	if len(reports) != 1 || !strings.Contains(err.Error(), reports[0]) {
		t.Fatalf("reports %q, and the error says %v", reports, err)
	}
	report, err := os.ReadFile(reports[0])
	if err != nil || !strings.Contains(string(report), "TestACrashIsReported") || strings.Contains(string(report), "thekeythatwasused") {
		t.Errorf("%v, report:\n%s", err, report)
	}
	if info, _ := os.Stat(reports[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("the report's mode is %v", info.Mode())
	}
}
