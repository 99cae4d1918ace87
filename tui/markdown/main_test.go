package markdown

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if raced { // one goroutine draws: what it draws is tried in full where nobody watches
		if err := flag.Set("rapid.checks", "15"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
