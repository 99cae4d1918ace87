//go:build unix

package cmd

import (
	"cmp"
	"context"
	"os/exec"
	"syscall"
)

// shellCommand runs a command in a session of its own: it has no terminal to
// ask or draw on, and whatever it starts can be ended with it.
func shellCommand(ctx context.Context, shell, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, cmp.Or(shell, "/bin/sh"), "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	return cmd
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
