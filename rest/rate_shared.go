package rest

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"catena/storage"
	"catena/storage/cluster"
)

// Servers that share a store tell each other what callers have used of their limits, once a second, and each takes away what the
// others have let through. So all together let through what one would, and in a second what each has not heard of yet. Only
// callers who have used much are told of: while there are none, nothing is written or read.

const (
	shareEvery = time.Second
	usageKept  = 10 * time.Second
	toldParts  = 8    // a caller is told of while one of so many parts of the bucket is gone
	maxTold    = 1000 // callers, those who have used most
)

// ratesOf are the rates of a server, which others of the store share.
func ratesOf(repo *storage.Repo, quota int) *rates {
	l := newRates(quota)
	if repo.Shared() {
		l.board = cluster.NewBoard(repo, "rates", usageKept)
	}
	return l
}

// usage is what a caller has used at this server, and what was taken away for others.
type usage struct {
	total atomic.Int64     // requests that were let through
	own   *rate.Limiter    // what the bucket would hold if there were no other servers
	seen  map[string]int64 // totals of others that were taken away, by server; belongs to share
}

// told is what other servers know of a caller.
type told struct {
	Total int64   `json:"n"`
	Level float64 `json:"l"` // what is gone of the bucket, for a server that hears of the caller for the first time
}

// counts adds a request that was let through, and reports whether the others are to be told from now on.
func (l *rates) counts(c *caller, now time.Time) bool {
	c.total.Add(1)
	c.own.AllowN(now, 1)
	if !l.isMuch(c, now) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	begins := !l.sharing
	l.sharing = true
	return begins
}

func (l *rates) isMuch(c *caller, now time.Time) bool {
	return float64(c.burst)-c.limiter.TokensAt(now) > float64(c.burst)/toldParts
}

// share exchanges usage with other servers until no caller has used much, or ctx ends.
func (l *rates) share(ctx context.Context, log *slog.Logger) {
	t := time.NewTicker(shareEvery)
	defer t.Stop()
	for goesOn := true; goesOn; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		var err error
		// A server that does not reach the store goes by what it knows.
		if goesOn, err = l.exchange(ctx, time.Now()); err != nil && ctx.Err() == nil {
			log.Debug("rates of other servers", "err", err)
		}
	}
}

// exchange tells others what callers have used here, and takes away what they have used there. It reports whether it is to be
// called again: the next caller who uses much begins again otherwise.
func (l *rates) exchange(ctx context.Context, now time.Time) (goesOn bool, err error) {
	mine := l.told(now)
	if len(mine) == 0 {
		return false, l.board.Post(ctx, nil)
	}
	if err := l.board.Post(ctx, mine); err != nil {
		return true, err
	}
	theirs, err := cluster.Posted[map[string]told](ctx, l.board)
	if err != nil {
		return true, err
	}
	for name := range mine {
		l.takeAway(name, theirs, now)
	}
	return true, nil
}

// told are the callers to tell others of. If there are none, sharing ends.
func (l *rates) told(now time.Time) map[string]told {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]told{}
	for name, e := range l.of {
		c := e.Value.(*caller)
		if l.isMuch(c, now) {
			all[name] = told{c.total.Load(), float64(c.burst) - c.own.TokensAt(now)}
		}
	}
	l.sharing = len(all) > 0
	if len(all) > maxTold {
		names := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Compare(all[b].Level, all[a].Level) })
		for _, name := range names[maxTold:] {
			delete(all, name)
		}
	}
	return all
}

// takeAway takes from a caller what others have let through since it was done last.
func (l *rates) takeAway(name string, theirs map[string]map[string]told, now time.Time) {
	c := l.known(name)
	if c == nil {
		return
	}
	gone := 0.0
	for server, of := range theirs {
		u, ok := of[name]
		if !ok {
			delete(c.seen, server)
			continue
		}
		if before, ok := c.seen[server]; ok && before <= u.Total {
			gone += float64(u.Total - before)
		} else {
			gone += u.Level
		}
		c.seen[server] = u.Total
	}
	maps.DeleteFunc(c.seen, func(server string, _ int64) bool { return theirs[server] == nil })
	// Nobody has to wait for longer than it takes to fill the bucket twice.
	gone = min(gone, c.limiter.TokensAt(now)+float64(c.burst))
	for n := int(math.Ceil(gone)); n > 0; n -= c.burst {
		c.limiter.ReserveN(now, min(n, c.burst))
	}
}

// known returns a caller who has not been forgotten, or nil.
func (l *rates) known(name string) *caller {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.of[name]; e != nil {
		return e.Value.(*caller)
	}
	return nil
}
