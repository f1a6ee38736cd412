package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// joined is how long wake-ups are gathered before they are sent: each is a commit of its own in the database.
const joined = 5 * time.Millisecond

// wakes are the topics whose watchers in other processes are still to be woken.
type wakes struct {
	mu     sync.Mutex
	topics map[string]bool
	some   chan struct{}
}

func (w *wakes) init() { w.topics, w.some = map[string]bool{}, make(chan struct{}, 1) }

func (w *wakes) add(topics []string) {
	w.mu.Lock()
	for _, t := range topics {
		w.topics[t] = true
	}
	w.mu.Unlock()
	select {
	case w.some <- struct{}{}:
	default:
	}
}

func (w *wakes) take() (topics []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t := range w.topics {
		topics = append(topics, t)
	}
	clear(w.topics)
	return topics
}

// wake wakes the watchers of topics here, and soon those in other processes.
func (s *Store) wake(topics []string) {
	if len(topics) == 0 {
		return
	}
	s.topics.Wake(topics)
	s.wakes.add(topics)
}

// channel is what processes that share the tables listen to.
func (s *Store) channel() string { return "catena_" + s.opts.Schema }

// notify sends wake-ups until ctx ends. A lost one does no harm, because every watcher also polls.
func (s *Store) notify(ctx context.Context) {
	for {
		select {
		case <-s.wakes.some:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(joined):
		case <-ctx.Done():
			return
		}
		topics := s.wakes.take()
		if len(topics) == 0 {
			continue
		}
		payloads := make([]string, len(topics))
		for i, t := range topics {
			payloads[i] = s.node + " " + t
		}
		short, cancel := context.WithTimeout(ctx, connectTime)
		if _, err := s.main.Exec(short, "SELECT pg_notify($1, p) FROM unnest($2::text[]) p", s.channel(), payloads); err != nil && ctx.Err() == nil {
			s.log.Warn("other nodes cannot be woken", "err", err)
		}
		cancel()
	}
}

// listen wakes watchers of topics that other processes have woken, until ctx ends.
func (s *Store) listen(ctx context.Context, config *pgxpool.Config) {
	for ctx.Err() == nil {
		err := s.hear(ctx, config.ConnConfig)
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("other nodes cannot be heard", "err", err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// hear passes on the topics that other nodes wake, until the connection fails or ctx ends. While nothing arrives it measures the difference
// of the clocks at intervals, which also notices a dead connection.
func (s *Store) hear(ctx context.Context, config *pgx.ConnConfig) error {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		short, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		_ = c.Close(short)
	}()
	if _, err := c.Exec(ctx, "LISTEN "+pgx.Identifier{s.channel()}.Sanitize()); err != nil {
		return err
	}
	for {
		short, cancel := context.WithTimeout(ctx, measureEvery)
		n, err := c.WaitForNotification(short)
		idle := short.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			if from, topic, ok := strings.Cut(n.Payload, " "); ok && from != s.node {
				s.topics.Wake([]string{topic})
			}
			continue
		case !idle || !errors.Is(err, context.DeadlineExceeded) && c.IsClosed():
			return err
		}
		if err := s.measure(ctx, c); err != nil {
			return err
		}
	}
}
