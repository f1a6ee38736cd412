package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// cutter is a proxy before a server that cuts connections at commits: before the server gets the commit, or after it
// got it and before the client is told.
type cutter struct {
	net.Listener
	socket  string
	every   int64 // one commit in so many is cut; 0: none
	commits atomic.Int64
	cuts    atomic.Int64
}

func newCutter(t *testing.T, address string, every int64) (c *cutter, through string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c = &cutter{Listener: l, socket: u.Query().Get("host") + "/.s.PGSQL.5432", every: every}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.carry(conn)
		}
	}()
	return c, "postgres://catena@" + l.Addr().String() + "/postgres?sslmode=disable"
}

func (c *cutter) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", c.socket)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if c.every > 0 && bytes.Contains(buf[:n], []byte("\x00commit\x00")) && c.commits.Add(1)%c.every == 0 {
			if c.cuts.Add(1)%2 == 0 {
				return // the server never gets it
			}
			_ = client.Close() // the client is never told
			_, _ = server.Write(buf[:n])
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// load has workers increment a counter, with so many rows each time, until stop, and returns how often that was acknowledged, and the
// longest time that one of the writes took.
func load(t *testing.T, d *kv.DB, workers, rows int, stop <-chan struct{}) (acknowledged int64, longest time.Duration) {
	var n atomic.Int64
	slowest := make([]time.Duration, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				err := d.Update(ctx, func(tx *kv.Tx) error {
					v, err := tx.Get([]byte("n"))
					if err != nil {
						return err
					}
					count, _ := strconv.Atoi(string(v))
					for row := range rows {
						if err := tx.Create(fmt.Appendf(nil, "row/%d/%d/%d", w, i, row), nil); err != nil {
							return err
						}
					}
					return tx.Set([]byte("n"), strconv.AppendInt(nil, int64(count+1), 10))
				})
				if err != nil {
					t.Errorf("worker %d, write %d: %v", w, i, err)
					return
				}
				n.Add(1)
				slowest[w] = max(slowest[w], time.Since(began))
			}
		})
	}
	wg.Wait()
	return n.Load(), slices.Max(slowest)
}

// counted returns the counter and how many rows there are.
func counted(t *testing.T, d *kv.DB) (counter int64, rows int) {
	t.Helper()
	if err := d.View(ctx, func(tx *kv.Tx) error {
		v, err := tx.Get([]byte("n"))
		if err != nil {
			return err
		}
		counter, _ = strconv.ParseInt(string(v), 10, 64)
		rows, _, err = tx.Count(kv.Prefix([]byte("row/")), 1<<20)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return counter, rows
}

// TestLostCommit cuts connections at commits: each transaction is committed once, whatever its client has received, with few rows
// and with so many that they are copied.
func TestLostCommit(t *testing.T) {
	for _, rows := range []int{1, minCopied} {
		cut, through := newCutter(t, pgtest.Address(t), 5)
		s, err := Open(ctx, through, Options{Log: quiet, Schema: pgtest.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		d := kv.New(s, kv.Options{Log: quiet})
		stop := make(chan struct{})
		time.AfterFunc(3*time.Second, func() { close(stop) })
		acknowledged, _ := load(t, d, 4, rows, stop)
		counter, made := counted(t, d)
		if counter != acknowledged || int64(made) != acknowledged*int64(rows) || cut.cuts.Load() < 10 {
			t.Errorf("%d acknowledged, the counter is %d, there are %d rows, after %d cuts", acknowledged, counter, made, cut.cuts.Load())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestServerKilled kills the server under load and starts it again: writes wait meanwhile, and none is lost or made twice.
// CATENA_KILLS is how often, by default twice.
func TestServerKilled(t *testing.T) {
	pgtest.Address(t) // skips if there is none
	kills, _ := strconv.Atoi(os.Getenv("CATENA_KILLS"))
	if kills == 0 {
		kills = 2
	}
	server, err := pgtest.Start(pgtest.Settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	s, err := Open(ctx, server.Address, Options{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	d := kv.New(s, kv.Options{Log: quiet})
	underFaults(t, d, kills, "kills", func() error {
		server.Kill()
		return server.Run()
	})
}

// underFaults writes while a fault happens again and again, and then compares what was acknowledged with what is there.
func underFaults(t *testing.T, d *kv.DB, times int, what string, fault func() error) {
	t.Helper()
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range times {
			time.Sleep(time.Duration(300+rand.IntN(700)) * time.Millisecond)
			if err := fault(); err != nil {
				t.Error(err)
				return
			}
		}
		time.Sleep(300 * time.Millisecond)
	}()
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		readOn(t, d, stop)
	}()
	acknowledged, longest := load(t, d, 4, 1, stop)
	<-reading
	counter, rows := counted(t, d)
	t.Logf("%d %s, %d writes, the slowest of which took %s", times, what, acknowledged, longest.Round(time.Millisecond))
	if counter != acknowledged || int64(rows) != acknowledged || acknowledged == 0 {
		t.Errorf("%d acknowledged, the counter is %d, there are %d rows", acknowledged, counter, rows)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// readOn reads until it is to stop. A read that has got nothing yet when the connection is lost outlasts what takes less than five seconds.
func readOn(t *testing.T, d *kv.DB, stop <-chan struct{}) {
	reads, failed, longest := 0, 0, time.Duration(0)
	for going := true; going; {
		began := time.Now()
		err := d.View(ctx, func(tx *kv.Tx) error { _, err := tx.Get([]byte("n")); return err })
		took := time.Since(began)
		if reads++; err != nil {
			failed++
			if took < 5*time.Second {
				t.Errorf("a read fails after %s: %v", took, err)
			}
		}
		longest = max(longest, took)
		select {
		case <-stop:
			going = false
		default:
		}
	}
	t.Logf("%d reads, of which %d failed, the slowest took %s", reads, failed, longest.Round(time.Millisecond))
}

// TestStaleConnections ends all connections of a pool that is idle: the next transactions do not notice.
func TestStaleConnections(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	for range 3 {
		if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("a"), []byte("1")) }); err != nil {
			t.Fatal(err)
		}
		if _, err := s.spare.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'catena' AND query LIKE '%' AND datname = current_database() AND pid IN (SELECT pid FROM pg_stat_activity)"); err != nil {
			t.Fatal(err)
		}
		err := d.View(ctx, func(tx *kv.Tx) error { _, err := tx.Get([]byte("a")); return err })
		if err != nil {
			t.Errorf("view: %v", err)
		}
	}
}

// TestTakenSlot takes the slots of connections away: transactions are made on other ones.
func TestTakenSlot(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	for i, taken := range []string{"SELECT", "UPDATE slots SET token = token + 7", "DELETE FROM slots"} {
		if _, err := s.spare.Exec(ctx, taken); err != nil {
			t.Fatal(err)
		}
		if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("a"), strconv.AppendInt(nil, int64(i), 10)) }); err != nil {
			t.Errorf("after %s: %v", taken, err)
		}
		var got []byte
		if err := d.View(ctx, func(tx *kv.Tx) (err error) { got, err = tx.Get([]byte("a")); return err }); err != nil || string(got) != strconv.Itoa(i) {
			t.Errorf("after %s: got %q, %v", taken, got, err)
		}
	}
}

// TestBroken has a transaction go on although a read has found that its connection is lost: it runs again.
func TestBroken(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	runs := 0
	err := d.Update(ctx, func(tx *kv.Tx) error {
		runs++
		if _, err := tx.Get([]byte("a")); err != nil {
			return err
		}
		if runs == 1 {
			_ = tx.Nest(func() error {
				kill(t, s)
				_, err := tx.Get([]byte("b"))
				return err
			})
		}
		return tx.Set([]byte("a"), strconv.AppendInt(nil, int64(runs), 10))
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs, %v", runs, err)
	}
	err = d.View(ctx, func(tx *kv.Tx) error {
		if v, err := tx.Get([]byte("a")); string(v) != "2" || err != nil {
			t.Errorf("got %q, %v", v, err)
		}
		kill(t, s)
		_, _ = tx.Get([]byte("b"))
		return nil
	})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("a view that lost its connection: %v", err)
	}
}

// kill ends the connections of a store that are in a transaction.
func kill(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.spare.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'idle in transaction'"); err != nil {
		t.Fatal(err)
	}
}

// TestRefused opens servers that cannot keep the contract; the messages say what to change.
func TestRefused(t *testing.T) {
	pgtest.Address(t)
	for _, tt := range []struct{ setting, want string }{
		{"max_pred_locks_per_transaction=64", "max_pred_locks_per_transaction is 64: set it to 2048"},
	} {
		server, err := pgtest.Start("fsync=off", tt.setting)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(ctx, server.Address, Options{Log: quiet})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.setting, err)
		}
		server.Stop()
	}
	for address, want := range map[string]string{
		"postgres://catena@/nothing?host=" + pathOf(t): `database "nothing" does not exist`,
		"postgres://%zz": "cannot parse",
	} {
		_, err := Open(ctx, address, Options{Log: quiet})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := Open(short, "postgres://catena@127.0.0.1:1/x", Options{Log: quiet}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("nobody listens: %v", err)
	}
}

func pathOf(t *testing.T) string {
	u, err := url.Parse(pgtest.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("host")
}

// TestEncoding refuses a database whose encoding is not UTF-8.
func TestEncoding(t *testing.T) {
	s := opened(t, pgtest.Schema())
	defer s.Close()
	name := pgtest.Schema()
	if _, err := s.main.Exec(ctx, "CREATE DATABASE "+name+" ENCODING 'SQL_ASCII' TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	_, err := Open(ctx, "postgres://catena@/"+name+"?host="+pathOf(t), Options{Log: quiet})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "ENCODING 'UTF8'") {
		t.Errorf("%v", err)
	}
}

// TestFormat refuses tables of a later version, and opens those that are there as they are.
func TestFormat(t *testing.T) {
	schema := pgtest.Schema()
	s := opened(t, schema)
	if err := kv.New(s, kv.Options{}).Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("a"), []byte("1")) }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, schema)
	if counter, _ := counted(t, kv.New(s, kv.Options{})); counter != 0 {
		t.Errorf("counter %d", counter)
	}
	if _, err := s.main.Exec(ctx, "UPDATE format SET number = 1000"); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if _, err := Open(ctx, pgtest.Address(t), Options{Log: quiet, Schema: schema}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "format 1000") {
		t.Errorf("%v", err)
	}
}

// TestSnapshotIsolation refuses a server whose level SERIALIZABLE is only snapshot isolation: PostgreSQL behind a proxy that asks it for
// REPEATABLE READ instead.
func TestSnapshotIsolation(t *testing.T) {
	socket := pathOf(t) + "/.s.PGSQL.5432"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() {
				_, _ = io.Copy(client, server)
				_ = client.Close()
			}()
			go func() {
				_ = weaken(server, client)
				_ = server.Close()
			}()
		}
	}()
	s, err := Open(ctx, "postgres://catena@"+l.Addr().String()+"/postgres?sslmode=disable", Options{Log: quiet, Schema: pgtest.Schema()})
	if err == nil {
		_ = s.Close()
	}
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "only snapshot isolation") {
		t.Errorf("got %v", err)
	}
}

// weaken copies the messages of a client, whose transactions are no longer serializable.
func weaken(to io.Writer, from io.Reader) error {
	head := make([]byte, 4) // the first message has no type
	for {
		if _, err := io.ReadFull(from, head); err != nil {
			return err
		}
		size := head[len(head)-4:]
		body := make([]byte, binary.BigEndian.Uint32(size)-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return err
		}
		body = bytes.Replace(body, []byte("level serializable"), []byte("level repeatable read"), 1)
		binary.BigEndian.PutUint32(size, uint32(len(body)+4))
		if _, err := to.Write(append(head, body...)); err != nil {
			return err
		}
		head = make([]byte, 5)
	}
}
