package main

import "syscall"

// keepToOurselves has every file, folder and socket of this process be the user's alone,
// whatever makes it, and no image of its memory, which has keys in it, written when it
// crashes. Commands that chats run inherit both.
func keepToOurselves() {
	syscall.Umask(0o077)
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // less is always allowed
	}
}
