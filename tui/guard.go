//go:build unix

package tui

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	tea "charm.land/bubbletea/v2"
)

// watch takes the signals while the chat is on the terminal. What comes out of
// its channel ends the chat.
func (c *console) watch(ctx context.Context) <-chan os.Signal {
	fatal := make(chan os.Signal, 4)
	signal.Notify(fatal, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT)
	other := make(chan os.Signal, 4)
	signal.Notify(other, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT)
	go func() { // ends with ctx
		defer signal.Stop(other)
		select {
		case <-c.ready:
		case <-ctx.Done():
			return
		}
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-other:
				c.signalled(s)
			}
		}
	}()
	return fatal
}

func (c *console) signalled(s os.Signal) {
	switch s {
	case syscall.SIGWINCH:
		c.measure()
	case syscall.SIGTSTP:
		go c.suspend() // ends when the chat is in the foreground again
	case syscall.SIGCONT:
		if !c.isAway() && c.foreground() { // stopped by somebody who did not ask
			_ = c.screen.Acquire()
			c.measure()
		}
	}
}

// measure tells the loop how large the terminal is.
func (c *console) measure() {
	if w, h, err := c.screen.Size(); err == nil {
		c.program.Send(tea.WindowSizeMsg{Width: w, Height: h})
	}
}

func number(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}

// suspend stops the chat and all of its process group, as a shell expects it of
// Ctrl+Z, and comes back when that is in the foreground again: in the background
// the answer goes on and nothing is drawn. Where no shell could continue it, it
// does nothing.
func (c *console) suspend() {
	if sid, err := unix.Getsid(0); err != nil || sid == unix.Getpgrp() || !c.lend() {
		return
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	// SIGTSTP would be ignored for good once somebody has listened to it.
	_ = syscall.Kill(0, syscall.SIGSTOP)
	<-continued
	for !c.foreground() {
		select { // a shell need not say that it has put us in front
		case <-continued:
		case <-time.After(250 * time.Millisecond):
		}
	}
	c.takeBack()
}

func (c *console) foreground() bool {
	group, err := unix.IoctlGetInt(int(c.options.In.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func (c *console) isAway() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.away
}

// lend gives the terminal away; false where it is already.
func (c *console) lend() bool {
	c.mu.Lock()
	if c.away {
		c.mu.Unlock()
		return false
	}
	c.away = true
	c.mu.Unlock()
	_ = c.program.ReleaseTerminal()
	c.screen.Release()
	return true
}

func (c *console) takeBack() {
	_ = c.screen.Acquire()
	_ = c.program.RestoreTerminal()
	c.mu.Lock()
	c.away = false
	c.mu.Unlock()
	c.measure()
}

func crashOf(v any) Crash { return Crash{v, debug.Stack()} }

// reflows says whether the terminal wraps its lines anew when it gets narrower.
// Nearly all do; xterm and the console cut them off.
func reflows(env []string) bool {
	return !slices.ContainsFunc(env, func(e string) bool {
		return strings.HasPrefix(e, "XTERM_VERSION=") || e == "TERM=linux"
	})
}

// ready says whether there is something to read, or will be within that time.
func ready(f *os.File, within time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(within.Milliseconds()))
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}
