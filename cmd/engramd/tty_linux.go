package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropInput forgets what was typed and not read yet.
func dropInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
