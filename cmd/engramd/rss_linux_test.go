package main

import (
	"os/exec"
	"syscall"
)

// maxResident is the largest resident size of a process that ended, in bytes.
func maxResident(cmd *exec.Cmd) int64 {
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
}
