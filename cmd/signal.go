package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// signals ends the program's work when the world outside asks for it.
type signals struct {
	stop     func()
	handOver func() // to a part of the program that takes care of them itself
	got      atomic.Int64
}

// together is how near to each other two signals are one wish: timeout(1),
// shells and wrappers signal a program, and its group with it.
const together = 500 * time.Millisecond

// whoseWish is who a signal comes from: Ctrl+C and Ctrl+\ are keys.
func whoseWish(sig syscall.Signal) engine.Interrupt {
	if sig == syscall.SIGINT || sig == syscall.SIGQUIT {
		return engine.Interrupt(event.ByUser)
	}
	return engine.Interrupt(event.BySystem)
}

// watchSignals returns a context that ends with the first SIGINT, SIGTERM or
// SIGHUP, and with SIGQUIT and SIGABRT, whose dumps would show what is in the
// memory. A second one, or two seconds without an end, stop the program hard;
// but one that comes together with the first is no second one.
func watchSignals(ctx context.Context) (context.Context, *signals) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := make(chan os.Signal, 4)
	signal.Ignore(syscall.SIGPIPE) // writing says so too, and then what came can be kept
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT)
	s := &signals{}
	done := make(chan struct{})
	s.handOver = func() { signal.Stop(c) }
	s.stop = func() { signal.Stop(c); close(done); cancel(nil) }
	go func() { // ends with stop
		var hard <-chan time.Time
		var first time.Time
		for {
			select {
			case sig := <-c:
				if s.got.Load() != 0 {
					if time.Since(first) < together {
						continue
					}
					os.Exit(int(s.got.Load()) + codeSignal)
				}
				n, _ := sig.(syscall.Signal)
				s.got.Store(int64(n))
				first = time.Now()
				cancel(whoseWish(n))
				hard = time.After(2 * time.Second)
			case <-hard:
				os.Exit(int(s.got.Load()) + codeSignal)
			case <-done:
				return
			}
		}
	}()
	return ctx, s
}

// explain puts the signal that ended the work in the place of what it caused.
func (s *signals) explain(err error) error {
	if n := s.got.Load(); n != 0 {
		return &exit{code: codeSignal + int(n), err: errors.New("interrupted"), quiet: true}
	}
	return err
}
