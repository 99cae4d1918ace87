package store

import (
	"testing"

	"agentx/engine/enginetest"
)

func TestADatabaseIsALibrary(t *testing.T) {
	enginetest.TestSessions(t, func() enginetest.Library { return fresh(t) })
}

func TestADatabaseIsAGallery(t *testing.T) {
	enginetest.TestImages(t, func() enginetest.Gallery { return fresh(t) })
}
