//go:build !linux

package cmd

// undumped keeps what is in the memory, keys among it, out of files.
func undumped() { noCore() }
