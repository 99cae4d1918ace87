// Package sandbox is where an agent's hands are: a sandbox is a work directory
// and tools, those that are built in and those of MCP servers. The package says
// what happens there in events, and holds the work directory; tools stand on
// its [Workdir], which never reaches outside its folder.
//
// Whoever keeps an agent needs little of it, and declares that for himself: a
// Workdir has
//
//	Changes(ctx context.Context) ([]engine.File, error)
//	Apply(ctx context.Context, files []engine.File) error
//	Close() error
//
// which is all that freezing an agent into an image, and waking another from it,
// take. The package knows no runtime, no bus, no model and no permission: it is
// told to do something, and does it or says why not.
package sandbox
