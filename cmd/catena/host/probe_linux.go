package host

import "golang.org/x/sys/unix"

// MaxFiles is how many files this process may have open.
func MaxFiles() (uint64, error) {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return l.Max, err
}

// Synchronised reports whether the system's clock is kept right by something; true if it does not say.
func Synchronised() bool {
	state, err := unix.Adjtimex(&unix.Timex{})
	return err != nil || state != unix.TIME_ERROR
}
