package postgres

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"catena/storage/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Replicas tell how far they are behind by a row of the primary, which holds the time, in microseconds since 1970 by the clock of the
// primary, at which it was written last: a replica that shows it has everything that had been committed before.
const (
	pulseSetting = "pulse"
	pulseEvery   = 500 * time.Millisecond // is written by whichever node comes first
	pulseTime    = 2 * time.Second        // of asking one server
	silence      = 3 * time.Second        // after so long without an answer, a replica counts as out of reach
)

// replica is what a store knows that only reads, from a standby.
type replica struct {
	primary *Store
	pulse   atomic.Int64 // the last one it showed, in microseconds since 1970 by the clock of the primary
	heard   atomic.Int64 // when it answered last, in nanoseconds since 1970 by the clock of this machine
}

// OpenReplica opens a standby of the database, which may show an older state; see Behind. Its transactions cannot write.
func (s *Store) OpenReplica(ctx context.Context, address string) (*Store, error) {
	r := &Store{opts: s.opts, log: s.log, replica: &replica{primary: s}}
	config, err := r.configure(address)
	if err != nil {
		return nil, err
	}
	if err := r.recognize(ctx, config); err != nil {
		return nil, err
	}
	if err := r.pools(ctx, config); err != nil {
		return nil, err
	}
	_ = r.beat(ctx) // until it has succeeded, the primary is asked
	working, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.running.Go(func() { r.follow(working) })
	return r, nil
}

// recognize refuses a server that has no copy of the tables of the primary, as this version makes them.
func (s *Store) recognize(ctx context.Context, config *pgxpool.Config) error {
	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return refused(ctx, err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	var there bool
	if err := c.QueryRow(ctx, "SELECT to_regclass('format') IS NOT NULL").Scan(&there); err != nil {
		return failed(ctx, err)
	}
	if !there {
		return fault.Unavailable.Errorf("replica: does not have the tables of the schema %s, or not yet", s.opts.Schema)
	}
	format := 0
	if err := c.QueryRow(ctx, "SELECT number FROM format").Scan(&format); err != nil {
		return failed(ctx, err)
	}
	if format != len(migrations) {
		return fault.Unavailable.Errorf("replica: its tables have format %d, those of the primary %d", format, len(migrations))
	}
	if s.identity, err = identify(ctx, c); err != nil {
		return err
	}
	if s.identity != s.replica.primary.identity {
		return fault.Invalid.Errorf("replica: is not a standby of the database of the store")
	}
	return nil
}

// Writable returns why a store takes no writes, if it is a replica.
func (s *Store) Writable() error {
	if s.replica != nil {
		return errReplica
	}
	return nil
}

var errReplica error = fault.Unavailable.Errorf("store: a replica takes no writes")

// Behind is how old what a replica shows may be: all that was committed before is there. ok is false if it does not answer.
func (s *Store) Behind() (age time.Duration, ok bool) {
	if s.replica == nil {
		return 0, true
	}
	if !s.hears() {
		return 0, false
	}
	now := time.Now().Add(s.replica.primary.Skew())
	return max(0, now.Sub(time.UnixMicro(s.replica.pulse.Load()))), true
}

// hears reports whether a replica has answered lately.
func (s *Store) hears() bool { return time.Since(time.Unix(0, s.replica.heard.Load())) < silence }

// follow keeps Behind up to date until ctx ends.
func (s *Store) follow(ctx context.Context) {
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	answered := true
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := s.beat(ctx); (err == nil) != answered && ctx.Err() == nil {
			if answered = err == nil; answered {
				s.log.Info("the replica answers again")
			} else {
				s.log.Warn("the replica does not answer", "err", err)
			}
		}
	}
}

// beat has the primary write the time, unless it has a moment ago, and reads what the replica shows. While the primary is out of
// reach, the replica is as far behind as it was.
func (s *Store) beat(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, pulseTime)
	defer cancel()
	_, _ = s.replica.primary.spare.Exec(short, `INSERT INTO settings (name, value) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1e6)::bigint::text)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value::bigint < excluded.value::bigint - $2`, pulseSetting, pulseEvery.Microseconds()*9/10)
	asked, end := context.WithTimeout(ctx, pulseTime)
	defer end()
	var text string
	if err := s.spare.QueryRow(asked, "SELECT value FROM settings WHERE name = $1", pulseSetting).Scan(&text); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return failed(ctx, err)
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	s.replica.pulse.Store(n)
	s.replica.heard.Store(time.Now().UnixNano())
	return nil
}
