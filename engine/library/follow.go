package library

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

const (
	// FollowEvery is how often a server looks for what others have deployed.
	FollowEvery = 500 * time.Millisecond
	// late is after how long a server has fallen behind the others if it cannot do what they can. What one has saved may break
	// a text on all of them, and each notices when it looks.
	late = 2 * FollowEvery
	// cutOff is after how long without a look a server does not know what is deployed.
	cutOff = 15 * time.Second
)

// Follower has a server deploy what others deploy in the same store, and withdraw what they withdraw.
type Follower struct {
	all    Deployments
	engine *engine.Engine
	log    *slog.Logger
	// compare tells other servers which texts do not work on this one, and returns those that work on one of them.
	compare func(ctx context.Context, lacks []string) (behind []string, err error)

	mu     sync.Mutex
	looked time.Time            // when the last look ended that failed in nothing
	behind map[string]time.Time // what works on another server and not on this one, and since when
}

// NewFollower returns a follower that has not looked yet.
func NewFollower(all Deployments, e *engine.Engine, log *slog.Logger, compare func(ctx context.Context, lacks []string) ([]string, error)) *Follower {
	return &Follower{all: all, engine: e, log: log, compare: compare}
}

// Run looks at intervals, until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	t := time.NewTicker(FollowEvery)
	defer t.Stop()
	for said := ""; ; {
		lacks, err := f.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		now := saying(lacks, err)
		if now != "" && now != said { // an outage is one message
			f.log.Error("what other nodes have deployed", "error", now)
		}
		said = now
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// saying is the text for the log.
func saying(lacks []Lack, err error) string {
	var all []string
	if err != nil {
		all = append(all, err.Error())
	}
	for _, l := range lacks[:min(len(lacks), maxListed)] {
		all = append(all, l.String())
	}
	return strings.Join(all, "\n")
}

// look follows the others once. What does not work here is no error: it is in the list.
func (f *Follower) look(ctx context.Context) ([]Lack, error) {
	err := f.all.Refresh(ctx, f.engine)
	lacks := f.all.Lacks(f.engine)
	names := texts(lacks)
	behind, failed := f.compare(ctx, names)
	if failed != nil {
		return lacks, failed
	}
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	since := map[string]time.Time{}
	for _, text := range behind {
		began, known := f.behind[text]
		if !known && !f.looked.IsZero() {
			began = now // at the start, it is late already
		}
		since[text] = began
	}
	f.behind = since
	// A text that does not compile is an error when it is deployed, and in the list from then on.
	if err == nil || len(lacks) > 0 {
		f.looked = now
	}
	return lacks, err
}

// Status returns why this server should get no requests: something that is deployed works on other servers and not on this one,
// or is not known here.
func (f *Follower) Status(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looked.IsZero() {
		return fault.Unavailable.Errorf("what is deployed has not been read")
	}
	if since := time.Since(f.looked); since > cutOff {
		return fault.Unavailable.Errorf("what is deployed has not been read for %s", since.Round(time.Second))
	}
	var all []string
	for text, since := range f.behind {
		if time.Since(since) >= late {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return fault.Unavailable.Errorf("works on another server and not on this one: %s", listed(all))
}
