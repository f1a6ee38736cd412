//go:build unix

package main

import "syscall"

// keepPrivate keeps what this process writes from everybody but its user, also what libraries write.
func keepPrivate() { syscall.Umask(0o077) }
