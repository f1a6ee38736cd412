package storage

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
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
	held   held // what Permissions found last
}

// session is what the views of one transaction share.
type session struct {
	ctx  context.Context
	repo *catalog // the repository, with the declarations of the transaction
	kv   *kv.Tx
	now  time.Time

	cache   *treeCache            // what other transactions of the same epoch know of the tree
	folders map[layout.ID]*Folder // what this one knows
	// Once the transaction has changed the tree itself, the caches of committed state are wrong for it.
	placing     bool // it changed the place of a document
	invalidated bool // it moved, renamed or protected a folder
	companies   companies
	above       map[layout.ID][2][]byte    // rows of folders, while nothing is written
	latest      map[layout.ID][2]layout.ID // by live document: the newest version, the newest major one
	known       map[string]identity        // who has the names in access lists, while nothing is written
	place       []byte                     // the row of the tree that a path led to last, while nothing is written
	placeOf     layout.ID

	indexes      *automaticSet // that the server declared itself
	ready        *readyIndexes // those that have all their rows
	lastPosition int64
	free         freeNames
	wanted       childName // whose row was fetched with the first ones
	claims       *claims
	after        []func()
	pinned       *[]string
	marked       []layout.ID // documents whose terms are to be brought up to date, as far as no row says so
	stale        *staleTerms // if it reads only, and was asked
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

	inquiries *inquiries // nil: the transaction only reads
	again     bool       // the attempt before was abandoned for one of them
}

// Context returns the context the transaction runs under.
func (t *Tx) Context() context.Context { return t.ctx }

// Repo returns the repository.
func (t *Tx) Repo() *Repo { return t.repo.Repo }

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

// Findings keep what transactions of one caller have found out, most of it while none of them was open. The zero value is ready.
type Findings struct {
	mu    sync.Mutex
	known map[any]finding
	asked int // attempts that were abandoned
}

// finding is what an inquiry gave.
type finding struct {
	value any
	err   error
}

// inquiry is what is to be found out.
type inquiry struct {
	what any
	find func(context.Context) (any, error)
}

// inquiries are those of one call of Update.
type inquiries struct {
	*Findings
	wanted *inquiry // what the current attempt was abandoned for; nil: it goes on
	again  bool     // the attempt before was abandoned
}

// Bounds of what is found out outside of transactions: attempts of one caller that are abandoned, after which the rest is
// found out within the transaction, and answers that are kept.
const (
	maxInquiries = 32
	maxFindings  = 4096
)

// ErrAgain ends an attempt at a transaction that begins again. Nothing that is done after it lasts.
var ErrAgain = errors.New("the transaction begins again")

// FindingsKey is the key of the *Findings in a context whose transactions share what was found out. With any other context, each
// call of Update has one of its own.
type FindingsKey struct{}

// Outside returns what find gives for something that is slow to find out, such as what a program says of a file. Find depends
// on nothing but what, which tells inquiries apart, and does not use the transaction: this attempt is abandoned with
// ErrAgain, find is called while no transaction is open, and the next attempt gets what it gave, as does every later one.
// So a slow program does not keep a transaction open, and is not run again when the transaction has lost a race.
// Nobody changes the value.
func Outside(t *Tx, what any, find func(context.Context) (any, error)) (any, error) {
	o := t.inquiries
	if o == nil {
		return find(t.ctx)
	}
	if o.wanted != nil {
		return nil, ErrAgain
	}
	if _, ok := o.find(what); !ok && o.ask() {
		o.wanted = &inquiry{what, find}
		return nil, ErrAgain
	}
	return Once(t, what, find)
}

// Once is Outside for what takes only a moment: the transaction stays open while find is called, and begins again only if it loses a
// race, when it gets what find gave.
func Once(t *Tx, what any, find func(context.Context) (any, error)) (any, error) {
	o := t.inquiries
	if o == nil {
		return find(t.ctx)
	}
	known, ok := o.find(what)
	if !ok {
		known = o.inquire(t.ctx, inquiry{what, find})
	}
	return known.value, known.err
}

// Abandoned reports whether the attempt has ended with ErrAgain, whatever has become of that error.
func Abandoned(t *Tx) bool { return t.inquiries != nil && t.inquiries.wanted != nil }

// Inside returns the context for a transaction that is to be committed while t is open, whatever becomes of t. Without it, that one waits for
// t in vain if t has lost so often that it holds up all others.
func Inside(ctx context.Context, t *Tx) context.Context { return t.kv.Inside(ctx) }

// Again reports whether the attempt follows one that was abandoned.
func Again(t *Tx) bool { return t.again }

func (o *Findings) find(what any) (finding, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f, ok := o.known[what]
	return f, ok
}

// ask reports whether one more attempt may be abandoned.
func (o *Findings) ask() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	return o.asked <= maxInquiries
}

// inquire finds something out, and keeps it unless the caller has gone.
func (o *Findings) inquire(ctx context.Context, q inquiry) finding {
	v, err := q.find(ctx)
	f := finding{v, err}
	if err != nil && ctx.Err() != nil {
		return f
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[any]finding{}
	}
	if len(o.known) < maxFindings {
		o.known[q.what] = f
	}
	return f
}

// clockSlack is how far ahead of the clock a stored moment may be: clocks are corrected by that much as they run.
const clockSlack = time.Minute

// Recent reports whether less than a span has passed since a stored moment. A moment that is ahead of now was written
// before the clock was set back, and is not recent, so that nothing lasts or waits for longer than its span because of it.
func Recent(now, at time.Time, span time.Duration) bool {
	passed := now.Sub(at)
	return -clockSlack <= passed && passed < span
}
