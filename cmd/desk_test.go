package cmd

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
