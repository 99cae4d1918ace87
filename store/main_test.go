package store

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the child that is killed: see kill_test.go.
func TestMain(m *testing.M) {
	if path := os.Getenv("AGENTX_TEST_VICTIM"); path != "" {
		victim(path)
		return
	}
	goleak.VerifyTestMain(m)
}
