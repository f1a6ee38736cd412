package engine

import (
	"crypto/sha256"
	"encoding/json"

	"catena/storage/fault"
)

// maxKept is how many bytes of the answers of others one transaction of a call keeps for its next attempt.
const maxKept = 32 << 20

// once are the effects that a transaction of a call has had outside, in all its attempts.
type once struct {
	done  map[[sha256.Size]byte][]effect
	asked map[[sha256.Size]byte]int // how often this attempt has come to each
	kept  int                       // bytes
}

// effect is what one of them gave.
type effect struct {
	out  any
	err  error
	lost bool // it was not kept
}

// Once has an effect outside that cannot be taken back, at most once for the transaction: a transaction that begins again,
// because it lost a race or a part of the call was run apart, gets what f returned the first time. What is a value that
// encodes as JSON and tells effects apart; the n-th of the same value is the same effect. f returns a value that nobody
// changes afterwards, and about how many bytes it has.
func (c *Ctx) Once(what any, f func() (out any, size int, err error)) (any, error) {
	if c.run == nil || c.run.frame == nil {
		out, _, err := f()
		return out, err
	}
	text, err := json.Marshal(what)
	if err != nil {
		return nil, fault.Invalid.Errorf("effect: %w", err)
	}
	key, o := sha256.Sum256(text), &c.run.frame.once
	if o.done == nil {
		o.done, o.asked = map[[sha256.Size]byte][]effect{}, map[[sha256.Size]byte]int{}
	}
	at := o.asked[key]
	o.asked[key]++
	if at < len(o.done[key]) {
		known := o.done[key][at]
		if known.lost {
			return nil, fault.Conflict.Errorf("the transaction begins again after a request to another service, whose answer was not kept; it is not sent twice")
		}
		return known.out, known.err
	}
	// Until f returns, nobody knows what came of the effect: this is also what is left if f panics.
	o.done[key] = append(o.done[key], effect{lost: true})
	out, size, err := f()
	if o.kept+size <= maxKept {
		o.kept += size
		o.done[key][at] = effect{out: out, err: err}
	}
	return out, err
}

// begin is the beginning of an attempt.
func (o *once) begin() { clear(o.asked) }
