package rest

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// sendFile sends n bytes of a file, or as many as it has, from where it stands. It is as fast as the client only if the
// system may send more than a piece at once; the deadline is moved when the client has taken a piece.
func (c *conn) sendFile(to *net.TCPConn, f *os.File, n int64) (sent int64, err error) {
	in, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	out, err := to.SyscallConn()
	if err != nil {
		return 0, err
	}
	if err := to.SetWriteDeadline(c.deadline()); err != nil {
		return 0, err
	}
	moved := int64(0) // what was sent when the deadline was set
	var failed error
	send := func(to, from int) (done bool) {
		for sent < n {
			m, err := unix.Sendfile(to, from, nil, int(min(n-sent, 1<<30)))
			switch {
			case m > 0:
				sent += int64(m)
			case errors.Is(err, unix.EINTR):
			case errors.Is(err, unix.EAGAIN) && sent-moved < piece:
				return false
			case errors.Is(err, unix.EAGAIN):
				moved = sent
				failed = c.Conn.SetWriteDeadline(c.deadline())
				return failed != nil
			default:
				failed = os.NewSyscallError("sendfile", err)
				return true
			}
		}
		return true
	}
	var waited error
	read := in.Control(func(from uintptr) {
		waited = out.Write(func(to uintptr) bool { return send(int(to), int(from)) })
	})
	return sent, errors.Join(failed, waited, read)
}
