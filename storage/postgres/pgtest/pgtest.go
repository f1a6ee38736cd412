// Package pgtest runs a PostgreSQL server for tests, in a temporary folder and on a Unix socket, for as long as the
// test process lives. It is started by the first test that asks for it. TEST_POSTGRES may hold the address of another
// server, or "required": then a test fails if PostgreSQL is not installed, instead of being skipped.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment Variable that names a server.
const Variable = "TEST_POSTGRES"

var errMissing = errors.New("PostgreSQL is not installed")

// Settings of the server that tests run on: what is lost with the machine need not be kept.
var Settings = []string{"fsync=off", "max_pred_locks_per_transaction=2048", "max_connections=200", "shared_buffers=64MB"}

var shared struct {
	once    sync.Once
	server  *Server
	address string
	err     error
}

var schemas atomic.Int64

// Main runs the tests of a package and stops the server that they shared.
func Main(m *testing.M) int {
	defer func() {
		if s := shared.server; s != nil {
			s.Stop()
		}
	}()
	return m.Run()
}

// Address returns the address of the server that the tests of the process share. The test is skipped if PostgreSQL is
// not installed. The package of the test must have a TestMain that calls Main.
func Address(tb testing.TB) string {
	tb.Helper()
	shared.once.Do(func() {
		set := os.Getenv(Variable)
		if set != "" && set != "required" {
			shared.address = set
			return
		}
		if shared.server, shared.err = Start(Settings...); shared.err == nil {
			shared.address = shared.server.Address
		}
	})
	if errors.Is(shared.err, errMissing) && os.Getenv(Variable) == "" {
		tb.Skip(shared.err)
	}
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.address
}

// Schema returns a name for a schema that no other test uses.
func Schema() string { return fmt.Sprintf("t%d_%d", os.Getpid(), schemas.Add(1)) }

// Empty removes all rows from the tables of a schema.
func Empty(tb testing.TB, schema string) {
	tb.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, Address(tb))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if _, err := c.Exec(ctx, "TRUNCATE "+pgx.Identifier{schema, "kv"}.Sanitize()+", "+pgx.Identifier{schema, "settings"}.Sanitize()); err != nil {
		tb.Fatal(err)
	}
}

// Server is a server of its own.
type Server struct {
	Address string

	dir, bin string
	settings []string
	as       *syscall.Credential
	cmd      *exec.Cmd
	ended    chan struct{}
}

// Start makes a database cluster and runs a server on it.
func Start(settings ...string) (*Server, error) { return StartWith(nil, settings...) }

// StartWith is Start with files that only the user of the server can read, in the folder around its data directory.
func StartWith(files map[string]string, settings ...string) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, settings: settings}
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return nil, err
	}
	if s.as, err = unprivileged(s.dir); err == nil {
		err = s.initialize()
	}
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err == nil && s.as != nil {
			err = os.Chown(path, int(s.as.Uid), int(s.as.Gid))
		}
	}
	if err == nil {
		err = s.Run()
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// programs finds the folder of the programs, the newest ones if there are several.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errMissing
	}
	return filepath.Dir(slices.Max(found)), nil
}

// unprivileged gives the folder to a user that PostgreSQL agrees to run as: not root.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

func (s *Server) initialize() error {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "catena", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.as}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Run starts the server, which may have been killed, and waits until it takes connections. The processes of one that was
// killed keep its memory for a moment.
func (s *Server) Run() (err error) {
	for range 20 {
		if err = s.run(); err == nil || !errors.Is(err, errEnded) {
			return err
		}
		time.Sleep(250 * time.Millisecond)
	}
	return err
}

var errEnded = errors.New("postgres has ended")

func (s *Server) run() error {
	args := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "logging_collector=off"}
	for _, set := range s.settings {
		args = append(args, "-c", set)
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.CommandContext(context.Background(), filepath.Join(s.bin, "postgres"), args...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr, s.cmd.SysProcAttr = s.dir, log, log, attributes(s.as)
	s.ended = make(chan struct{})
	if err := start(s.cmd, s.ended); err != nil {
		return err
	}
	s.Address = "postgres://catena@/postgres?host=" + s.dir
	for _, set := range s.settings {
		if port, ok := strings.CutPrefix(set, "port="); ok {
			s.Address += "&port=" + port
		}
	}
	return s.await()
}

// await waits until the server takes connections.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.Address)
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-s.ended:
			return fmt.Errorf("%w: %s", errEnded, s.Log())
		case <-ctx.Done():
			return fmt.Errorf("postgres: %w: %s", err, s.Log())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Kill kills the server. Its other processes end by themselves when they notice.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// Log returns what the server has logged.
func (s *Server) Log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b)
}

// Stop stops the server and removes its folder.
func (s *Server) Stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGINT) // fast shutdown
		select {
		case <-s.ended:
		case <-time.After(20 * time.Second):
			s.Kill()
		}
	}
	_ = os.RemoveAll(s.dir)
}

// Database makes a fresh database on the shared server and returns its address.
func Database(tb testing.TB) string {
	tb.Helper()
	address, name := Address(tb), Schema()
	c, err := pgx.Connect(tb.Context(), address)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(tb.Context(), "CREATE DATABASE "+name+" ENCODING 'UTF8' TEMPLATE template0"); err != nil {
		tb.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
