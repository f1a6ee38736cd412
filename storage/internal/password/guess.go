package password

import (
	"context"
	"crypto/subtle"
	"sync"
	"time"
)

// Wrong guesses at a password that is no user's are bounded, whoever makes them and from
// wherever: that is 7,200 a day.
const (
	maxGuesses  = 5 // wrong ones in guessWindow; more are refused unseen
	guessWindow = time.Minute
	maxGuessed  = 100_000 // passwords that are remembered
)

// guesses remembers who was right, and counts who was wrong.
type guesses struct {
	mu sync.Mutex
	of map[string]*guessed // by the kept text
}

type guessed struct {
	wrong int // and those that are being looked at
	since time.Time
	good  [32]byte // mark of the right password
	until time.Time
}

// Guess reports whether a text made by Hash is that of the password, which is no user's but
// of a link for example. After five wrong ones in a minute it looks at no more and
// says how long to wait. What was counted stays so, whatever becomes of the transaction around.
func (c *Checker) Guess(ctx context.Context, kept, password string) (ok bool, wait time.Duration, err error) {
	now, mark := c.clock(), c.mac(kept, password)
	if ok, wait = c.guesses.admit(kept, mark, now); ok || wait > 0 {
		return ok, wait, nil
	}
	if ok, err = c.matches(ctx, kept, password); ok || err != nil {
		c.guesses.undo(kept, mark, now, ok)
	}
	return ok, 0, err
}

// admit counts one more guess unless it is known to be right, or there were too many.
func (g *guesses) admit(kept string, mark [32]byte, now time.Time) (known bool, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	of := g.of[kept]
	if of == nil {
		if g.of == nil || len(g.of) >= maxGuessed {
			g.of = map[string]*guessed{}
		}
		of = &guessed{since: now}
		g.of[kept] = of
	}
	if now.Before(of.until) && subtle.ConstantTimeCompare(of.good[:], mark[:]) == 1 {
		return true, 0
	}
	if now.Sub(of.since) >= guessWindow {
		of.wrong, of.since = 0, now
	}
	if of.wrong >= maxGuesses {
		return false, of.since.Add(guessWindow).Sub(now)
	}
	of.wrong++
	return false, 0
}

// undo takes a guess back that was not wrong.
func (g *guesses) undo(kept string, mark [32]byte, now time.Time, right bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	of := g.of[kept]
	if of == nil {
		return
	}
	of.wrong = max(0, of.wrong-1)
	if right {
		of.good, of.until = mark, now.Add(remembered)
	}
}
