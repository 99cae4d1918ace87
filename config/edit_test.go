package config

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	const file = `# mine
model = "a" # the best

[aliases] # short names
fast = "b/c"

[providers.lab] # at work
base_url = "https://lab"
headers = { A = "1", B = "2" }
`
	for _, c := range []struct{ key, text, old, want string }{
		{"model", "x/y", file, strings.Replace(file, `"a"`, `"x/y"`, 1)},
		{"max_tokens", "5", file, strings.Replace(file, "[aliases]", "max_tokens = 5\n\n[aliases]", 1)},
		{"aliases.slow", "d", file, strings.Replace(file, "fast =", "slow = \"d\"\nfast =", 1)},
		{"providers.lab.models", `["m", "n"]`, file, strings.Replace(file, "base_url", "models = [\"m\", \"n\"]\nbase_url", 1)},
		{"providers.lab.headers.A", "new", file, strings.Replace(file, `A = "1"`, `A = "new"`, 1)},
		{"keys.send", "ctrl+s", file, file + "\n[keys]\nsend = \"ctrl+s\"\n"},
		{"models.\"a/b\".input", "0.5", "", "\n[models.\"a/b\"]\ninput = 0.5\n"},
		{"model", `say "hi"`, "", "model = \"say \\\"hi\\\"\"\n"},
		{"model", "a", "color = \"never\"", "color = \"never\"\nmodel = \"a\"\n"},
		{"temperature", "warm", file, "temperature: want a number, found text"},
		{"temperature", "7", file, "temperature: 7 is not between 0 and 2"},
		{"modle", "x", file, "modle: unknown key (did you mean model?)"},
		{"providers.lab.base_url", "ftp://x", file, `providers.lab.base_url: "ftp://x" has no scheme`},
		{"a b", "x", file, `"a b": is not a key`},
		{"", "x", file, `"": is not a key`},
		{"model", "x", "model = \n", ":1:9: "},
	} {
		name := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(name, []byte(c.old), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Edit(name, c.key, c.text)
		got, _ := os.ReadFile(name)
		if err != nil && (!strings.HasPrefix(strings.TrimPrefix(err.Error(), name), c.want) || string(got) != c.old) || err == nil && string(got) != c.want {
			t.Errorf("Edit(%s, %s): %v\n%s\nwant\n%s", c.key, c.text, err, got, c.want)
		}
	}
}

func TestUnset(t *testing.T) {
	const file = "# top\nmodel = \"a\" # best\nmax_tokens = 1\n[providers.lab]\nbase_url = \"https://lab\"\nheaders = { A = \"1\", B = \"2\" }\nmodels = [\n  \"m\", # one\n]\n"
	for key, want := range map[string]string{
		"model":                   strings.Replace(file, "model = \"a\" # best\n", "", 1),
		"providers.lab.models":    strings.Replace(file, "models = [\n  \"m\", # one\n]\n", "", 1),
		"providers.lab.headers.A": strings.Replace(file, `A = "1", `, "", 1),
		"providers.lab.headers.B": strings.Replace(file, `, B = "2"`, "", 1),
	} {
		name := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Unset(name, key)
		if got, _ := os.ReadFile(name); string(got) != want || err != nil {
			t.Errorf("Unset(%s): %v\n%s\nwant\n%s", key, err, got, want)
		}
		if err := Unset(name, key); !errors.Is(err, ErrUnknown) {
			t.Errorf("Unset(%s) again: %v", key, err)
		}
	}
}

func TestEditThenReadProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := filepath.Join(dir, "config.toml")
		_ = os.Remove(name)
		want := map[string]string{}
		for range rapid.IntRange(1, 8).Draw(t, "edits") {
			key := rapid.StringMatching(`[a-z"'.\\ é]{1,6}`).Draw(t, "alias")
			value := rapid.StringMatching(`[ -~é]{0,12}`).Draw(t, "value")
			if err := Edit(name, "aliases."+dotted([]string{key}), value); err != nil {
				t.Fatalf("Edit(%q, %q): %v", key, value, err)
			}
			want[key] = value
		}
		d, err := readDocument(name, User)
		if err != nil {
			t.Fatal(err)
		}
		c := defaults()
		if err := c.lay(d); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(c.Aliases) != fmt.Sprint(want) {
			t.Fatalf("aliases %q, want %q", c.Aliases, want)
		}
	})
}

func TestManyEditors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "config.toml")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := Edit(name, fmt.Sprintf("aliases.a%d", i), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	d, err := readDocument(name, User)
	if n := len(d.values["aliases"].(map[string]any)); n != 20 || err != nil {
		t.Errorf("%d of 20 edits are there: %v", n, err)
	}
}

// A process is killed in the midst of its edits, again and again: what is left is always a whole file, and the next writer is not held up.
func TestKilledWriter(t *testing.T) {
	const variable = "AGENTX_TEST_EDIT_FOR_EVER"
	if name := os.Getenv(variable); name != "" {
		for i := 0; ; i++ {
			if err := Edit(name, "aliases.a", strings.Repeat("x", 1+i%50_000)); err != nil {
				t.Fatal(err)
			}
			fmt.Println("edited")
		}
	}
	name := filepath.Join(t.TempDir(), "config.toml")
	if err := Edit(name, "model", "kept"); err != nil {
		t.Fatal(err)
	}
	for round := range 10 {
		writer := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
		writer.Env = append(os.Environ(), variable+"="+name)
		out, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + round*3 {
			lines.Scan()
		}
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = writer.Wait() // killed, as it was meant to be
		d, err := readDocument(name, User)
		if err != nil || d.values["model"] != "kept" || lines.Text() != "edited" {
			t.Fatalf("round %d: %v, %.100q", round, err, d.text)
		}
	}
	if err := Edit(name, "model", "new"); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(name)); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}
