package store

import (
	"path/filepath"
	"testing"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

func TestADatabaseIsALibrary(t *testing.T) {
	enginetest.TestSessions(t, func() enginetest.Library { return fresh(t) })
}

func TestADatabaseIsAGallery(t *testing.T) {
	enginetest.TestImages(t, func() enginetest.Gallery { return fresh(t) })
}

// States that lie in the database as bytes keep the promises of a store
// (F67, F120).
func TestStatesAreAStore(t *testing.T) {
	enginetest.TestStore(t, func() mealy.Store[[]byte] { return fresh(t).States() }, []byte("a"), []byte{0, 0xff})
}

func TestMachinesAreAStore(t *testing.T) {
	asked, _ := engine.Step(engine.State{}, event.Event{Data: event.UserMessage{ID: "u", Content: event.Say("Hello")}})
	enginetest.TestStore(t, func() mealy.Store[engine.State] { return fresh(t).Machines(engine.Step) }, engine.State{}, asked)
}

// A machine lives in the database, whether its states are written whole each
// time or by their inputs, and whoever opens the database again goes on with it
// (F68).
func TestAMachineLivesInTheDatabase(t *testing.T) {
	t.Run("whole", func(t *testing.T) {
		enginetest.TestMachine(t, func() func() mealy.Store[engine.State] {
			db := fresh(t)
			return func() mealy.Store[engine.State] { return enginetest.Encoded{Store: db.States()} }
		})
	})
	t.Run("by input", func(t *testing.T) {
		enginetest.TestMachine(t, func() func() mealy.Store[engine.State] {
			path := filepath.Join(t.TempDir(), "a.db")
			db := open(t, path)
			return func() mealy.Store[engine.State] {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = open(t, path)
				return db.Machines(engine.Step)
			}
		})
	})
}
