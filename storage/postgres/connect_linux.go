package postgres

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unanswered is how long what was sent may be without an answer from the other machine, in milliseconds.
const unanswered = 10_000

// impatient ends connections to machines that answer no more.
func impatient(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var err error
	if e := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unanswered)
	}); e != nil {
		return e
	}
	return err
}
