// Command generate makes prices.txt: it packs the npm package that holds prices and context windows, checks the hashes of its data
// and writes what agentx needs of it, one sorted line a model.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	source  = "@earendil-works/pi-ai"
	version = "1.5.2"
	licence = "MIT"
	folder  = "package/dist/providers/data/"
)

// providers maps the names of files in the package to the names of providers here.
var providers = map[string]string{
	"anthropic": "anthropic", "cerebras": "cerebras", "deepseek": "deepseek", "fireworks": "fireworks", "google": "gemini",
	"groq": "groq", "mistral": "mistral", "moonshotai": "moonshotai", "openai": "openai", "openrouter": "openrouter",
	"together": "together", "xai": "xai", "zai": "zai",
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	files, err := pack(ctx)
	if err != nil {
		return err
	}
	date, err := check(files)
	if err != nil {
		return err
	}
	lines, err := table(files)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("# Made by go generate; do not edit. USD per million tokens; - is unknown.\n"+
		"# provider, id, name, input, output, cache read, cache write, context, longest output, r(easoning) i(mages), tiers above:in:out:read:write\n"+
		"# source: npm %s\n# version: %s\n# licence: %s\n# date: %s\n", source, version, licence, date)
	return os.WriteFile("prices.txt", []byte(head+strings.Join(lines, "\n")+"\n"), 0o644)
}

// pack fetches the package with npm and returns its data files by name.
func pack(ctx context.Context) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "prices")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	npm := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", dir, source+"@"+version)
	npm.Stderr = os.Stderr
	if err := npm.Run(); err != nil {
		return nil, fmt.Errorf("npm pack: %w", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(names) != 1 {
		return nil, fmt.Errorf("npm pack left %d archives", len(names))
	}
	return unpack(names[0])
}

func unpack(name string) (map[string][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(zip); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(h.Name, folder) {
			continue
		}
		if files[path.Base(h.Name)], err = io.ReadAll(io.LimitReader(archive, 16<<20)); err != nil {
			return nil, err
		}
	}
}

// check compares every file with the manifest and returns the day on which the data were made.
func check(files map[string][]byte) (string, error) {
	var manifest struct {
		GeneratedAt time.Time
		Files       map[string]string
	}
	if err := json.Unmarshal(files[".manifest.json"], &manifest); err != nil {
		return "", fmt.Errorf("manifest: %w", err)
	}
	for file := range providers {
		name := file + ".json"
		sum := sha256.Sum256(files[name])
		if got, want := hex.EncodeToString(sum[:]), manifest.Files[name]; got != want {
			return "", fmt.Errorf("%s: sha256 is %s, the manifest says %q", name, got, want)
		}
	}
	return manifest.GeneratedAt.Format(time.DateOnly), nil
}

type cost struct{ Input, Output, CacheRead, CacheWrite json.Number }

type model struct {
	ID, Name, Type           string
	Reasoning                bool
	Input                    []string
	ContextWindow, MaxTokens int
	Cost                     struct {
		cost
		Tiers []struct {
			InputTokensAbove int
			cost
		}
	}
}

// table is one line for each chat model, sorted by its bytes.
func table(files map[string][]byte) ([]string, error) {
	var lines []string
	for file, provider := range providers {
		var apis map[string]map[string]model
		decoder := json.NewDecoder(bytes.NewReader(files[file+".json"]))
		decoder.UseNumber()
		if err := decoder.Decode(&apis); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, models := range apis {
			for _, m := range models {
				if m.Type != "chat" {
					continue
				}
				line, err := m.line(provider)
				if err != nil {
					return nil, fmt.Errorf("%s/%s: %w", provider, m.ID, err)
				}
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	key := func(line string) string { return strings.Join(strings.SplitN(line, "\t", 3)[:2], "/") }
	for i := 1; i < len(lines); i++ {
		if key(lines[i-1]) == key(lines[i]) {
			return nil, fmt.Errorf("%s is there twice", key(lines[i]))
		}
	}
	return lines, nil
}

func (m model) line(provider string) (string, error) {
	if strings.ContainsAny(m.ID+m.Name, "\t\n\r") || m.ID == "" {
		return "", errors.New("the name does not fit on a line")
	}
	prices, err := m.Cost.cost.columns(free(m.ID))
	if err != nil {
		return "", err
	}
	fields := append([]string{provider, m.ID, m.Name}, prices...)
	fields = append(fields, strconv.Itoa(m.ContextWindow), strconv.Itoa(m.MaxTokens), m.flags())
	slices.SortFunc(m.Cost.Tiers, func(a, b struct {
		InputTokensAbove int
		cost
	}) int {
		return cmp.Compare(a.InputTokensAbove, b.InputTokensAbove)
	})
	for _, t := range m.Cost.Tiers {
		prices, err := t.columns(false)
		if err != nil {
			return "", err
		}
		fields = append(fields, strconv.Itoa(t.InputTokensAbove)+":"+strings.Join(prices, ":"))
	}
	return strings.Join(fields, "\t"), nil
}

func (m model) flags() string {
	var flags string
	if m.Reasoning {
		flags += "r"
	}
	if slices.Contains(m.Input, "image") {
		flags += "i"
	}
	return flags
}

// free says that a price of nothing is meant: elsewhere the package writes 0 for what it does not know.
func free(id string) bool { return strings.HasSuffix(id, ":free") || id == "openrouter/free" }

func (c cost) columns(free bool) ([]string, error) {
	var columns []string
	for _, n := range []json.Number{c.Input, c.Output, c.CacheRead, c.CacheWrite} {
		column, err := decimal(n.String())
		if err != nil {
			return nil, err
		}
		if column == "0" && !free {
			column = "-"
		}
		columns = append(columns, column)
	}
	return columns, nil
}

// decimal writes a JSON number without exponent. More than six places would not be a whole number of picodollars a token.
func decimal(text string) (string, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value < 0 || value > 1e5 {
		return "", fmt.Errorf("price %q", text)
	}
	short := strconv.FormatFloat(value, 'f', -1, 64)
	if _, places, _ := strings.Cut(short, "."); len(places) > 6 {
		if short = strings.TrimRight(strconv.FormatFloat(value, 'f', 6, 64), "0"); short == "0." {
			return "", fmt.Errorf("price %q is too small", text)
		}
	}
	return short, nil
}
