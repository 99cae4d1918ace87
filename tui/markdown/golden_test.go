package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentx/tui/theme"
)

var update = flag.Bool("update", false, "write the pictures anew")

// An answer as it stands in a terminal, wide and narrow, without its colours.
func TestPictures(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("testdata", "answer.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{72, 30} {
		name := filepath.Join("testdata", fmt.Sprintf("answer.%d.txt", width))
		got := strings.Join(plain(Render(string(src), width, theme.Plain())), "\n") + "\n"
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%s\nis now:\n%s", name, want, got)
		}
	}
}
