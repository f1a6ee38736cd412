package growth

import (
	"runtime"
	"syscall"
	"time"
)

// Measure returns the processor time that fn takes, which other work on the machine does not add to.
func Measure(fn func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := thread()
	fn()
	return thread() - before
}

// thread is the processor time of this thread.
func thread() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(ofThread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
