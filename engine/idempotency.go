package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// kept is the answer of a call that had an idempotency key, as it is stored.
//
// It is a row of the table "idempotency", written by the transaction of the call. The sweep removes it after
// Expires.
type kept struct {
	Fingerprint string    `json:"fingerprint"`
	Body        []byte    `json:"body,omitempty"`
	Void        bool      `json:"void,omitempty"`
	Lost        bool      `json:"lost,omitempty"` // too large, or too secret, to keep
	Expires     time.Time `json:"expires"`
}

// keyed reports whether an idempotency key counts for the call.
func (r *running) keyed() bool {
	// Repeating a call that only reads is harmless, and its answer would take room; a dry run leaves nothing
	// behind.
	return r.call.IdempotencyKey != "" && r.def.Effect == Writes && !r.call.DryRun
}

// rowKey is the key of a call's row: keys of different users, or scopes, never meet.
func (c *Call) rowKey() string {
	h := sha256.New()
	for _, part := range []string{c.As.Identity(), c.KeyScope, c.IdempotencyKey} {
		h.Write([]byte(part))
		// The zero byte separates the parts: without it, "ab" + "c" and "a" + "bc" would be one key.
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// claim takes the key for the time of the call.
func (e *Engine) claim(call *Call) (release func(), err error) {
	key := call.rowKey()
	// Two processes that share a store do not see each other here. There the second one loses the race for
	// the row, runs again, and finds the stored answer.
	if _, taken := e.busy.LoadOrStore(key, true); taken {
		return nil, fault.Conflict.Errorf("idempotency: a request with this key is in progress").WithCode(fault.CodeIdempotencyInFlight).After(time.Second)
	}
	return func() { e.busy.Delete(key) }, nil
}

// replay takes the answer of an earlier call with the key, if there is one.
func (r *running) replay(tx *storage.Tx) (bool, error) {
	var k kept
	found, err := tx.Table("idempotency").Get(r.call.rowKey(), &k)
	if err != nil || !found || !r.ctx.Now.Before(k.Expires) {
		return false, err
	}
	switch {
	case k.Fingerprint != r.call.Fingerprint:
		return false, fault.Invalid.Errorf("idempotency: the key was used for a different request").WithCode(fault.CodeIdempotencyMismatch)
	// The effect is there but the answer is not. Running the call again would do it twice, so the client has
	// to look.
	case k.Lost:
		return false, fault.Conflict.Errorf("idempotency: the request was executed, but its response was not stored").
			WithCode(fault.CodeIdempotencyAnswerLost)
	}
	r.res.Body, r.res.Void, r.res.Value, r.res.Replayed = k.Body, k.Void, nil, true
	return true, nil
}

// keep stores the answer in the transaction that made it.
func (r *running) keep(tx *storage.Tx) error {
	k := kept{Fingerprint: r.call.Fingerprint, Void: r.res.Void, Body: r.res.Body, Expires: r.ctx.Now.Add(storage.IdempotencyTime)}
	// A secret is shown once: a stored copy could be read by anyone who learns the key.
	if len(k.Body) > r.e.limits.Replies || r.def.Secret {
		k.Body, k.Lost = nil, true
	}
	return tx.Table("idempotency").Put(r.call.rowKey(), k)
}
