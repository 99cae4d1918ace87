//go:build !race

package markdown

const raced = false
