package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"
)

const keyringService = "agentx"

// Ring keeps secrets by name; Get of a name that is not there is ErrNoKey.
type Ring interface {
	Get(name string) (string, error)
	Set(name, secret string) error
	Remove(name string) error
}

// systemRing is the keyring of the operating system.
type systemRing struct{}

func (systemRing) Get(name string) (string, error) {
	secret, err := keyring.Get(keyringService, name)
	return secret, ringError(err)
}

func (systemRing) Set(name, secret string) error {
	return ringError(keyring.Set(keyringService, name, secret))
}

func (systemRing) Remove(name string) error {
	return ringError(keyring.Delete(keyringService, name))
}

func ringError(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNoKey
	}
	return err
}

// hasRing says whether there is a keyring to talk to. Where D-Bus serves it, the library would start a bus of its own if there were
// none: so look first.
func hasRing(env Env) bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	if address := env.get("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address != "autolaunch:" && address != "disabled:"
	}
	return env.get("XDG_RUNTIME_DIR") != "" && exists(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
}

// within runs a call to the keyring, which can wait for a daemon or for a person. A call that takes too long is left behind: it ends
// when the keyring answers, or with the process.
func within[T any](ctx context.Context, limit time.Duration, call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("the keyring did not answer within "+limit.String()))
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		value, err := call()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
