package dir

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// exchange swaps two directories in one step.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("this file system cannot swap two directories in one step, so nothing was replaced: %w", err)
	}
	return err
}
