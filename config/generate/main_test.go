package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archive writes a package as npm packs it, with a manifest that fits its files.
func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	sums := map[string]string{}
	all := map[string]string{}
	for file := range providers {
		all[file+".json"] = "{}"
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		sum := sha256.Sum256([]byte(text))
		sums[name] = hex.EncodeToString(sum[:])
	}
	manifest, err := json.Marshal(map[string]any{"generatedAt": "2026-02-03T04:05:06.789Z", "files": sums})
	if err != nil {
		t.Fatal(err)
	}
	all[".manifest.json"] = string(manifest)
	name := filepath.Join(t.TempDir(), "p.tgz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(f)
	pack := tar.NewWriter(zip)
	for name, text := range all {
		if err := pack.WriteHeader(&tar.Header{Name: folder + name, Size: int64(len(text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := pack.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{pack, zip, f} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

const xai = `{"api":{
	"chat:grok-9":{"id":"grok-9","name":"Grok 9","type":"chat","reasoning":true,"input":["text","image"],
		"cost":{"input":0.1,"output":1e-1,"cacheRead":0.07500000000000001,"cacheWrite":0,
			"tiers":[{"inputTokensAbove":200000,"input":9,"output":8,"cacheRead":7,"cacheWrite":0},{"inputTokensAbove":100,"input":1,"output":2,"cacheRead":3,"cacheWrite":4}]},
		"contextWindow":1000,"maxTokens":10},
	"chat:grok-8:free":{"id":"grok-8:free","name":"Free","type":"chat","cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":5},
	"image:pic":{"id":"pic","name":"Pic","type":"image","cost":{"input":1,"output":1,"cacheRead":1,"cacheWrite":1}}}}`

func TestTable(t *testing.T) {
	files, err := unpack(archive(t, map[string]string{"xai.json": xai}))
	if err != nil {
		t.Fatal(err)
	}
	if date, err := check(files); date != "2026-02-03" || err != nil {
		t.Errorf("check() = %q, %v", date, err)
	}
	lines, err := table(files)
	want := "xai\tgrok-8:free\tFree\t0\t0\t0\t0\t5\t0\t\n" +
		"xai\tgrok-9\tGrok 9\t0.1\t0.1\t0.075\t-\t1000\t10\tri\t100:1:2:3:4\t200000:9:8:7:-"
	if got := strings.Join(lines, "\n"); got != want || err != nil {
		t.Errorf("table: %v\n%s\nwant\n%s", err, got, want)
	}
	files["xai.json"] = append(files["xai.json"], ' ')
	if _, err := check(files); err == nil || !strings.HasPrefix(err.Error(), "xai.json: sha256 is ") {
		t.Errorf("a file that has been changed: %v", err)
	}
	delete(files, "xai.json")
	if _, err := check(files); err == nil {
		t.Error("a missing file is not missed")
	}
}

func TestWhatDoesNotFit(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"x":{"id":"a\tb","type":"chat"}}}`:                                                            "does not fit on a line",
		`{"a":{"x":{"id":"m","type":"chat","cost":{"input":-1,"output":0,"cacheRead":0,"cacheWrite":0}}}}`:   `price "-1"`,
		`{"a":{"x":{"id":"m","type":"chat","cost":{"input":1e-9,"output":0,"cacheRead":0,"cacheWrite":0}}}}`: "too small",
		`{"a":{"x":{"id":"m","type":"chat","cost":{}}}}`:                                                     `price ""`,
		`[]`: "xai: ",
	} {
		files, err := unpack(archive(t, map[string]string{"xai.json": text}))
		if err != nil {
			t.Fatal(err)
		}
		if lines, err := table(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %s", text, lines, err, want)
		}
	}
	double := strings.Replace(`{"a":{"x":X},"b":{"x":X}}`, "X", `{"id":"m","type":"chat","cost":{"input":1,"output":1,"cacheRead":1,"cacheWrite":1}}`, 2)
	files, err := unpack(archive(t, map[string]string{"xai.json": double}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table(files); err == nil || !strings.Contains(err.Error(), "xai/m is there twice") {
		t.Errorf("twice: %v", err)
	}
}
