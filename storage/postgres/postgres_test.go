package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"catena/storage/kv"
	"catena/storage/kv/kvtest"
	"catena/storage/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var (
	ctx   = context.Background()
	quiet = slog.New(slog.DiscardHandler)
)

func opened(t testing.TB, schema string) *Store {
	t.Helper()
	s, err := Open(ctx, pgtest.Address(t), Options{Log: quiet, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store { return opened(t, pgtest.Schema()) })
}

func TestNodes(t *testing.T) {
	kvtest.RunNodes(t, func(t *testing.T) (a, b kv.Store) {
		schema := pgtest.Schema()
		return opened(t, schema), opened(t, schema)
	})
}

// TestSequencesDoNotConflict: a transaction that takes numbers from sequences runs once, although all rows stand on one page.
func TestSequencesDoNotConflict(t *testing.T) {
	runs := 0
	d := kv.New(opened(t, pgtest.Schema()), kv.Options{Log: quiet, Observe: func(s kv.Stats) { runs = max(runs, s.Attempts) }})
	defer d.Close()
	seen := map[int64]bool{}
	for i := range 40 {
		err := d.Update(ctx, func(tx *kv.Tx) error {
			if _, err := tx.Get([]byte("a row")); err != nil {
				return err
			}
			n, err := d.Next(ctx, "numbers")
			if seen[n] {
				t.Errorf("%d came twice", n)
			}
			seen[n] = true
			return cmp.Or(err, tx.Set(fmt.Appendf(nil, "row %d", i), []byte("value")))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if runs != 1 || len(seen) != 40 {
		t.Errorf("a transaction ran %d times, %d numbers", runs, len(seen))
	}
}

// TestAloneTakesNumbers: a transaction that has lost often, and holds up the commits of others, takes numbers from sequences, which
// other connections do, and the others go on once it has ended.
func TestAloneTakesNumbers(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet, Lease: 1, Sleep: func(context.Context, time.Duration) error { return nil }})
	defer d.Close()
	if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("x"), []byte("0")) }); err != nil {
		t.Fatal(err)
	}
	runs, numbers := 0, map[int64]bool{}
	var other chan error
	err := d.Update(ctx, func(tx *kv.Tx) error {
		runs++
		if _, err := tx.Get([]byte("x")); err != nil {
			return err
		}
		write := func() error {
			return d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("x"), fmt.Append(nil, runs)) })
		}
		if runs < 7 { // it loses
			if err := write(); err != nil {
				return err
			}
		} else {
			other = make(chan error, 1)
			go func() { other <- write() }()
		}
		for range 3 {
			n, err := d.Next(ctx, "numbers")
			if err != nil {
				return err
			}
			numbers[n] = true
		}
		return tx.Set([]byte("x"), []byte("mine"))
	})
	if err != nil || runs != 7 || len(numbers) != 21 {
		t.Errorf("%d runs, %d numbers: %v", runs, len(numbers), err)
	}
	if err := <-other; err != nil {
		t.Errorf("one that was held up: %v", err)
	}
}

// TestOpenBesideAlone: a server starts while transactions of others hold up commits again and again, and does not hold these up for long.
func TestOpenBesideAlone(t *testing.T) {
	schema := pgtest.Schema()
	s := opened(t, schema)
	defer s.Close()
	stop, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		defer func() { longest <- most }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			begun := time.Now()
			snap, err := s.BeginAlone(ctx)
			if err == nil {
				_, err = snap.Get([]byte("k"))
				snap.Discard()
			}
			if err != nil {
				t.Error(err)
				return
			}
			most = max(most, time.Since(begun))
		}
	}()
	for range 5 {
		other, err := Open(ctx, pgtest.Address(t), Options{Log: quiet, Schema: schema})
		if err == nil {
			err = other.Close()
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	if most := <-longest; most > 3*time.Second {
		t.Errorf("a transaction waited for %s", most)
	}
}
