package rest

import (
	"cmp"
	"container/list"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"catena/engine"
	"catena/storage/cluster"
	"catena/storage/fault"
)

// maxRates bounds the callers whose rates are remembered; the longest silent is forgotten.
const maxRates = 10_000

// minBurst is how many requests a caller may make at once, unless that is more than a minute's.
const minBurst = 30

// rates bounds the requests of each caller: a bucket that holds a quarter of a minute's worth,
// for those who ask for much at once, and fills steadily.
type rates struct {
	quota int // requests a minute of a user or key; 0: no bound
	mu    sync.Mutex
	of    map[string]*list.Element
	order *list.List // the last heard first

	board   *cluster.Board // of the servers of the store; nil: there is only this one
	sharing bool           // this server tells others of its callers
}

type caller struct {
	name    string
	quota   int // requests a minute
	burst   int // requests at once
	limiter *rate.Limiter
	usage
}

func newRates(quota int) *rates {
	return &rates{quota: max(0, quota), of: map[string]*list.Element{}, order: list.New()}
}

func newCaller(name string, quota int) *caller {
	c := &caller{name: name, quota: quota, burst: max(quota/4, min(quota, minBurst))}
	bucket := func() *rate.Limiter { return rate.NewLimiter(rate.Limit(quota)/60, c.burst) }
	c.limiter, c.usage = bucket(), usage{own: bucket(), seen: map[string]int64{}}
	return c
}

// nameOf is that of a key, or of a user who signed in by password.
func nameOf(p *engine.Principal) string {
	if p.KeyID != 0 {
		return "#" + strconv.FormatInt(p.KeyID, 10)
	}
	return p.Name
}

// caller returns who has a name, and may send so many requests a minute.
func (l *rates) caller(name string, quota int) *caller {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.of[name]; ok {
		l.order.MoveToFront(e)
		if c := e.Value.(*caller); c.quota == quota {
			return c
		}
		l.order.Remove(e) // a hook was changed
	}
	c := newCaller(name, quota)
	l.of[name] = l.order.PushFront(c)
	if l.order.Len() > maxRates {
		last := l.order.Back()
		delete(l.of, last.Value.(*caller).name)
		l.order.Remove(last)
	}
	return c
}

// Rate counts a request of a key, or of a user who signed in by password, and tells the caller how many are left; too many are
// refused.
func (x *Request) Rate() error {
	if x.As == nil {
		return nil
	}
	return x.RateOf(nameOf(x.As), 0)
}

// RateOf counts a request under a name, of which so many a minute are accepted; 0: as many as of a user.
func (x *Request) RateOf(name string, quota int) error {
	l := x.Server.rates
	quota = cmp.Or(quota, l.quota)
	if quota == 0 || x.exempt() {
		return nil
	}
	now := time.Now()
	c := l.caller(name, quota)
	ok := c.limiter.AllowN(now, 1)
	if ok && l.board != nil && l.counts(c, now) {
		go l.share(x.Server.ctx, x.Server.Log)
	}
	tokens := c.limiter.TokensAt(now)
	left := max(0, int(tokens))
	full := int(math.Ceil((float64(c.burst) - tokens) * 60 / float64(quota)))
	h := x.Writer.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=60`, quota))
	h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, left, full))
	h.Set("X-RateLimit-Limit", strconv.Itoa(quota))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Unix()+int64(full), 10))
	if ok {
		return nil
	}
	next := time.Duration((1 - tokens) / float64(quota) * float64(time.Minute))
	return fault.Limit.Errorf("rate: more than %d requests a minute", quota).WithCode(fault.CodeRateLimited).After(next)
}

// exempt reports whether a request comes from a network whose requests are not counted.
func (x *Request) exempt() bool {
	if len(x.Server.RateExempt) == 0 {
		return false
	}
	from := x.client()
	return slices.ContainsFunc(x.Server.RateExempt, func(p netip.Prefix) bool { return p.Contains(from) })
}
