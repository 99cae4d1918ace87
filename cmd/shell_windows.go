package cmd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// shellCommand runs a command without a console of its own to ask or draw on.
func shellCommand(ctx context.Context, _, command string) *exec.Cmd {
	shell := os.Getenv("ComSpec")
	if !filepath.IsAbs(shell) {
		shell = "cmd.exe"
	}
	cmd := exec.CommandContext(ctx, shell)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CmdLine:       `cmd /D /S /C "` + command + `"`,
		CreationFlags: 0x08000000 | syscall.CREATE_NEW_PROCESS_GROUP, // no window
	}
	cmd.Cancel = func() error { killGroup(cmd); return nil }
	return cmd
}

// killGroup ends a command with all that it has started.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}
