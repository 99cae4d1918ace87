//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestModesWhateverTheMask(t *testing.T) {
	for _, mask := range []int{0, 0o777} {
		root := filepath.Join(t.TempDir(), "with space\nand line", "x")
		p, err := FindPaths(Environ([]string{"AGENTX_HOME=" + root}))
		if err != nil {
			t.Fatal(err)
		}
		old := syscall.Umask(mask)
		err = p.MakeState()
		if err == nil {
			err = Edit(p.ConfigFile(), "model", "m")
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{filepath.Dir(root): 0o700, root: 0o700, p.ConfigFile(): 0o600} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %o: %q has mode %v, want %o (%v)", mask, name, info.Mode(), want, err)
			}
		}
	}
}
