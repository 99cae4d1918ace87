//go:build race

package markdown

// raced says that the race detector watches, and all takes ten times as long.
const raced = true
