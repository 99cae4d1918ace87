package sandbox_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentx/engine/sandbox"
)

// crowd fills a directory with n files of 2 kB, fifty in a folder.
func crowd(b *testing.B, n int) string {
	dir := b.TempDir()
	text := []byte(strings.Repeat("package main // \n", 120))
	for i := range n {
		name := filepath.Join(dir, fmt.Sprint("d", i/50), fmt.Sprint("f", i))
		if i%50 == 0 {
			must(b, os.Mkdir(filepath.Dir(name), 0o755))
		}
		must(b, os.WriteFile(name, text, 0o644))
	}
	return dir
}

// What a tool does costs the same in a small directory and in a large one.
func BenchmarkWriteAndRead(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n, " files"), func(b *testing.B) {
			w := open(b, crowd(b, n), sandbox.Options{})
			defer w.Close()
			ctx := context.Background()
			for b.Loop() {
				must(b, w.Write(ctx, "d0/f3", []byte("other")))
				if _, err := w.Read(ctx, "d0/f3"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Changes of one file among ten thousand: as far as we touched them, by a
// baseline, and beside it what reading all files by their whole paths costs.
func BenchmarkChanges(b *testing.B) {
	dir := crowd(b, 10_000)
	ctx := context.Background()
	touched := open(b, dir, sandbox.Options{})
	defer touched.Close()
	marked := open(b, dir, sandbox.Options{})
	defer marked.Close()
	mark(b, marked)
	must(b, touched.Write(ctx, "d0/f3", []byte("other")))
	for name, w := range map[string]*sandbox.Workdir{"touched": touched, "baseline": marked} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if files, err := w.Changes(ctx); len(files) != 1 || err != nil {
					b.Fatal(files, err)
				}
			}
		})
	}
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			must(b, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					_, err = os.ReadFile(p)
				}
				return err
			}))
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n, " files"), func(b *testing.B) {
			dir := crowd(b, n)
			for b.Loop() {
				must(b, open(b, dir, sandbox.Options{}).Close())
			}
		})
	}
}
