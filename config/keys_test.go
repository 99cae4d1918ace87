package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// drawer is a keyring in memory; locked makes it wait, broken makes it fail.
type drawer struct {
	mu     sync.Mutex
	held   map[string]string
	broken error
	locked chan struct{}
	asked  int
}

func (d *drawer) open() error {
	d.mu.Lock()
	d.asked++
	d.mu.Unlock()
	if d.locked != nil {
		<-d.locked
	}
	return d.broken
}

func (d *drawer) Get(name string) (string, error) {
	if err := d.open(); err != nil {
		return "", err
	}
	if secret, ok := d.held[name]; ok {
		return secret, nil
	}
	return "", ErrNoKey
}

func (d *drawer) Set(name, secret string) error {
	if err := d.open(); err != nil {
		return err
	}
	d.held[name] = secret
	return nil
}

func (d *drawer) Remove(name string) error {
	if err := d.open(); err != nil {
		return err
	}
	delete(d.held, name)
	return nil
}

func (m machine) keys(ring Ring) Keys {
	k := m.load().Keys()
	k.Ring = ring
	return k
}

func key(t *testing.T, text string) Secret {
	t.Helper()
	s, err := NewSecret("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhereAKeyComesFrom(t *testing.T) {
	ctx := t.Context()
	m := newMachine(t).user("[providers.lab]\nbase_url = 'https://lab'\nkey_command = [\"/bin/sh\", \"-c\", \"echo from-command; echo rest\"]\nkey_env = 'LAB_KEY'\n")
	ring := &drawer{held: map[string]string{}}
	k := m.keys(ring)
	look := func(provider, text, source string) {
		t.Helper()
		secret, from, err := k.Lookup(ctx, provider)
		if secret.Reveal() != text || from != source || err != nil {
			t.Errorf("Lookup(%s) = %q from %q, %v, want %q from %q", provider, secret.Reveal(), from, err, text, source)
		}
	}
	if _, _, err := k.Lookup(ctx, "openai"); !errors.Is(err, ErrNoKey) || err.Error() != "openai: no API key: set OPENAI_API_KEY or run: agentx key set openai" {
		t.Errorf("without a key: %v", err)
	}
	look("ollama", "", "")
	look("guide", "", "")
	look("lab", "from-command", "providers.lab.key_command")
	if ring.asked != 0 {
		t.Errorf("the keyring was asked %d times for nothing", ring.asked)
	}

	if where, err := k.Set(ctx, "openai", key(t, "in-ring")); where != "keyring" || err != nil {
		t.Fatalf("Set() = %q, %v", where, err)
	}
	look("openai", "in-ring", "keyring")
	ring.broken = errors.New("no collection")
	if _, _, err := k.Lookup(ctx, "openai"); err == nil || err.Error() != "keyring: key of openai: no collection" {
		t.Errorf("a broken keyring: %v", err)
	}
	if where, err := k.Set(ctx, "openai", key(t, "in-file")); where != k.File || err != nil {
		t.Fatalf("Set() = %q, %v", where, err)
	}
	look("openai", "in-file", k.File)

	m.vars = append(m.vars, "LAB_KEY=from-env", "OPENAI_API_KEY=exported")
	k = m.keys(ring)
	look("lab", "from-env", "LAB_KEY")
	look("openai", "exported", "OPENAI_API_KEY")
	places, err := k.List()
	want := fmt.Sprintf("[{openai OPENAI_API_KEY true} {openai %s false} {lab LAB_KEY true} {lab key_command false}]", k.File)
	if fmt.Sprint(places) != want || err != nil {
		t.Errorf("List() = %v, %v, want %s", places, err, want)
	}

	m.vars = m.vars[:1]
	k = m.keys(nil)
	if choice, err := k.choice(m); err != nil || choice.Why != "stored key" || choice.Provider.Name != "openai" {
		t.Errorf("a stored key does not choose its provider: %+v, %v", choice, err)
	}
	if err := k.Remove(ctx, "openai"); err != nil {
		t.Fatal(err)
	}
	if err := k.Remove(ctx, "openai"); !errors.Is(err, ErrNoKey) {
		t.Errorf("Remove() again = %v", err)
	}
	if _, err := k.Set(ctx, "opnai", key(t, "x")); err == nil || !strings.Contains(err.Error(), "did you mean openai?") {
		t.Errorf("Set of a typo: %v", err)
	}
}

func (k Keys) choice(m machine) (Choice, error) { return m.load().Resolve("") }

func TestKeyInTheClear(t *testing.T) {
	m := newMachine(t).user("[providers.lan]\nbase_url = 'http://192.0.2.1/v1'\n")
	k := m.keys(nil)
	if _, _, err := k.Lookup(t.Context(), "lan"); err != nil {
		t.Errorf("no key, nothing to protect: %v", err)
	}
	if _, err := k.Set(t.Context(), "lan", key(t, canary)); err != nil {
		t.Fatal(err)
	}
	secret, _, err := k.Lookup(t.Context(), "lan")
	if !errors.Is(err, ErrUnencrypted) || !secret.IsZero() || strings.Contains(err.Error(), canary) {
		t.Errorf("Lookup() = %q, %v", secret.Reveal(), err)
	}
}

func TestLocalServerNeedsNoKey(t *testing.T) {
	m := newMachine(t, "OPENAI_BASE_URL=http://127.0.0.1:8080/v1")
	if secret, _, err := m.keys(nil).Lookup(t.Context(), "openai"); err != nil || !secret.IsZero() {
		t.Errorf("Lookup() = %v", err)
	}
	m.vars = append(m.vars, "OPENAI_API_KEY=k")
	if secret, _, err := m.keys(nil).Lookup(t.Context(), "openai"); err != nil || secret.Reveal() != "k" {
		t.Errorf("Lookup() with a key = %v", err)
	}
}

func TestKeyFileOfOthers(t *testing.T) {
	m := newMachine(t)
	k := m.keys(nil)
	if _, err := k.Set(t.Context(), "openai", key(t, canary)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(k.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o606} {
		if err := os.Chmod(k.File, mode); err != nil {
			t.Fatal(err)
		}
		_, _, err := k.Lookup(t.Context(), "openai")
		_, again := k.Set(t.Context(), "openai", key(t, "new"))
		_, chosen := m.load().Resolve("")
		if !errors.Is(err, ErrUnsafe) || !errors.Is(again, ErrUnsafe) || !errors.Is(chosen, ErrUnsafe) || !strings.Contains(err.Error(), k.File) {
			t.Errorf("mode %o: %v, %v, %v", mode, err, again, chosen)
		}
	}
}

func TestCommandsThatMisbehave(t *testing.T) {
	for script, want := range map[string]string{
		"exit 3":                                "exit status 3",
		"true":                                  "the key is empty",
		"echo canary; exit 1":                   "exit status 1",
		"echo 'canary with space'":              "contains a space",
		"printf 'canary\\033[31m\\n'":           "control character",
		"printf 'ключ\\n'":                      "not ASCII",
		"head -c 100000 /dev/zero | tr '\\0' c": "bytes long",
		"kill -9 $$":                            "signal: killed",
	} {
		m := newMachine(t).user("[providers.lab]\nbase_url = 'https://lab'\nkey_command = ['/bin/sh', '-c', " + quote(script) + "]\n")
		secret, _, err := m.keys(nil).Lookup(t.Context(), "lab")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "providers.lab.key_command: ") || !secret.IsZero() {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: its output shows: %v", script, err)
		}
	}
	if _, err := keyFromCommand(t.Context(), []string{"no-such-program-at-all"}, time.Minute); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("no program: %v", err)
	}
}

// A program, or a child that it leaves behind, goes on until the test is over:
// whoever waited for it would wait for ever.
func TestKeyFromAProgramThatHangs(t *testing.T) {
	hold := filepath.Join(t.TempDir(), "hold")
	if out, err := exec.Command("mkfifo", hold).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { // lets go who reads
		if f, err := os.OpenFile(hold, os.O_RDWR, 0); err == nil {
			f.Close()
		}
	})
	read := "cat " + hold
	if _, err := keyFromCommand(t.Context(), []string{"/bin/sh", "-c", read + " & " + read}, 50*time.Millisecond); err == nil || err.Error() != "did not finish within 50ms" {
		t.Errorf("a program that hangs: %v", err)
	}
	if text, err := keyFromCommand(t.Context(), []string{"/bin/sh", "-c", read + " & printf 'abc\\r\\n'"}, time.Minute); text != "abc" || err != nil {
		t.Errorf("a program that leaves a child behind: %q, %v", text, err)
	}
}

func TestKeyringThatNeverAnswers(t *testing.T) {
	m := newMachine(t)
	ring := &drawer{held: map[string]string{}}
	k := m.keys(ring)
	if _, err := k.Set(t.Context(), "openai", key(t, "in-ring")); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ring.locked = make(chan struct{})
		began := time.Now()
		_, _, err := k.Lookup(t.Context(), "openai")
		if err == nil || err.Error() != "keyring: key of openai: the keyring did not answer within 10s" || time.Since(began) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := k.Lookup(ctx, "openai"); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		close(ring.locked)
	})
}

func TestManyWriters(t *testing.T) {
	m := newMachine(t)
	k := m.keys(nil)
	var all sync.WaitGroup
	for i, p := range BuiltInProviders() {
		all.Go(func() {
			if _, err := k.Set(t.Context(), p.Name, key(t, fmt.Sprintf("key-%d", i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	names, err := k.Stored()
	if len(names) != len(BuiltInProviders()) || err != nil {
		t.Errorf("of %d keys %d are there: %v", len(BuiltInProviders()), len(names), err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(k.File), ".credentials.toml.*"))
	if len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("left behind: %v", left)
	}
}

func TestBrokenKeyFileShowsNoKey(t *testing.T) {
	for _, text := range []string{
		"[keys]\nopenai = " + canary, "[keys]\nopenai = \"" + canary, "[keys]\nopenai = \"" + canary + " x\"", "[keys]\nopenai = 1",
		canary, canary + " = 1", "[keys\n", "[other]\na = 1", "keys = \"" + canary + "\"", "[keyring]\nopenai = '" + canary + "'", "openai = '" + canary + "'",
	} {
		_, err := parseKeys("f", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzKeyFile(f *testing.F) {
	for _, seed := range []string{"[keys]\nopenai = 'k'\n[keyring]\nx = true\n", "[keys]\n'a b' = \"k\\\"\\\\\"\n", "keys = {a='b'}", "[keys]\na = '''\nx'''"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := parseKeys("f", raw)
		if err != nil {
			return
		}
		again, err := parseKeys("f", s.text())
		if err != nil {
			t.Fatalf("what was read cannot be written: %v\n%s", err, s.text())
		}
		if len(again.keys) != len(s.keys) || fmt.Sprint(again.ring) != fmt.Sprint(s.ring) {
			t.Errorf("%d keys became %d", len(s.keys), len(again.keys))
		}
		for name, secret := range s.keys {
			if !secret.Equal(again.keys[name]) {
				t.Errorf("the key of %q has changed", name)
			}
		}
	})
}
