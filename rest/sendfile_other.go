//go:build !linux

package rest

import (
	"io"
	"net"
	"os"
)

// sendFile sends n bytes of a file, or as many as it has, from where it stands, piece by piece as Write does.
func (c *conn) sendFile(to *net.TCPConn, f *os.File, n int64) (sent int64, err error) {
	for sent < n {
		if err := to.SetWriteDeadline(c.deadline()); err != nil {
			return sent, err
		}
		m, err := to.ReadFrom(&io.LimitedReader{R: f, N: min(piece, n-sent)})
		sent += m
		if err != nil || m == 0 {
			return sent, err
		}
	}
	return sent, nil
}
