package bucket

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// dialTime is how long the store may take to accept a connection.
	dialTime = 5 * time.Second
	// stallTime is how long it may take to send or to take anything.
	stallTime = 30 * time.Second
)

// newTransport returns the library's own transport, on connections that do not wait for ever.
func newTransport(secure bool) (*http.Transport, error) {
	t, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: stallTime}
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return moving{c}, nil
	}
	t.IdleConnTimeout = stallTime / 2
	return t, nil
}

// moving is a connection that is cut once nothing moves on it.
type moving struct{ net.Conn }

func (m moving) Read(b []byte) (int, error) {
	if err := m.SetDeadline(time.Now().Add(stallTime)); err != nil {
		return 0, err
	}
	return m.Conn.Read(b)
}

// Write gives the answer its time too: who reads may have begun to wait long ago.
func (m moving) Write(b []byte) (int, error) {
	if err := m.SetDeadline(time.Now().Add(stallTime)); err != nil {
		return 0, err
	}
	return m.Conn.Write(b)
}
