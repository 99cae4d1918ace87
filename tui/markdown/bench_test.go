package markdown

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/glamour/v2"

	"agentx/tui/theme"
)

// BenchmarkAnswer streams 20,000 tokens, some 74 kB, to a screen that is drawn 60 times a second while 200 tokens a second come: a frame
// after every third token or so. What it takes in all has to be well below a CPU second.
func BenchmarkAnswer(b *testing.B) {
	for _, variant := range []string{"mixed", "code", "list", "paragraph", "table", "ref"} {
		b.Run(variant, func(b *testing.B) {
			toks := doc(20000, variant)
			b.SetBytes(int64(len(strings.Join(toks, ""))))
			for b.Loop() {
				d := New(80, theme.Dark())
				for i, tok := range toks {
					d.Append(tok)
					if i%10%3 == 2 {
						d.Take()
						d.Tail(30)
					}
				}
				d.Close()
				d.Take()
			}
		})
	}
}

// BenchmarkDelta is one delta and one frame with so much text before it: ours, glamour on the open block, glamour on the whole.
func BenchmarkDelta(b *testing.B) {
	all := strings.Join(doc(40000, "mixed"), "")
	for _, before := range []int{1_000, 10_000, 100_000} {
		src := all[:before]
		src = src[:strings.LastIndex(src, "\n\n")+2] + "an open paragraph of **some** words "
		last := src[strings.LastIndex(src, "\n\n")+2:]
		b.Run(fmt.Sprintf("ours/%dk", before/1000), func(b *testing.B) {
			d := New(80, theme.Dark())
			d.Append(src)
			d.Take()
			n := 0
			for b.Loop() {
				if n++; n%100 == 0 {
					b.StopTimer()
					d.Append(".\n\n")
					d.Take()
					b.StartTimer()
				}
				d.Append("word ")
				d.Take()
				d.Tail(30)
			}
		})
		for name, text := range map[string]string{"glamour-tail": last, "glamour-whole": src} {
			b.Run(fmt.Sprintf("%s/%dk", name, before/1000), func(b *testing.B) {
				r, err := glamour.NewTermRenderer(glamour.WithStyles(theme.Dark().Markdown), glamour.WithWordWrap(80))
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := r.Render(text + "word "); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRender is a whole text at once, as when a session is resumed.
func BenchmarkRender(b *testing.B) {
	src := strings.Join(doc(20000, "mixed"), "")
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			Render(src, 80, theme.Dark())
		}
	})
	b.Run("glamour", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		r, err := glamour.NewTermRenderer(glamour.WithStyles(theme.Dark().Markdown), glamour.WithWordWrap(80))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := r.Render(src); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkQuotes is a deep text, with which glamour's time grows out of hand.
func BenchmarkQuotes(b *testing.B) {
	for _, depth := range []int{10, 40} {
		src := strings.Repeat("> ", depth) + "x"
		b.Run(fmt.Sprintf("%d/ours", depth), func(b *testing.B) {
			for b.Loop() {
				Render(src, 80, theme.Dark())
			}
		})
		b.Run(fmt.Sprintf("%d/glamour", depth), func(b *testing.B) {
			r, err := glamour.NewTermRenderer(glamour.WithStyles(theme.Dark().Markdown), glamour.WithWordWrap(80))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := r.Render(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNew is what an empty Doc costs, and the first line of code in a language.
func BenchmarkNew(b *testing.B) {
	b.Run("empty", func(b *testing.B) {
		for b.Loop() {
			New(80, theme.Dark())
		}
	})
	b.Run("another", func(b *testing.B) {
		d := New(80, theme.Dark())
		for b.Loop() {
			next := d.Another()
			next.Append("```go\nx = 1\n```\n")
			next.Take()
		}
	})
	for _, lang := range []string{"go", "python", "javascript", "bash", "c++", "rust", "html"} {
		b.Run(lang, func(b *testing.B) {
			for b.Loop() {
				Render("```"+lang+"\nx = 1\n```\n", 80, theme.Dark())
			}
		})
	}
}
