package store_test

import (
	"agentx/engine/runtime"
	"agentx/store"
)

// The database keeps all that a runtime wants kept.
var (
	_ runtime.Journal  = (*store.DB)(nil)
	_ runtime.Sessions = (*store.DB)(nil)
	_ runtime.Images   = (*store.DB)(nil)
)
