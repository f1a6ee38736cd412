package ops_test

import "syscall"

// threadID is the identifier of the thread.
func threadID() int { return syscall.Gettid() }
