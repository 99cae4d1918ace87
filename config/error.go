package config

import (
	"errors"
	"strconv"
)

// Sentinels for errors.Is.
var (
	ErrNoKey       = errors.New("no API key")
	ErrUnencrypted = errors.New("would send the key unencrypted")
	ErrUnknown     = errors.New("unknown")
	ErrUnsafe      = errors.New("unsafe file")
)

// Error is something wrong with the configuration and where: a file, a variable, a flag or a setting. Line and Column start at 1
// and count characters; 0 is unknown.
type Error struct {
	Where        string
	Line, Column int
	Err          error
}

func (e *Error) Error() string {
	return place(e.Where, e.Line, e.Column) + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func place(where string, line, column int) string {
	if line == 0 {
		return where
	}
	if column == 0 {
		return where + ":" + strconv.Itoa(line)
	}
	return where + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(column)
}
