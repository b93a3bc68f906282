//go:build !linux

package box

import "syscall"

// End: here only the group of a program is known.
func (m Marked) End(program int, _ []Survivor) []Survivor {
	_ = syscall.Kill(-program, syscall.SIGKILL) // there may be none
	return nil
}

func (m Marked) find(int, bool) []Survivor { return nil }
