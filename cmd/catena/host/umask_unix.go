//go:build unix

package host

import "syscall"

// KeepPrivate keeps what this process writes from everybody but its user, also what libraries write.
func KeepPrivate() { syscall.Umask(0o077) }
