package password

import (
	"context"
	"crypto/subtle"

	"catena/storage/fault"
)

// Attempt is one attempt to sign in by a password.
type Attempt struct {
	c       *Checker
	who     string
	mac     [32]byte
	changes uint64
}

// Attempt begins to check a password. What else the password stands or falls with, such as the text
// kept for it, may be part of mark, by which it is known again.
func (c *Checker) Attempt(who, mark string) *Attempt {
	return &Attempt{c: c, who: who, mac: c.mac(who, mark)}
}

// Known reports whether the password was found right a short while ago, and returns the sum it had.
func (a *Attempt) Known() (sum []byte, ok bool) {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	g, ok := a.c.good[a.who]
	return g.sum, ok && a.c.clock().Before(g.until) && subtle.ConstantTimeCompare(g.mac[:], a.mac[:]) == 1
}

// Admit counts one more attempt, and refuses it after too many failures.
func (a *Attempt) Admit() error {
	c, now := a.c, a.c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.failures[a.who]
	if !ok || now.Sub(f.since) >= failureWindow {
		if len(c.failures) >= maxFailing {
			clear(c.failures)
		}
		f = failures{since: now}
	}
	if f.count >= maxFailures {
		return fault.Denied.Errorf("user %s: too many failed sign-ins, try again later", a.who).WithCode(fault.CodeTooManyAttempts).After(failureWindow - now.Sub(f.since))
	}
	f.count++
	c.failures[a.who] = f
	a.changes = c.changes
	return nil
}

// Matches reports whether a kept text is that of a password. Nothing kept, "", is no password's,
// and takes as long to find out.
func (a *Attempt) Matches(ctx context.Context, kept, password string) (bool, error) {
	hash := kept
	if kept == "" {
		hash = a.c.decoy
	}
	ok, err := a.c.matches(ctx, hash, password)
	return ok && kept != "", err
}

// Settle remembers a password that was right, and its sum, unless one changed since Admit.
func (a *Attempt) Settle(sum []byte) {
	c, now := a.c, a.c.clock()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.failures, a.who)
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
