//go:build !linux && !darwin && !freebsd

package store

import "os"

func full(string) bool { return false }

func space(string) (int64, bool) { return 0, false }

func remote(string) bool { return false }

func reserve(*os.File, int64) {}
