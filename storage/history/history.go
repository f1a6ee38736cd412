// Package history keeps records of finished calls for a time, with their input, parameters and steps, so that callers
// and administrators can read, compare and repeat them. Secrets are left out. Which calls are kept is decided by the
// engine.
//
// A run that failed, or that somebody stopped, is two rows that expire together: what lists show, and the details, so that a list reads little. It
// is written before its caller is answered, with a marker under its owner, by which they are counted: both numbers
// are bounded whenever one is kept. Runs that went well are written later, many in a block, and are counted when they are
// swept, so that recording one costs little; how many come in between is bounded by the engine.
package history

import (
	"encoding/json"
	"errors"
	"iter"
	"net/netip"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// The states of a run that has ended.
const (
	Done    = "done"
	Failed  = "failed"
	Stopped = "stopped" // by somebody
)

// Run is a call that has ended.
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
	Began      string        `json:",omitempty"` // id of the run that began the chain which went on with this one, after a wait
	Start      time.Time     // when it began
	Duration   time.Duration // until it ended
	Internal   bool          `json:",omitempty"` // a fault of the server
	Code       string        `json:",omitempty"` // word of the error; "": it went well
	Error      string        `json:",omitempty"`
	StoppedBy  string        `json:",omitempty"` // who stopped it; "": nobody did. Runs of older versions that were stopped do not have it
	Expires    time.Time     `json:"expires"`
}

// State is how the run ended.
func (r *Run) State() string {
	switch {
	case r.StoppedBy != "":
		return Stopped
	case r.Code != "":
		return Failed
	}
	return Done
}

// End is when the run ended.
func (r *Run) End() time.Time { return r.Start.Add(r.Duration) }

// Details are what lists do not show of a run.
type Details struct {
	Input   json.RawMessage `json:",omitempty"`
	Params  json.RawMessage `json:",omitempty"`
	Context json.RawMessage `json:",omitempty"`
	Left    []string        `json:",omitempty"` // what was asked and is not kept: secrets, files, what is too large
	Trace   json.RawMessage `json:",omitempty"`
	Steps   *Unpacker       `json:"-"` // what stands for Trace if it was packed
	Expires time.Time       `json:"expires,omitzero"`
}

// Limits bound what is kept.
type Limits struct {
	All, User int // runs of all users, and of one
}

// mark is the row by which the failed runs of a user are found.
type mark struct {
	Expires time.Time `json:"expires"`
}

// The tables of runs that failed are older than those of runs that went well. Servers of the version before keep a row each of
// runs that went well, and know nothing of blocks.
var (
	failed        = row.Secret{Name: "failedruns"}
	failedDetails = row.Secret{Name: "failedrundetails"}
	failedOwners  = row.Secret{Name: "failedrunowners"}
	done          = row.Secret{Name: "runs"}
	doneDetails   = row.Secret{Name: "rundetails"}
	// parts are marks by the id of the run that began a chain and that of one with which it went on.
	parts = row.Secret{Name: "runparts"}
)

func ownerKey(r *Run) string { return r.Identity() + "/" + r.ID }

// doneKey has the owner behind the id, so that runs are counted without reading them.
func doneKey(r *Run) string { return r.ID + "/" + r.Identity() }

// Ended is a run with its details.
type Ended struct {
	Run     Run
	Details Details
	Steps   func(*Packer) // packs what stands for the trace; nil: nothing does
}

// Keep keeps runs that went well. Only the server does.
func Keep(tx *storage.Tx, all []Block) error {
	if !tx.Principal().System {
		return refused("runs")
	}
	for i := range all {
		if err := all[i].keep(tx); err != nil {
			return err
		}
		for j := range all[i].marks {
			if err := keepPart(tx, &all[i].marks[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// KeepRows keeps runs that went well in the form that servers of the version before read, a row each.
func KeepRows(tx *storage.Tx, ended []Ended) error {
	if !tx.Principal().System {
		return refused("runs")
	}
	var p packed
	var raw, row []byte // the store copies rows, so one run is written after the other here
	for i := range ended {
		e := &ended[i]
		var err error
		if raw, err = p.pack(&e.Details, raw); err != nil {
			return err
		}
		if row, err = e.Run.appendJSON(row[:0]); err != nil {
			return fault.Internal.Errorf("run %s: %w", e.Run.ID, err)
		}
		if err := tx.Secret(done).PutRow(doneKey(&e.Run), row); err != nil {
			return err
		}
		row = p.appendJSON(row[:0])
		if err := errors.Join(tx.Secret(doneDetails).PutRow(e.Run.ID, row), keepPart(tx, &e.Run)); err != nil {
			return err
		}
	}
	return nil
}

func refused(what string) error {
	return fault.Denied.Errorf("%s: cannot be written by a client", what)
}

// KeepFailed keeps a run that failed or was stopped, and forgets the oldest of its owner, and of all, beyond the limits. Only the
// server does.
func KeepFailed(tx *storage.Tx, r Run, d Details, l Limits) error {
	if !tx.Principal().System {
		return refused("run " + r.ID)
	}
	if err := makeRoom(tx, &r, l); err != nil {
		return err
	}
	d.Expires = r.Expires
	return errors.Join(
		tx.Secret(failed).Put(r.ID, r),
		tx.Secret(failedDetails).Put(r.ID, d),
		tx.Secret(failedOwners).Put(ownerKey(&r), mark{r.Expires}),
		keepPart(tx, &r),
	)
}

// ForgetDone forgets a run that went well, if there is one of the id: what it began was stopped, as which it is kept instead.
func ForgetDone(tx *storage.Tx, id string) error {
	if !tx.Principal().System {
		return refused("run " + id)
	}
	var in string
	err := holding(tx, id, func(key string, heads []byte) bool {
		runs, err := runsOf(heads)
		if _, found := placeOf(runs, id); err == nil && found {
			in = key
		}
		return in == ""
	})
	if err != nil {
		return err
	}
	if in != "" {
		return rewrite(tx, in, func(r *Run) bool { return r.ID != id })
	}
	for v, err := range storage.Records[Run](tx.Secret(done), id+"/", id+"0", 1) {
		return errors.Join(err, removeRows(tx, []string{doneKey(&v)}))
	}
	return nil
}

func keepPart(tx *storage.Tx, r *Run) error {
	if r.Began == "" {
		return nil
	}
	return tx.Secret(parts).Put(r.Began+"/"+r.ID, mark{r.Expires})
}

// maxParts is how many parts of a chain are listed.
const maxParts = 200

// Parts returns the runs with which a chain went on that the run of an id began, oldest first, as far as the caller may see them.
func Parts(tx *storage.Tx, id string) (out []Run, err error) {
	var ids []string
	for key := range tx.Secret(parts).Scan(id+"/", id+"0", false, maxParts) {
		ids = append(ids, key[strings.LastIndexByte(key, '/')+1:])
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	for _, part := range ids {
		r, _, err := find(tx, part)
		if fault.Is(err, fault.NotFound) { // it was forgotten before its mark
			continue
		}
		if err != nil {
			return nil, err
		}
		r.Hide(tx)
		out = append(out, r)
	}
	return out, nil
}

// makeRoom forgets runs that failed until there is room for one more.
func makeRoom(tx *storage.Tx, r *Run, l Limits) error {
	type rowKey struct{ key, id string }
	var all []rowKey
	own, oldest, oldestOwn := 0, -1, -1
	prefix := r.Identity() + "/"
	for key := range tx.Secret(failedOwners).Scan("", "", false, 0) {
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
		tx.Secret(failed).Delete(all[drop].id),
		tx.Secret(failedDetails).Delete(all[drop].id),
		tx.Secret(failedOwners).Delete(all[drop].key),
	)
}

// Filter chooses runs; what is empty chooses all.
type Filter struct {
	State                   string
	Op, User, Code, Request string
	Since, Until            time.Time // that began then or later, that began before
	Before                  string    // older than the run of this id
	Limit                   int       // at most
}

// Fits reports whether a run is one of those chosen.
func (f *Filter) Fits(r *Run) bool {
	return (f.State == "" || f.State == r.State()) && (f.Op == "" || f.Op == r.Op) && (f.User == "" || f.User == r.Owner) &&
		(f.Code == "" || fault.Spelled(f.Code) == fault.Spelled(r.Code)) && (f.Request == "" || f.Request == r.Request) &&
		!r.Start.Before(f.Since) && (f.Until.IsZero() || r.Start.Before(f.Until)) && (f.Before == "" || r.ID < f.Before)
}

// List returns runs, newest first: of all users for administrators, of their own for others. More says that
// there are older ones.
func List(tx *storage.Tx, f *Filter) (out []Run, more bool, err error) {
	from := []iter.Seq2[*Run, error]{seen(tx, failed, f), seen(tx, done, f), seenInBlocks(tx, f)}
	switch f.State {
	case Failed, Stopped:
		from = from[:1]
	case Done:
		from = from[1:]
	}
	next := make([]func() (*Run, error, bool), len(from))
	head := make([]*Run, len(from))
	for i, runs := range from {
		var stop func()
		next[i], stop = iter.Pull2(runs)
		defer stop()
	}
	advance := func(i int) (err error) {
		head[i], err, _ = next[i]()
		return err
	}
	for i := range from {
		if err := advance(i); err != nil {
			return nil, false, err
		}
	}
	last := "" // a chain that was stopped may be told before the run that began it is written
	for {
		newest := -1
		for i, r := range head {
			if r != nil && (newest < 0 || r.ID > head[newest].ID) {
				newest = i
			}
		}
		switch {
		case newest < 0:
			return out, false, tx.Err()
		case len(out) == f.Limit:
			return out, true, tx.Err()
		}
		if head[newest].ID != last {
			head[newest].Hide(tx)
			out = append(out, *head[newest])
			last = head[newest].ID
		}
		if err := advance(newest); err != nil {
			return nil, false, err
		}
	}
}

// seen walks the runs of a table that fit and that the caller may see, newest first.
func seen(tx *storage.Tx, t row.Secret, f *Filter) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		for _, raw := range tx.Secret(t).Scan("", f.Before, true, 0) {
			r := new(Run)
			if err := json.Unmarshal(raw, r); err != nil {
				yield(nil, fault.Internal.Errorf("runs: %w", err))
				return
			}
			if r.SeenBy(tx) && f.Fits(r) && !yield(r, nil) {
				return
			}
		}
	}
}

// Get returns a run with all that is kept of it. It is an error of kind NotFound if there is none, or it is not for
// the caller to see.
func Get(tx *storage.Tx, id string) (r Run, d Details, err error) {
	r, details, err := find(tx, id)
	if err == nil {
		d, err = details()
	}
	if err != nil {
		return Run{}, Details{}, err
	}
	if r.Hide(tx) {
		d.Trace, d.Steps = nil, nil
	}
	return r, d, nil
}

// find returns a run that the caller may see, and what reads its details.
func find(tx *storage.Tx, id string) (r Run, details func() (Details, error), err error) {
	if id == "" || strings.IndexByte(id, '/') >= 0 {
		return r, nil, missing(id)
	}
	for _, in := range []func(tx *storage.Tx, id string) (Run, func() (Details, error), error){findFailed, findInBlocks, findDone} {
		if r, details, err = in(tx, id); err != nil {
			return Run{}, nil, err
		}
		if details != nil && r.SeenBy(tx) {
			return r, details, nil
		}
	}
	return Run{}, nil, missing(id)
}

func findFailed(tx *storage.Tx, id string) (r Run, details func() (Details, error), err error) {
	if ok, err := tx.Secret(failed).Get(id, &r); err != nil || !ok {
		return r, nil, err
	}
	return r, func() (d Details, err error) {
		_, err = tx.Secret(failedDetails).Get(id, &d)
		return d, err
	}, nil
}

func findDone(tx *storage.Tx, id string) (r Run, details func() (Details, error), err error) {
	for v, err := range storage.Records[Run](tx.Secret(done), id+"/", id+"0", 1) {
		return v, func() (d Details, err error) {
			var p packed
			ok, err := tx.Secret(doneDetails).Get(id, &p)
			if err == nil && ok {
				err = p.unpack(&d)
			}
			return d, err
		}, err
	}
	return r, nil, nil
}

func missing(id string) error { return fault.NotFound.Errorf("run %s", id) }

// SeenBy reports whether the run is for the caller to see.
func (r *Run) SeenBy(tx *storage.Tx) bool {
	p := tx.Principal()
	return !tx.Now().After(r.Expires) && (p.Admin || r.Owned == storage.OwnedBy(p))
}

// Hide takes out what the server's own faults say, which is for administrators alone, and reports whether it did.
func (r *Run) Hide(tx *storage.Tx) bool {
	if !r.Internal || tx.Principal().Admin {
		return false
	}
	r.Error = "the server failed"
	return true
}
