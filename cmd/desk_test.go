package cmd

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agentx/config"
	"agentx/engine/event"
	"agentx/tui"
)

// newDesk is a chat without a screen: its environment is what env says, and AGENTX_HOME.
func newDesk(t *testing.T, home string, o options, env func(string) string) *desk {
	t.Helper()
	out, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	w := newWorld(out, out, out)
	w.env = config.Env(func(name string) (string, bool) {
		v := env(name)
		if name == "AGENTX_HOME" {
			v = home
		}
		return v, v != ""
	})
	maps.Copy(w.set, o.settings())
	d := &desk{world: w, options: o, feed: tui.NewFeed()}
	t.Cleanup(w.close)
	if _, err := d.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestModelChangesWhileOthersAsk has a picker and a title read the model that
// another command of the screen is just changing.
func TestModelChangesWhileOthersAsk(t *testing.T) {
	d := newDesk(t, t.TempDir(), options{noSave: true}, func(string) string { return "" })
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			if _, err := d.SetModel(t.Context(), "guide/guide"); err != nil {
				t.Error(err)
			}
		})
		busy.Go(func() {
			if _, err := d.Models(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	busy.Wait()
}

// TestKeyThatComesLater asks without a key, is given one elsewhere, and asks
// again: a chat need not be left for that.
func TestKeyThatComesLater(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(provider))
	defer server.Close()
	home, key := t.TempDir(), ""
	file := fmt.Sprintf("[providers.mine]\nbase_url = %q\nkey_env = \"MINE_KEY\"\nmodels = [\"echo\"]\n", server.URL+"/v1")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, home, options{noSave: true, model: "mine/echo"}, func(name string) string {
		if name == "MINE_KEY" {
			return key
		}
		return ""
	})
	if err := d.Send(t.Context(), "", event.Say("hi"), nil); codeOf(err) != codeAuth {
		t.Fatalf("without a key: %v", err)
	}
	key = "sk-test-abcdefghijklmnopqrstuvwxyz"
	if err := d.Send(t.Context(), "", event.Say("hi"), nil); err != nil {
		t.Errorf("with a key: %v", err)
	}
}

// TestKeyThatIsRefused gives a key that the provider does not accept: the chat may
// ask for another, unless the key is not its own.
func TestKeyThatIsRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-the-right-one" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data":[{"id":"star"}]}`)
	}))
	defer server.Close()
	home, key := t.TempDir(), ""
	file := fmt.Sprintf("keyring = false\n[providers.mine]\nbase_url = %q\nkey_env = \"MINE_KEY\"\n", server.URL+"/v1")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, home, options{noSave: true}, func(name string) string {
		if name == "MINE_KEY" {
			return key
		}
		return ""
	})
	offers := func(typed string) ([]tui.Choice, error) {
		if _, err := d.SetKey(t.Context(), "mine", typed); err != nil {
			t.Fatal(err)
		}
		return d.Offers(t.Context(), "mine")
	}
	if _, err := offers("sk-a-wrong-one"); !errors.Is(err, tui.ErrKey) || strings.Contains(err.Error(), "key set") {
		t.Errorf("with a wrong key: %v", err)
	}
	if list, err := offers("sk-the-right-one"); err != nil || len(list) != 1 {
		t.Errorf("with the right key: %v, %v", list, err)
	}
	key = "sk-another-wrong-one"
	if _, err := d.Offers(t.Context(), "mine"); err == nil || errors.Is(err, tui.ErrKey) || !strings.Contains(err.Error(), "MINE_KEY") {
		t.Errorf("with a wrong key in the environment: %v", err)
	}
}

// TestFindInWhatIsNotKept looks for words in a conversation that only the program
// remembers, as it does in one that the database has.
func TestFindInWhatIsNotKept(t *testing.T) {
	for _, unkept := range []bool{true, false} {
		d := newDesk(t, t.TempDir(), options{noSave: unkept, model: "guide/guide"}, func(string) string { return "" })
		in := d.current().session
		for _, asked := range []string{"Which keys are there?", "What is an IMAGE?", "Which keys, once more?"} {
			if err := d.Send(t.Context(), in, event.Say(asked), nil); err != nil {
				t.Fatal(err)
			}
		}
		last, err := d.Page(t.Context(), in, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		find := func(words string, first, next int64, last bool) string {
			seq, err := d.Find(t.Context(), in, words, first, next, last)
			if err != nil || seq == 0 {
				return fmt.Sprint("nothing ", err)
			}
			page, err := d.Page(t.Context(), in, seq, 1)
			if err != nil || len(page) != 1 {
				t.Fatal(page, err)
			}
			u, _ := page[0].Data.(event.UserMessage)
			return u.Content.Text()
		}
		end := int64(len(last)) + 1
		for words, want := range map[string]string{"image what": "What is an IMAGE?", "which keys more": "Which keys, once more?", "hippopotamus": "nothing <nil>"} {
			if got := find(words, 1, end, false); got != want {
				t.Errorf("not kept: %v: found %q for %q, want %q", unkept, got, words, want)
			}
		}
		if got, want := find("which", 1, 2, true), "Which keys are there?"; got != want {
			t.Errorf("not kept: %v: found %q below the second, want %q", unkept, got, want)
		}
	}
}
