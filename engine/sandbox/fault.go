package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// What a caller may ask about an error. The text of each is for people, and for
// a model.
var (
	ErrOutside   = errors.New("outside the work directory")
	ErrName      = errors.New("not a usable name")
	ErrNotFound  = errors.New("not there")
	ErrNotFile   = errors.New("not a file")
	ErrNotFolder = errors.New("not a folder")
	ErrNotEmpty  = errors.New("the folder is not empty")
	ErrTooLarge  = errors.New("too large")
	ErrTooMany   = errors.New("too many")
	ErrDenied    = errors.New("not permitted")
	ErrClosed    = errors.New("the work directory is closed")
)

// Code is the name of an error on the wire.
type Code string

const (
	CodeOutside   Code = "outside"
	CodeName      Code = "bad_name"
	CodeNotFound  Code = "not_found"
	CodeNotFile   Code = "not_a_file"
	CodeNotFolder Code = "not_a_directory"
	CodeNotEmpty  Code = "not_empty"
	CodeTooLarge  Code = "too_large"
	CodeTooMany   Code = "too_many"
	CodeDenied    Code = "denied"
	CodeClosed    Code = "closed"
	CodeCancelled Code = "cancelled"
	CodeIO        Code = "io" // the disk is full, or broken
)

// CodeOf names an error of this package.
func CodeOf(err error) Code {
	for _, f := range []struct {
		err  error
		code Code
	}{
		{ErrOutside, CodeOutside}, {ErrName, CodeName}, {ErrNotFound, CodeNotFound}, {ErrNotFile, CodeNotFile},
		{ErrNotFolder, CodeNotFolder}, {ErrNotEmpty, CodeNotEmpty}, {ErrTooLarge, CodeTooLarge}, {ErrTooMany, CodeTooMany},
		{ErrDenied, CodeDenied}, {ErrClosed, CodeClosed},
		{context.Canceled, CodeCancelled}, {context.DeadlineExceeded, CodeCancelled},
	} {
		if errors.Is(err, f.err) {
			return f.code
		}
	}
	return CodeIO
}

// failed tells that an operation was not done, and returns the error for who
// asked. Neither says where on the machine the work directory is.
func (w *Workdir) failed(op Operation, name string, err error) error {
	err = reason(err)
	w.tell(WorkdirError{Operation: op, Path: shown(name), Code: CodeOf(err), Message: err.Error()})
	if name == "." {
		return fmt.Errorf("%s: %w", op, err)
	}
	return fmt.Errorf("%s %s: %w", op, shown(name), err)
}

// reason is an error of the system in our words.
func reason(err error) error {
	if CodeOf(err) != CodeIO {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		return ErrDenied
	case errors.Is(err, fs.ErrClosed):
		return ErrClosed
	case errors.Is(err, syscall.ENOTDIR):
		return ErrNotFolder
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO):
		return ErrNotFile
	case errors.Is(err, syscall.ENOTEMPTY):
		return ErrNotEmpty
	case errors.Is(err, syscall.ENAMETOOLONG):
		return ErrName
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number // without the path that the system was given
	}
	_, path := errors.AsType[*os.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	if path || link {
		return ErrOutside // what a Root says when a path leaves it has no number
	}
	return err
}
