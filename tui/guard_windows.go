package tui

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// watch takes the signals while the chat is on the terminal. Of its size the
// console itself tells the loop.
func (c *console) watch(context.Context) <-chan os.Signal {
	fatal := make(chan os.Signal, 4)
	signal.Notify(fatal, syscall.SIGTERM, os.Interrupt)
	return fatal
}

func number(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}

// suspend does nothing: there is no shell here that could bring the chat back.
func (c *console) suspend() {}

func (c *console) lend() bool {
	_ = c.program.ReleaseTerminal()
	c.screen.Release()
	return true
}

func (c *console) takeBack() {
	_ = c.screen.Acquire()
	_ = c.program.RestoreTerminal()
}

func crashOf(v any) Crash { return Crash{v, debug.Stack()} }

func reflows([]string) bool { return true }

// ready is never known here.
func ready(*os.File, time.Duration) bool { return false }
