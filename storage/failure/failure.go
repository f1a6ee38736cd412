// Package failure keeps the calls that failed for a time, with their input and parameters, so that their callers and
// administrators can read them and repeat them. Secrets are left out. Which failures are kept is decided by the engine.
//
// A run is three rows that expire together: what lists show, the details, and a marker under its owner, by
// which a user's runs are counted. Both numbers are bounded, so that a program that fails in a loop fills
// neither the store nor the list of others.
package failure

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// Run is a call that failed.
type Run struct {
	ID string // in the order of time
	storage.Owned
	Repository string
	Op         string
	Version    int64 `json:",omitempty"` // of the chain or script that Op is made of; 0: it is built in
	// The member keeps the name under which older stores have it.
	EntryPoint string        `json:"Door"`       // where it came from
	Request    string        `json:",omitempty"` // id of the request it came with
	Remote     netip.Addr    `json:",omitzero"`  // address of the client
	Repeats    string        `json:",omitempty"` // id of the run it was to repeat
	Start      time.Time     // when it began
	Duration   time.Duration // until it failed
	Internal   bool          `json:",omitempty"` // a fault of the server
	Code       string        // word of the error
	Error      string
	Expires    time.Time `json:"expires"`
}

// Details are what lists do not show of a run.
type Details struct {
	Input   json.RawMessage `json:",omitempty"`
	Params  json.RawMessage `json:",omitempty"`
	Context json.RawMessage `json:",omitempty"`
	Left    []string        `json:",omitempty"` // what was asked and is not kept: secrets, files, what is too large
	Trace   json.RawMessage `json:",omitempty"`
	Expires time.Time       `json:"expires"`
}

// Limits bound what is kept.
type Limits struct {
	All, User int // runs of all users, and of one
}

// mark is the row by which the runs of a user are found.
type mark struct {
	Expires time.Time `json:"expires"`
}

var (
	runs    = row.Secret{Name: "failedruns"}
	details = row.Secret{Name: "failedrundetails"}
	owners  = row.Secret{Name: "failedrunowners"}
)

func ownerKey(r *Run) string { return r.Identity() + "/" + r.ID }

// Keep keeps a run, and forgets the oldest of its owner, and of all, beyond the limits. Only the server does.
func Keep(tx *storage.Tx, r Run, d Details, l Limits) error {
	if !tx.Principal().System {
		return fault.Denied.Errorf("run %s: cannot be written by a client", r.ID)
	}
	if err := makeRoom(tx, &r, l); err != nil {
		return err
	}
	d.Expires = r.Expires
	return errors.Join(
		tx.Secret(runs).Put(r.ID, r),
		tx.Secret(details).Put(r.ID, d),
		tx.Secret(owners).Put(ownerKey(&r), mark{r.Expires}),
	)
}

// makeRoom forgets runs until there is room for one more.
func makeRoom(tx *storage.Tx, r *Run, l Limits) error {
	type rowKey struct{ key, id string }
	var all []rowKey
	own, oldest, oldestOwn := 0, -1, -1
	prefix := r.Identity() + "/"
	for key := range tx.Secret(owners).Scan("", "", false, 0) {
		at := rowKey{key, key[strings.LastIndexByte(key, '/')+1:]}
		all = append(all, at)
		i := len(all) - 1
		if oldest < 0 || at.id < all[oldest].id {
			oldest = i
		}
		if key[:len(key)-len(at.id)] == prefix {
			own++
			if oldestOwn < 0 {
				oldestOwn = i
			}
		}
	}
	drop := -1
	switch {
	case own >= l.User:
		drop = oldestOwn
	case len(all) >= l.All:
		drop = oldest
	}
	if drop < 0 {
		return tx.Err()
	}
	return errors.Join(
		tx.Err(),
		tx.Secret(runs).Delete(all[drop].id),
		tx.Secret(details).Delete(all[drop].id),
		tx.Secret(owners).Delete(all[drop].key),
	)
}

// Filter chooses runs; what is empty chooses all.
type Filter struct {
	Op, User, Code, Request string
	Since                   time.Time // that began then or later
	Before                  string    // older than the run of this id
	Limit                   int       // at most
}

func (f *Filter) fits(r *Run) bool {
	return (f.Op == "" || f.Op == r.Op) && (f.User == "" || f.User == r.Owner) && (f.Code == "" || fault.Spelled(f.Code) == fault.Spelled(r.Code)) &&
		(f.Request == "" || f.Request == r.Request) && !r.Start.Before(f.Since)
}

// List returns runs, newest first: of all users for administrators, of their own for others. More says that
// there are older ones.
func List(tx *storage.Tx, f Filter) (out []Run, more bool, err error) {
	for _, raw := range tx.Secret(runs).Scan("", f.Before, true, 0) {
		var r Run
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, false, fault.Internal.Errorf("failed runs: %w", err)
		}
		if !r.seenBy(tx) || !f.fits(&r) {
			continue
		}
		if len(out) == f.Limit {
			return out, true, nil
		}
		r.hide(tx)
		out = append(out, r)
	}
	return out, false, tx.Err()
}

// Get returns a run with all that is kept of it. It is an error of kind NotFound if there is none, or it is not for
// the caller to see.
func Get(tx *storage.Tx, id string) (r Run, d Details, err error) {
	if id == "" {
		return r, d, missing(id)
	}
	ok, err := tx.Secret(runs).Get(id, &r)
	if err == nil && (!ok || !r.seenBy(tx)) {
		err = missing(id)
	}
	if err != nil {
		return Run{}, d, err
	}
	if _, err = tx.Secret(details).Get(id, &d); err != nil {
		return Run{}, d, err
	}
	if r.hide(tx) {
		d.Trace = nil
	}
	return r, d, nil
}

func missing(id string) error { return fault.NotFound.Errorf("run %s", id) }

func (r *Run) seenBy(tx *storage.Tx) bool {
	p := tx.Principal()
	return !tx.Now().After(r.Expires) && (p.Admin || r.Owned == storage.OwnedBy(p))
}

// hide takes out what the server's own faults say, which is for administrators alone, and reports whether it did.
func (r *Run) hide(tx *storage.Tx) bool {
	if !r.Internal || tx.Principal().Admin {
		return false
	}
	r.Error = "the server failed"
	return true
}

// Sweep forgets what was kept long enough.
func Sweep(ctx context.Context, repo *storage.Repo) error {
	return errors.Join(repo.SweepExpired(ctx, runs, 0), repo.SweepExpired(ctx, details, 0), repo.SweepExpired(ctx, owners, 0))
}
