package storage

import (
	"cmp"
	"context"
	"io"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// Tx is one transaction seen by one principal: every read and write is checked against the
// principal's permissions. It belongs to one goroutine and ends with the function it was given to.
type Tx struct {
	*session
	as     *Principal
	rights *rights
}

// session is what the views of one transaction share.
type session struct {
	ctx  context.Context
	repo *Repo
	kv   *kv.Tx
	now  time.Time

	cache   *treeCache            // what other transactions of the same epoch know of the tree
	folders map[layout.ID]*Folder // what this one knows
	// Once the transaction has changed the tree itself, the caches of committed state are wrong for it.
	placing     bool                       // it changed the place of a document
	invalidated bool                       // it moved, renamed or protected a folder
	targets     map[layout.ID][2][]byte    // rows of what proxies show, while a list is loaded
	above       map[layout.ID][2][]byte    // rows of folders, while nothing is written
	latest      map[layout.ID][2]layout.ID // by live document: the newest version, the newest major one
	known       map[string]identity        // who has the names in access lists, while nothing is written

	lastPosition int64
	free         freeNames
	claims       *claims
	after        []func()
	pinned       *[]string
	marked       []layout.ID // documents whose terms are to be brought up to date, as far as no row says so
	noted        *uint64     // the number of the first of these rows
	bound        uint64      // when this transaction began, none that had not ended had written rows below
	memory       *row.Memory
	audited      audited
	fed          *int64 // stands for the transaction in the feed
	unfed        bool   // it wrote nothing to the feed, which was not on
	settled      int64  // when this transaction began, none that had not ended had numbers in the feed up to it
	events       int
	depth        int
	// For a dry run: the changes are listed as they are made, since nothing is left of them afterwards.
	record  bool
	changes []Change
	single  []Change // the same one by one
	failed  error    // what went wrong where no error could be returned
}

// Context returns the context the transaction runs under.
func (t *Tx) Context() context.Context { return t.ctx }

// Repo returns the repository.
func (t *Tx) Repo() *Repo { return t.repo }

// Principal returns who acts.
func (t *Tx) Principal() *Principal { return t.as }

// As returns the same transaction for another principal, which shares everything but the rights. Nobody (nil)
// may do nothing. What the system does on behalf of a user is recorded under the user's name, which is kept
// in Actor.
func (t *Tx) As(p *Principal) *Tx {
	switch {
	case p == nil:
		p = &Principal{ReadOnly: true}
	case p.System && p.Actor == "" && !t.as.System:
		system := *p
		system.Actor = t.Actor()
		p = &system
	}
	return &Tx{session: t.session, as: p, rights: t.repo.access.of(p)}
}

// Now returns the transaction's instant, in UTC and whole milliseconds.
func (t *Tx) Now() time.Time { return t.now }

// NewID returns a new identifier.
func (t *Tx) NewID() string { return t.repo.newID() }

// Next returns the next number of a sequence: 1, 2, 3 with gaps. Numbers are leased in blocks outside of the
// transaction, so that two transactions that need one do not conflict; therefore they are not given back when
// the transaction fails.
func (t *Tx) Next(sequence string) (int64, error) {
	if err := t.MayWrite(); err != nil {
		return 0, err
	}
	return t.repo.db.Next(t.ctx, sequence)
}

// Writable reports whether the transaction may write.
func (t *Tx) Writable() bool { return t.kv.Writable() && !t.as.ReadOnly }

// Err returns what went wrong where no error could be returned; it fails the transaction.
func (t *Tx) Err() error { return t.failed }

// Fail makes the transaction fail where no error can be returned.
func (t *Tx) Fail(err error) { t.failed = cmp.Or(t.failed, err) }

// MayWrite returns why the transaction may not write, or nil.
func (t *Tx) MayWrite() error {
	switch {
	case t.as.ReadOnly:
		return errReadOnly()
	case !t.kv.Writable():
		return fault.Invalid.Errorf("transaction: is read-only")
	}
	return nil
}

// Nest runs fn as a part that can fail alone: if it returns an error, what it wrote is undone.
func (t *Tx) Nest(fn func() error) (err error) {
	s := *t.session
	s.changes = append([]Change(nil), t.changes...)
	done := false
	defer func() {
		if done && err == nil {
			return
		}
		events := t.events
		*t.session = s
		t.events, t.folders, t.latest, t.memory = events, nil, nil, nil
	}()
	err = t.kv.Nest(fn)
	done = true
	return err
}

// AfterCommit has fn run once after the transaction is committed.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// NewBlob takes content in; it is kept once a document that holds it is saved.
func (t *Tx) NewBlob(name, typ string, r io.Reader) (*Blob, error) {
	return t.repo.blobs.Spool(t.ctx, name, typ, r, t.repo.limits.BlobSize)
}

// clockSlack is how far ahead of the clock a stored moment may be: clocks are corrected by that much as they run.
const clockSlack = time.Minute

// Recent reports whether less than a span has passed since a stored moment. A moment that is ahead of now was written
// before the clock was set back, and is not recent, so that nothing lasts or waits for longer than its span because of it.
func Recent(now, at time.Time, span time.Duration) bool {
	passed := now.Sub(at)
	return -clockSlack <= passed && passed < span
}
