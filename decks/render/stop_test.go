//go:build unix

package render

import "syscall"

// stopGroup stops a browser without ending it.
func stopGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGSTOP) }
