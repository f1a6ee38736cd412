package postgres

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// authority signs certificates of servers.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string // with its certificate
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, file: filepath.Join(t.TempDir(), name+".pem")}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert = template
	text, key := a.sign(template, nil)
	parsed, _ := pem.Decode([]byte(text))
	var err error
	if a.cert, err = x509.ParseCertificate(parsed.Bytes); err != nil {
		t.Fatal(err)
	}
	if a.key = key; os.WriteFile(a.file, []byte(text), 0o600) != nil {
		t.Fatal(a.file)
	}
	return a
}

// sign makes a certificate, with nil by the key of the certificate itself, and returns it with its key.
func (a *authority) sign(template *x509.Certificate, by *ecdsa.PrivateKey) (text string, key *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), key
}

// TestTLS connects to a server that takes encrypted connections only: with its certificate verified, and not if that is signed by
// somebody else or is for another host. Such a server is refused for good: it will not have another certificate in a moment.
func TestTLS(t *testing.T) {
	pgtest.Address(t) // skips if there is none
	ours, other := newAuthority(t, "ours"), newAuthority(t, "other")
	cert, key := ours.sign(&x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, ours.key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	server, err := pgtest.StartWith(map[string]string{
		"cert.pem": cert, "key.pem": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"hba": "local all all trust\nhostssl all all 127.0.0.1/32 trust\n",
	}, append([]string{"ssl=on", "ssl_cert_file=../cert.pem", "ssl_key_file=../key.pem", "hba_file=hba", "listen_addresses=127.0.0.1", fmt.Sprintf("port=%d", port)}, pgtest.Settings...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	address := func(host, options string) string {
		return fmt.Sprintf("postgres://catena@%s:%d/postgres?%s", host, port, options)
	}
	for what, c := range map[string]struct{ address, refused string }{
		"verified":             {address("127.0.0.1", "sslmode=verify-full&sslrootcert="+ours.file), ""},
		"another authority":    {address("127.0.0.1", "sslmode=verify-full&sslrootcert="+other.file), "certificate signed by unknown authority"},
		"another host":         {address("localhost", "sslmode=verify-full&sslrootcert="+ours.file), "certificate is not valid for any names, but wanted to match localhost"},
		"not encrypted":        {address("127.0.0.1", "sslmode=disable"), "no encryption"},
		"a file that is wrong": {address("127.0.0.1", "sslmode=verify-full&sslrootcert=/nowhere"), "nowhere"},
	} {
		s, err := Open(ctx, c.address, Options{Log: quiet, Schema: pgtest.Schema()})
		if c.refused != "" {
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: got %v, want %q", what, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		d := kv.New(s, kv.Options{Log: quiet})
		put(t, d, "v", "a")
		var encrypted bool
		if err := s.main.QueryRow(ctx, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted); err != nil || !encrypted {
			t.Errorf("%s: the connection is not encrypted: %v", what, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
