//go:build !race

package record_test

const raced = false
