package store

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the children that are killed: see killAfter.
func TestMain(m *testing.M) {
	if path := os.Getenv("AGENTX_TEST_VICTIM"); path != "" {
		victim(path)
		return
	}
	if path := os.Getenv("AGENTX_TEST_TALKER"); path != "" {
		talker(path)
		return
	}
	if path := os.Getenv("AGENTX_TEST_FREEZER"); path != "" {
		freezer(path)
		return
	}
	if path := os.Getenv("AGENTX_TEST_SPEAKER"); path != "" {
		speaker(path)
		return
	}
	if raced { // properties are not races: to look for these, fewer histories do
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
