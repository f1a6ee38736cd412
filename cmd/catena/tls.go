package main

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
)

// certificate is what a server proves with that it is who clients asked for: two files, read again when they change.
type certificate struct {
	cert, key string
	log       *slog.Logger

	// mu guards made and loaded; every handshake takes it.
	mu     sync.Mutex
	made   time.Time // when the file read last was written
	loaded *tls.Certificate
}

func (c *certificate) flags(f *pflag.FlagSet) {
	f.StringVar(&c.cert, "tls-cert", "", "file with the certificate chain in PEM format; without it, connections are not encrypted")
	f.StringVar(&c.key, "tls-key", "", "file with the key of the certificate")
}

func (c *certificate) given() bool { return c.cert != "" || c.key != "" }

// check reads the files.
func (c *certificate) check() error {
	switch {
	case !c.given():
		return nil
	case c.key == "":
		return errors.New("tls-key: is required with tls-cert")
	case c.cert == "":
		return errors.New("tls-cert: is required with tls-key")
	}
	_, err := c.load()
	return err
}

// load reads the files if they have changed. One that cannot be read leaves what was.
func (c *certificate) load() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A look at the time of one file for each handshake needs no watcher, and a renewed certificate
	// counts from the next connection on. While only one of the two files is new, the pair does not
	// fit and the old one stays.
	info, err := os.Stat(c.cert)
	if err == nil && info.ModTime().Equal(c.made) {
		return c.loaded, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.cert, c.key)
	}
	switch {
	case err == nil:
		c.loaded, c.made = &pair, info.ModTime()
	case c.loaded == nil:
		return nil, err
	default:
		c.log.Error("certificate cannot be loaded, the previous one remains in use", "error", err)
	}
	return c.loaded, nil
}

// serve serves a listener, encrypted if there is a certificate. That is HTTP/1.1 all the same: what a client may cost
// is bounded by connection.
func (c *certificate) serve(server *http.Server, l net.Listener) error {
	if !c.given() {
		return server.Serve(l)
	}
	// With HTTP/2, one connection would carry many requests at a time.
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.TLSConfig = &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.load() },
	}
	return server.ServeTLS(l, "", "")
}

// address is that of the server at a network address. If that stands for all addresses of the machine, it is the one for a browser on it.
func (c *certificate) address(at string) string {
	if host, port, err := net.SplitHostPort(at); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		at = net.JoinHostPort("localhost", port)
	}
	if c.given() {
		return "https://" + at
	}
	return "http://" + at
}

// exposed reports whether what is sent to the server can be read on its way: others reach it, nothing is encrypted,
// and no proxy is said to see to that.
func (c *certificate) exposed(at net.Addr, baseURL string) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback() && !c.given() && !strings.HasPrefix(baseURL, "https://")
}
