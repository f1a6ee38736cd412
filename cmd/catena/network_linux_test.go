package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"catena/storage/postgres/pgtest"
)

// separate is a network namespace with two links to the one of the test: one to the database, which can be cut, and one
// to clients and receivers, which stays.
type separate struct {
	name, link string // of the namespace, and of the test's end of the link to the database
	subnet     string // the first three bytes of its addresses
	address    string // of the database, from here
}

// newSeparate makes a network namespace, or skips the test where that is not allowed.
func newSeparate(t *testing.T) *separate {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("the program ip (iproute2) is not installed")
	}
	n := os.Getpid() % 250
	s := &separate{name: fmt.Sprintf("catena-%d", n), link: fmt.Sprintf("cat%dd", n), subnet: fmt.Sprintf("10.213.%d", n)}
	if out, err := exec.Command("ip", "netns", "add", s.name).CombinedOutput(); err != nil {
		t.Skipf("network namespaces are not allowed here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", s.name).Run() })
	for _, l := range []struct{ link, ours, theirs string }{{s.link, s.database(), s.at(2)}, {fmt.Sprintf("cat%dc", n), s.client(), s.server()}} {
		peer := l.link + "s"
		out, err := exec.Command("ip", "link", "add", l.link, "type", "veth", "peer", "name", peer, "netns", s.name).CombinedOutput()
		if err != nil {
			t.Skipf("pairs of virtual links are not allowed here: %s", out)
		}
		t.Cleanup(func() { _ = exec.Command("ip", "link", "del", l.link).Run() })
		s.ip(t, "addr", "add", l.ours+"/30", "dev", l.link)
		s.ip(t, "link", "set", l.link, "up")
		s.ip(t, "-n", s.name, "addr", "add", l.theirs+"/30", "dev", peer)
		s.ip(t, "-n", s.name, "link", "set", peer, "up")
	}
	s.ip(t, "-n", s.name, "link", "set", "lo", "up")
	return s
}

func (s *separate) at(n int) string { return fmt.Sprintf("%s.%d", s.subnet, n) }

// The addresses of the database, of who calls, and of the server in the namespace.
func (s *separate) database() string { return s.at(1) }
func (s *separate) client() string   { return s.at(5) }
func (s *separate) server() string   { return s.at(6) }

// by are the words of a command that runs another one in the namespace.
func (s *separate) by() []string { return []string{"ip", "netns", "exec", s.name} }

func (s *separate) ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// down takes the link to the database down.
func (s *separate) down(t *testing.T) (heal func()) {
	s.ip(t, "link", "set", s.link, "down")
	return func() { s.ip(t, "link", "set", s.link, "up") }
}

// drop has packets in both directions arrive nowhere, while the link is up: they go to addresses that no device has.
func (s *separate) drop(t *testing.T) (heal func()) {
	const nobody = "02:00:00:00:00:99"
	s.ip(t, "neigh", "replace", s.at(2), "lladdr", nobody, "nud", "permanent", "dev", s.link)
	s.ip(t, "-n", s.name, "neigh", "replace", s.database(), "lladdr", nobody, "nud", "permanent", "dev", s.link+"s")
	return func() {
		s.ip(t, "neigh", "del", s.at(2), "dev", s.link)
		s.ip(t, "-n", s.name, "neigh", "del", s.database(), "dev", s.link+"s")
	}
}

// postgres starts a database that the namespace reaches, and returns its address there and here.
func (s *separate) postgres(t *testing.T) (there, here string) {
	t.Helper()
	pgtest.Address(t) // skips the test if there is none
	dir, err := os.MkdirTemp("", "hba")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	rules := filepath.Join(dir, "hba")
	for _, err := range []error{os.Chmod(dir, 0o755), os.WriteFile(rules, []byte("local all all trust\nhost all all "+s.subnet+".0/24 trust\n"), 0o600), os.Chmod(rules, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	server, err := pgtest.Start(append([]string{"listen_addresses=" + s.database(), "hba_file=" + rules}, pgtest.Settings...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	s.address = server.Address
	return "postgres://catena@" + s.database() + "/postgres?sslmode=disable", server.Address
}

// sessions are those that the namespace has in the database, as that knows.
func (s *separate) sessions(t *testing.T) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE client_addr = $1::inet", s.at(2)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
