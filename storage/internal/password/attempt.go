package password

import (
	"context"
	"crypto/subtle"
	"time"

	"catena/storage/fault"
)

// Origin says where an attempt comes from.
type Origin struct {
	Source   string // that failures are counted for together with the name: an address, or a device
	Address  string // that failures are counted for over all names; "": of a place that is known
	Stranger bool   // whether the attempt also counts with those of all others whom the user does not know
}

// Attempt is one attempt to sign in by a password.
type Attempt struct {
	c       *Checker
	who     string
	mac     [32]byte
	changes uint64

	here, anywhere rate
	uses           []use
	alarms         []*Alarm // by use, what is reported if that budget is exhausted
	alarm          *Alarm
	checking       chan struct{} // closed by Done; nil before Known
}

// Attempt begins to check a password. What else the password stands or falls with, such as the text
// kept for it, may be part of mark, by which it is known again.
func (c *Checker) Attempt(who, mark string) *Attempt {
	return &Attempt{c: c, who: who, mac: c.mac(who, mark), here: userHere, anywhere: userAnywhere}
}

// Known reports whether the password was found right a short while ago, and returns the sum it had. If it was not, and
// others are checking the same password, Known waits for them: clients that open many connections at once must not look
// like somebody who guesses. The next caller waits until Done.
func (a *Attempt) Known(ctx context.Context) (sum []byte, ok bool, err error) {
	for {
		sum, ok, others := a.begin()
		if ok || others == nil {
			return sum, ok, nil
		}
		select {
		case <-others:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// begin is Known without waiting: it returns what ends once the attempt of somebody else has ended.
func (a *Attempt) begin() (sum []byte, ok bool, others chan struct{}) {
	c := a.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.good[a.who]; ok && c.clock().Before(g.until) && subtle.ConstantTimeCompare(g.mac[:], a.mac[:]) == 1 {
		return g.sum, true, nil
	}
	if others := c.checking[a.mac]; others != nil {
		return nil, false, others
	}
	a.checking = make(chan struct{})
	c.checking[a.mac] = a.checking
	return nil, false, nil
}

// Done ends an attempt for which Known was called.
func (a *Attempt) Done() {
	if a.checking == nil {
		return
	}
	a.c.mu.Lock()
	delete(a.c.checking, a.mac)
	a.c.mu.Unlock()
	close(a.checking)
	a.checking = nil
}

// Admit counts one more attempt, and refuses it after too many failures.
func (a *Attempt) Admit(from Origin) error {
	if wait := a.Wait(from); wait > 0 {
		return fault.Denied.Errorf("sign-in: too many failed attempts, try again later").WithCode(fault.CodeTooManyAttempts).After(wait)
	}
	return nil
}

// Counters says where the attempt comes from, and returns by what it is counted: the place first.
func (a *Attempt) Counters(from Origin) (keys []Key) {
	c := a.c
	a.uses = append(a.uses[:0], use{c.key("place", a.who, from.Source), a.here})
	a.alarms = append(a.alarms[:0], &Alarm{Name: a.who})
	if from.Stranger {
		a.uses = append(a.uses, use{c.key("name", a.who), a.anywhere})
		a.alarms = append(a.alarms, &Alarm{Name: a.who})
	}
	if from.Address != "" {
		a.uses = append(a.uses, use{c.key("address", from.Address), addressRate})
		a.alarms = append(a.alarms, &Alarm{Address: from.Address})
	}
	for _, u := range a.uses {
		keys = append(keys, u.key)
	}
	return keys
}

// Failures returns the counters of an attempt that failed, raised by it above what a store has of them.
func (a *Attempt) Failures(stored map[Key]Stored) map[Key]Stored {
	now, out := a.c.clock(), map[Key]Stored{}
	for _, u := range a.uses {
		s := stored[u.key]
		used := min(max(0, s.Whole.Sub(now)), u.all())
		s.Whole = now.Add(min(used+u.every, u.all()))
		out[u.key] = s
	}
	return out
}

// Lowered returns the counters that say more than a whole budget, as those do that were stored before the clock was set back, lowered
// to all of it from now on.
func (a *Attempt) Lowered(stored map[Key]Stored) map[Key]Stored {
	now, out := a.c.clock(), map[Key]Stored{}
	for _, u := range a.uses {
		s, most := stored[u.key], now.Add(u.all())
		if s.Whole.After(most) {
			s.Whole = most
			out[u.key] = s
		}
	}
	return out
}

// Forgiven is a counter of which a right password has just forgiven everything.
func (a *Attempt) Forgiven() Stored {
	now := a.c.clock()
	return Stored{Whole: now, Forgiven: now}
}

// Wait is Admit that returns how long to wait, 0 if the attempt is admitted.
func (a *Attempt) Wait(from Origin) time.Duration {
	c, now := a.c, a.c.clock()
	a.Counters(from)
	if i, wait := c.throttle.take(now, a.uses); i >= 0 {
		c.Refused.Add(1)
		if c.alarms.first(a.uses[i].key, now) {
			a.alarm = a.alarms[i]
		}
		return wait
	}
	c.mu.Lock()
	a.changes = c.changes
	c.mu.Unlock()
	return 0
}

// Alarm returns the attack that Admit refused the attempt for, if it is to be reported now.
func (a *Attempt) Alarm() *Alarm { return a.alarm }

// Matches reports whether a kept text is that of a password. Nothing kept, "", is no password's,
// and takes as long to find out.
func (a *Attempt) Matches(ctx context.Context, kept, password string) (bool, error) {
	hash := kept
	if kept == "" {
		hash = a.c.decoy
	}
	ok, err := a.c.matches(ctx, hash, password)
	if ok = ok && kept != ""; !ok && err == nil {
		a.c.Failed.Add(1)
	}
	return ok, err
}

// Settle remembers a password that was right, and its sum, unless one changed since Admit.
func (a *Attempt) Settle(sum []byte) {
	c, now := a.c, a.c.clock()
	c.throttle.giveBack(now, a.uses)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != a.changes {
		return
	}
	if len(c.good) >= maxGood {
		clear(c.good)
	}
	c.good[a.who] = good{a.mac, now.Add(remembered), sum}
}

// Forget drops what is remembered of a user whose password changes.
func (c *Checker) Forget(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.good, user)
	c.changes++
}

// Guess begins to check a password that is no user's but of a link for example, by the text kept for it.
func (c *Checker) Guess(kept, password string) *Attempt {
	a := c.Attempt("link "+kept, password)
	a.here, a.anywhere = linkHere, linkAnywhere
	return a
}
