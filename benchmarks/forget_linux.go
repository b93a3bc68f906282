package benchmarks

import (
	"fmt"
	"os"
	"syscall"
)

// dontNeed is POSIX_FADV_DONTNEED.
const dontNeed = 4

// forget asks the system to drop a file from its cache.
func forget(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		return fmt.Errorf("%s: drop from the cache: %w", f.Name(), errno)
	}
	return nil
}
