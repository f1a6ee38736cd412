package rest

import (
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
	quota int // requests a minute; 0: no bound
	burst int // requests at once
	mu    sync.Mutex
	of    map[string]*list.Element
	order *list.List // the last heard first

	board   *cluster.Board // of the servers of the store; nil: there is only this one
	sharing bool           // this server tells others of its callers
}

type caller struct {
	name    string
	limiter *rate.Limiter
	usage
}

func newRates(quota int) *rates {
	return &rates{quota: max(0, quota), burst: max(quota/4, min(quota, minBurst)), of: map[string]*list.Element{}, order: list.New()}
}

func (l *rates) bucket() *rate.Limiter { return rate.NewLimiter(rate.Limit(l.quota)/60, l.burst) }

// nameOf is that of a key, or of a user who signed in by password.
func nameOf(p *engine.Principal) string {
	if p.KeyID != 0 {
		return "#" + strconv.FormatInt(p.KeyID, 10)
	}
	return p.Name
}

// caller returns who has a name.
func (l *rates) caller(name string) *caller {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.of[name]; ok {
		l.order.MoveToFront(e)
		return e.Value.(*caller)
	}
	c := &caller{name: name, limiter: l.bucket(), usage: usage{own: l.bucket(), seen: map[string]int64{}}}
	l.of[name] = l.order.PushFront(c)
	if l.order.Len() > maxRates {
		last := l.order.Back()
		delete(l.of, last.Value.(*caller).name)
		l.order.Remove(last)
	}
	return c
}

// Rate counts a request and tells the caller how many are left; too many are refused.
func (x *Request) Rate() error {
	l := x.Server.rates
	if l.quota == 0 || x.As == nil || x.exempt() {
		return nil
	}
	now := time.Now()
	c := l.caller(nameOf(x.As))
	ok := c.limiter.AllowN(now, 1)
	if ok && l.board != nil && l.counts(c, now) {
		go l.share(x.Server.ctx, x.Server.Log)
	}
	tokens := c.limiter.TokensAt(now)
	left := max(0, int(tokens))
	full := int(math.Ceil((float64(l.burst) - tokens) * 60 / float64(l.quota)))
	h := x.Writer.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=60`, l.quota))
	h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, left, full))
	h.Set("X-RateLimit-Limit", strconv.Itoa(l.quota))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Unix()+int64(full), 10))
	if ok {
		return nil
	}
	next := time.Duration((1 - tokens) / float64(l.quota) * float64(time.Minute))
	return fault.Limit.Errorf("rate: more than %d requests a minute", l.quota).WithCode(fault.CodeRateLimited).After(next)
}

// exempt reports whether a request comes from a network whose requests are not counted.
func (x *Request) exempt() bool {
	if len(x.Server.RateExempt) == 0 {
		return false
	}
	from := x.client()
	return slices.ContainsFunc(x.Server.RateExempt, func(p netip.Prefix) bool { return p.Contains(from) })
}
