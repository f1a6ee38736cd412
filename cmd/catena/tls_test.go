package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate makes a certificate with a number for 127.0.0.1, written at a moment.
func writeCertificate(t *testing.T, cert, key string, number int64, at time.Time) *x509.Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{key: {Type: "PRIVATE KEY", Bytes: secret}, cert: {Type: "CERTIFICATE", Bytes: der}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCertificate calls a server encrypted, renews its certificate while it runs, and breaks it, which leaves the one
// that was.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	c := &certificate{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), log: slog.New(slog.DiscardHandler)}
	if err := c.check(); err == nil {
		t.Error("no files: no error")
	}
	if err := (&certificate{cert: "x"}).check(); err == nil || !strings.HasPrefix(err.Error(), "tls-key: ") {
		t.Errorf("no key: %v", err)
	}
	now := time.Now().Truncate(time.Second)
	trusted := x509.NewCertPool()
	trusted.AddCert(writeCertificate(t, c.cert, c.key, 1, now))
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}), ErrorLog: slog.NewLogLogger(c.log.Handler(), slog.LevelDebug)}
	done := make(chan error)
	go func() { done <- c.serve(server, l) }()
	ask := func(most uint16) (*http.Response, error) {
		client := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted, MaxVersion: most}, //nolint:gosec // what is refused is asked for
		}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.address(l.Addr().String()), nil)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return resp, err
	}
	number := func() int64 {
		resp, err := ask(0)
		if err != nil {
			t.Fatal(err)
		}
		if resp.ProtoMajor != 1 {
			t.Errorf("protocol %s", resp.Proto)
		}
		return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := number(); got != 1 {
		t.Errorf("certificate %d", got)
	}
	trusted.AddCert(writeCertificate(t, c.cert, c.key, 2, now.Add(time.Second)))
	if got := number(); got != 2 {
		t.Errorf("renewed: certificate %d", got)
	}
	if err := os.WriteFile(c.cert, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := number(); got != 2 {
		t.Errorf("broken: certificate %d", got)
	}
	if _, err := ask(tls.VersionTLS11); err == nil {
		t.Error("an old version of TLS is served")
	}
	if err := server.Shutdown(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	<-done
}

func TestExposed(t *testing.T) {
	for _, c := range []struct {
		ip, cert, base string
		want           bool
	}{
		{"0.0.0.0", "", "", true},
		{"192.0.2.1", "", "http://a.example", true},
		{"::", "", "https://a.example", false},
		{"0.0.0.0", "cert.pem", "", false},
		{"127.0.0.1", "", "", false},
		{"::1", "", "", false},
	} {
		if got := (&certificate{cert: c.cert}).exposed(&net.TCPAddr{IP: net.ParseIP(c.ip)}, c.base); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestAddress(t *testing.T) {
	encrypted := certificate{cert: "a.pem", key: "a.key"}
	for at, want := range map[string]string{
		":8080": "localhost:8080", "[::]:8080": "localhost:8080", "0.0.0.0:80": "localhost:80", "[::1]:8080": "[::1]:8080", "10.0.0.7:8080": "10.0.0.7:8080", "catena.example:443": "catena.example:443",
	} {
		if got := new(certificate).address(at); got != "http://"+want {
			t.Errorf("%s: %s", at, got)
		}
		if got := encrypted.address(at); got != "https://"+want {
			t.Errorf("%s: %s", at, got)
		}
	}
}
