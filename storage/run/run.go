// Package run keeps asynchronous runs: calls that a server carries out after it has answered the request. A run is a row
// from its beginning until its result expires, so that any server of the store answers what becomes of it, and it rests
// on the lease of the server that carries it out. If that server is lost, the run is too: it is not begun again, since
// nobody knows what it has done outside.
//
// The end of a call that writes is stored in the call's own transaction: either both are there or neither is. A run is
// declared lost, or removed, by a change of the same row, so that a server which only seemed to be lost cannot commit the call
// afterwards. What is shown of a result is for the entry point to say: here it is bytes, and files that are held.
package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/internal/row"
)

// Run is an asynchronous run.
type Run struct {
	ID string
	storage.Owned
	Op         string
	Repository string
	Lease      string // of the server that carries it out
	ReadOnly   bool   `json:",omitempty"` // it was begun with a key that only reads
	Began      time.Time
	Reply      json.RawMessage `json:",omitempty"` // how the result is shown

	Ended   time.Time       `json:",omitzero"`  // zero: it runs
	EndedBy string          `json:",omitempty"` // who canceled it, until its server has noticed
	Command string          `json:",omitempty"` // the bulk command that it has begun, whose end is its own
	Failure *Failure        `json:",omitempty"` // nil: it went well
	Size    int64           `json:",omitempty"` // of the result, in bytes
	Holder  string          `json:",omitempty"` // of the contents below
	Body    *storage.Blob   `json:",omitempty"` // a body too large for a row
	Files   []*storage.Blob `json:",omitempty"`
	Expires time.Time       `json:"expires,omitzero"`
}

// Failure is why a run failed, as the entry point shows it.
type Failure struct {
	Word    string          // of the code, or else of the kind
	Wait    time.Duration   `json:",omitempty"` // until trying again may go better
	Problem json.RawMessage // the body of the answer
}

// Result is what a run has returned: one of a value, a body and files, or nothing.
type Result struct {
	Value json.RawMessage `json:",omitempty"` // shown as it may be read when it is asked for
	Body  []byte          `json:",omitempty"` // shown as it is
	On    json.RawMessage `json:",omitempty"` // what the call was made on, which has to be readable still
	Docs  []string        `json:",omitempty"` // documents that a body shows, which have to be readable still

	Files   []*storage.Blob `json:"-"`
	List    bool            `json:",omitempty"` // of files, which may be one
	Command string          `json:"-"`
}

// Limits bound what is kept.
type Limits struct {
	All, User int   // runs, of all users and of one
	Results   int64 // bytes of the results of a user that were not read
	Keep      time.Duration
}

// mark is the row by which the runs of a user are found and counted.
type mark struct {
	Ended   time.Time `json:",omitzero"`
	Size    int64     `json:",omitempty"`
	Read    bool      `json:",omitempty"` // the result was fetched, and gives way to others
	Expires time.Time `json:"expires,omitzero"`
}

var (
	runs    = row.Secret{Name: "asyncruns"}
	owners  = row.Secret{Name: "asyncrunowners"}
	results = row.Secret{Name: "asyncrunresults"}
)

// topic wakes servers when a run is canceled.
const topic = "asyncruns"

// maxRowBody is the largest body that is kept in a row; others are kept with the content of files.
const maxRowBody = 64 << 10

func markKey(o storage.Owned, id string) string { return o.Identity() + "/" + id }

func missing(id string) error { return fault.NotFound.Errorf("asynchronous run %s", id) }

func onlyServer(tx *storage.Tx, id string) error {
	if !tx.Principal().System {
		return fault.Denied.Errorf("asynchronous run %s: cannot be written by a client", id)
	}
	return nil
}

// get returns a run to any caller; nil if there is none, or it has expired.
func get(tx *storage.Tx, id string) (*Run, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // as said
	}
	r := new(Run)
	found, err := tx.Secret(runs).Get(id, r)
	if err != nil || !found || !r.Expires.IsZero() && tx.Now().After(r.Expires) {
		return nil, err
	}
	return r, nil
}

// Find returns a run to the one who began it and to administrators; for others there is none.
func Find(tx *storage.Tx, id string) (*Run, error) {
	r, err := get(tx, id)
	if err == nil && (r == nil || !r.seenBy(tx.Principal())) {
		err = missing(id)
	}
	return r, err
}

func (r *Run) seenBy(p *storage.Principal) bool { return p.Admin || r.Owned == storage.OwnedBy(p) }

// Over reports whether the run has ended.
func (r *Run) Over() bool { return !r.Ended.IsZero() }

// Lost reports whether the run has not ended and its server is lost.
func (r *Run) Lost(tx *storage.Tx) (bool, error) {
	if r.Over() {
		return false, nil
	}
	lives, err := cluster.Lives(tx.As(tx.Repo().System()), r.Lease)
	return err == nil && !lives, err
}

// Load returns the result of a run that went well.
func (r *Run) Load(tx *storage.Tx) (*Result, error) {
	if !r.seenBy(tx.Principal()) {
		return nil, missing(r.ID)
	}
	out := new(Result)
	if found, err := tx.Secret(results).Get(r.ID, out); err != nil || !found {
		return nil, errors.Join(err, missing(r.ID))
	}
	if r.Body != nil {
		var err error
		if out.Body, err = hold.Load(tx, *r.Body).Bytes(r.Body.Size); err != nil {
			return nil, err
		}
	}
	for _, f := range r.Files {
		out.Files = append(out.Files, hold.Load(tx, *f))
	}
	out.Command = r.Command
	return out, nil
}

// Begin stores a run that is about to begin on the server of a lease, in a transaction of the server's own. Runs whose result
// was read give way to it.
func Begin(tx *storage.Tx, r *Run, lease *cluster.Lease, l Limits) error {
	if err := onlyServer(tx, r.ID); err != nil {
		return err
	}
	if err := makeRoom(tx, r.Owned, l); err != nil {
		return err
	}
	if err := lease.Take(tx); err != nil {
		return err
	}
	r.Lease, r.Began = lease.ID(), tx.Now()
	return errors.Join(tx.Secret(runs).Create(r.ID, r), tx.Secret(owners).Put(markKey(r.Owned, r.ID), mark{}))
}

// End stores how a run has ended: in the transaction of the call, or in one of the server's own. It is an error if the run
// was removed, canceled or declared lost before: the transaction must not be committed then.
func End(tx *storage.Tx, id string, res *Result, f *Failure, l Limits) error {
	tx = tx.As(tx.Repo().System())
	r, err := get(tx, id)
	switch {
	case err != nil:
		return err
	case r == nil:
		return fault.Conflict.Errorf("run %s: was canceled", id).WithCode(fault.CodeRunEnded)
	case r.Over():
		return ErrLost(id)
	case r.EndedBy != "" && f == nil:
		return fault.Conflict.Errorf("run %s: was canceled by %s", id, r.EndedBy).WithCode(fault.CodeRunEnded)
	}
	r.Ended, r.Expires, r.Failure = tx.Now(), tx.Now().Add(l.Keep), f
	if res != nil {
		if err := r.keep(tx, res, l); err != nil {
			return err
		}
	}
	return r.put(tx)
}

func (r *Run) put(tx *storage.Tx) error {
	return errors.Join(tx.Secret(runs).Put(r.ID, r),
		tx.Secret(owners).Put(markKey(r.Owned, r.ID), mark{Ended: r.Ended, Size: r.Size, Expires: r.Expires}))
}

// ErrFull is the error of a result that there is no room for. The operation was executed.
type ErrFull struct{ Waiting, Limit int64 }

// Error names both sizes.
func (e *ErrFull) Error() string {
	return fmt.Sprintf("asynchronous runs: results of %d bytes are waiting to be read, which this one would raise above %d; the operation was executed", e.Waiting, e.Limit)
}

// Unwrap marks it.
func (e *ErrFull) Unwrap() error { return fault.Limit.New(e.Error()).WithCode(fault.CodeResultsFull) }

// keep stores the result.
func (r *Run) keep(tx *storage.Tx, res *Result, l Limits) error {
	r.Size, r.Command = res.size(), res.Command
	if err := r.fits(tx, l); err != nil {
		return err
	}
	stored := *res
	if len(res.Body) > maxRowBody {
		r.Body, stored.Body = blob.FromBytes("", "application/octet-stream", res.Body), nil
	}
	r.Files = res.Files
	for _, b := range r.contents() {
		if r.Holder == "" {
			r.Holder = tx.Repo().NewID()
		}
		if err := hold.Keep(tx, r.Holder, b); err != nil {
			return err
		}
	}
	return tx.Secret(results).Put(r.ID, stored)
}

func (r *Run) contents() []*storage.Blob {
	if r.Body == nil {
		return r.Files
	}
	return append(r.Files[:len(r.Files):len(r.Files)], r.Body)
}

// size is what a result takes, in bytes. The content of files is not counted: their size is limited by itself.
func (res *Result) size() int64 {
	n := len(res.Value) + len(res.Body) + len(res.On)
	for _, id := range res.Docs {
		n += len(id)
	}
	return int64(n)
}

// Remove forgets a run; its server notices if it has not ended.
func (r *Run) Remove(tx *storage.Tx) error {
	if !r.seenBy(tx.Principal()) {
		return missing(r.ID)
	}
	if err := r.mayEnd(tx.Principal()); err != nil {
		return err
	}
	if !r.Over() {
		inside(tx).KV().Wake(topic)
	}
	return r.drop(tx.As(tx.Repo().System()))
}

func (r *Run) drop(tx *storage.Tx) error {
	for _, b := range r.contents() {
		if err := hold.Release(tx, r.Holder, b.Digest); err != nil {
			return err
		}
	}
	return errors.Join(tx.Secret(runs).Delete(r.ID), tx.Secret(results).Delete(r.ID), tx.Secret(owners).Delete(markKey(r.Owned, r.ID)))
}

// mayEnd refuses anyone who may only read to end what may write.
func (r *Run) mayEnd(p *storage.Principal) error {
	if p.ReadOnly && !r.ReadOnly {
		return fault.Denied.Errorf("run %s: the key is read-only", r.ID).WithCode(fault.CodeInsufficientScope)
	}
	return nil
}

// Cancel has the server of a run end it, in the name of the principal. Of a run that has ended nothing is left to be
// canceled.
func Cancel(tx *storage.Tx, id string) error {
	p := tx.Principal()
	r, err := Find(tx, id)
	if err == nil && r.Over() {
		err = missing(id)
	}
	if err == nil {
		err = r.mayEnd(p)
	}
	if err != nil {
		return err
	}
	r.EndedBy = p.Name
	inside(tx).KV().Wake(topic)
	return tx.As(tx.Repo().System()).Secret(runs).Put(id, r)
}

// Fetched notes that the result of a run is being read.
func (r *Run) Fetched(tx *storage.Tx) error {
	if err := onlyServer(tx, r.ID); err != nil {
		return err
	}
	var m mark
	key := markKey(r.Owned, r.ID)
	found, err := tx.Secret(owners).Get(key, &m)
	if err != nil || !found || m.Read {
		return err
	}
	m.Read = true
	return tx.Secret(owners).Put(key, m)
}

// WasFetched reports whether the result of a run has been read already.
func (r *Run) WasFetched(tx *storage.Tx) (bool, error) {
	var m mark
	_, err := tx.Secret(owners).Get(markKey(r.Owned, r.ID), &m)
	return m.Read, err
}

// Canceled returns which of some runs are to be ended, and in whose name: "" of those that were removed.
func Canceled(tx *storage.Tx, ids []string) (map[string]string, error) {
	if err := onlyServer(tx, "of this server"); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, id := range ids {
		switch r, err := get(tx, id); {
		case err != nil:
			return nil, err
		case r == nil || r.Over():
			out[id] = ""
		case r.EndedBy != "":
			out[id] = r.EndedBy
		}
	}
	return out, nil
}

// Watch returns a channel that receives when a run may have been canceled.
func Watch(r *storage.Repo) (canceled <-chan struct{}, stop func()) {
	return r.Internal(row.Ordered{}).Store().Watch(topic)
}

// Hold keeps the store open until done is called, for the end of a run that begins.
func Hold(r *storage.Repo) (done func()) { return r.Internal(row.Ordered{}).Work() }

// ErrLost is the error of a run whose server was lost.
func ErrLost(id string) error {
	return fault.Conflict.Errorf("asynchronous run %s: the server that carried it out has stopped; what it had not committed was undone", id).WithCode(fault.CodeRunLost)
}

// Lose declares a run lost, unless it has ended or its server lives; show makes what is shown of that. It is called in a
// transaction of the server's own, and returns the run as it is then; nil if it is gone.
func Lose(tx *storage.Tx, id string, l Limits, show func(error) *Failure) (*Run, error) {
	if err := onlyServer(tx, id); err != nil {
		return nil, err
	}
	r, err := get(tx, id)
	if err != nil || r == nil {
		return nil, err
	}
	lost, err := r.Lost(tx)
	if err != nil || !lost {
		return r, err
	}
	r.Ended, r.Expires, r.Failure = tx.Now(), tx.Now().Add(l.Keep), show(ErrLost(id))
	return r, r.put(tx)
}

func inside(tx *storage.Tx) storage.Internal { return tx.Internal(row.Ordered{}) }
