package config

import (
	"errors"
	"syscall"
)

const sharingViolation syscall.Errno = 32

// lock keeps name open for nobody else until unlock, or until this process ends however it ends.
func lock(name string) (unlock func(), err error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	var handle syscall.Handle
	err = waitFor(func() (bool, error) {
		var err error
		handle, err = syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
		if errors.Is(err, sharingViolation) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = syscall.CloseHandle(handle) }, nil
}
