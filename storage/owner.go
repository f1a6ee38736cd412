package storage

import (
	"cmp"
	"context"
	"math"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// Owner is a package that keeps data of its own about documents or users. Its functions are called in the
// transaction in which something begins or ends, and an error of theirs refuses that. Each of them may be
// nil. Without this, deleting a document or a user would have to know every package that refers to it, and a
// new package would be forgotten.
type Owner struct {
	Name   string
	Seed   func(t *Tx, adminPassword string) error                     // the first repository of a store is filled
	Open   func(ctx context.Context, r *Repo) error                    // a repository is opened
	Sweep  func(ctx context.Context, r *Repo) error                    // what nobody needs any longer is removed
	Erase  func(t *Tx, d *Doc) error                                   // the document is erased
	Change func(t *Tx, before, after *Doc) error                       // a document that is a record is written
	Cut    func(t *Tx, id string) error                                // what is below a document, or its versions, will be erased later, by Sweep
	Leave  func(t *Tx, user string) error                              // the user is deleted
	Verify func(t *Tx, problem func(format string, args ...any)) error // reports what does not fit together

	// Able reports whether every process that may write to the store now is able to do something.
	Able func(t *Tx, what Ability) (bool, error)

	// Reads are rows that nearly every transaction that writes asks the owner for: a store across a network fetches them with the
	// first ones, and every store has them from the beginning; see firstRows.
	Reads []FirstRow

	// Proofs say, by the kinds of what people sign in with, whether the one of a name is good now.
	Proofs map[string]func(t *Tx, name string) (bool, error)
}

// Ability is what processes of older versions do not do with what they write.
type Ability string

// The abilities.
const (
	KeepsAutomatic Ability = "keeps"    // they maintain automatic indexes
	MapsZones      Ability = "zones"    // they keep the zone maps of the audit log
	IndexesFiles   Ability = "files"    // they write rows of the indexes of file names and of the trash
	Follows        Ability = "declares" // they follow declarations of types and directories that the store keeps
)

// AllAble reports whether all processes are able to do something, as of the transaction: one of an older version, which is not, may have
// come a moment ago.
func AllAble(t *Tx, what Ability) (bool, error) {
	for _, o := range t.repo.owners {
		if o.Able == nil {
			continue
		}
		if ok, err := o.Able(t, what); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// changeOwned asks every owner whether a record may be written as it is to be.
func (t *Tx) changeOwned(before, after *Doc) error {
	if before == nil || !before.kept.Record {
		return nil
	}
	for _, o := range t.repo.owners {
		if o.Change == nil {
			continue
		}
		if err := o.Change(t, before, after); err != nil {
			return err
		}
	}
	return nil
}

// cutOwned asks every owner whether what is below a document, or its versions, may go later.
func (t *Tx) cutOwned(id layout.ID) error {
	for _, o := range t.repo.owners {
		if o.Cut == nil {
			continue
		}
		if err := o.Cut(t, id.String()); err != nil {
			return err
		}
	}
	return nil
}

// Until is the end of a retention, in milliseconds of Unix time; 0: there is none.
type Until int64

// Indeterminate is the end of a retention that has no date yet.
const Indeterminate Until = math.MaxInt64

// farFuture is how clients see the end of a retention that has no date.
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Time returns the end as clients see it: without a date, the year 9999.
func (u Until) Time() time.Time {
	if u == Indeterminate {
		return farFuture
	}
	return time.UnixMilli(int64(u)).UTC()
}

// Retention is why a document is kept as it is. What may change of it then is for the package retention; that it is not deleted is
// for this one.
type Retention struct {
	Record bool // its files no longer change
	Hold   bool // somebody has put a legal hold on it
	Until  Until
}

// Holds reports whether the document must be kept at a moment.
func (r Retention) Holds(now time.Time) bool { return r.Hold || r.Until > Until(now.UnixMilli()) }

// Retention returns why a document is kept.
func (d *Doc) Retention() Retention { return d.kept }

// mayGo refuses to remove a document that must be kept, to administrators too.
func (t *Tx) mayGo(d *Doc) error {
	switch r := d.kept; {
	case d.IsProxy(): // what it shows stays
	case r.Hold:
		return fault.Denied.Errorf("document %s: is under legal hold", t.nameFor(d)).WithCode(fault.CodeUnderRetention)
	case r.Until == Indeterminate:
		return fault.Denied.Errorf("document %s: is under retention", t.nameFor(d)).WithCode(fault.CodeUnderRetention)
	case r.Holds(t.now):
		return fault.Denied.Errorf("document %s: is under retention until %s", t.nameFor(d), r.Until.Time().Format(time.RFC3339)).WithCode(fault.CodeUnderRetention)
	}
	return nil
}

// nameFor is how messages name a document to people: by its path, or by its id to those who may not read it.
func (t *Tx) nameFor(d *Doc) string {
	if t.can(d, permRead) {
		return d.Path()
	}
	return d.ID()
}

// mayAllGo is mayGo for several documents; nil ones have been deleted meanwhile.
func (t *Tx) mayAllGo(all Docs) error {
	for _, d := range all {
		if d == nil {
			continue
		}
		if err := t.mayGo(d); err != nil {
			return err
		}
	}
	return nil
}

// retain writes why a document is kept, regardless of who acts; it may be a version.
func (t *Tx) retain(d *Doc, to Retention) (*Doc, error) {
	cur, err := t.load(d.id)
	if err != nil || cur == nil {
		return nil, cmp.Or[error](err, notFound(d.Ref()))
	}
	before := cur.clone()
	cur.kept = to
	if err := t.recorded(before, cur); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "retention"}, cur)
	return t.finish(d, cur), nil
}

// eraseOwned has every owner erase what it keeps about a document.
func (t *Tx) eraseOwned(d *Doc) error {
	for _, o := range t.repo.owners {
		if o.Erase == nil {
			continue
		}
		if err := o.Erase(t, d); err != nil {
			return err
		}
	}
	return nil
}

// leaveOwned has every owner end what it keeps about a user.
func (t *Tx) leaveOwned(user string) error {
	for _, o := range t.repo.owners {
		if o.Leave == nil {
			continue
		}
		if err := o.Leave(t, user); err != nil {
			return err
		}
	}
	return nil
}

// verifyOwned has every owner report what does not fit together in its rows.
func (t *Tx) verifyOwned(problem func(format string, args ...any)) error {
	for _, o := range t.repo.owners {
		if o.Verify == nil {
			continue
		}
		if err := o.Verify(t, problem); err != nil {
			return err
		}
	}
	return nil
}

// seedOwned has every owner write what a fresh store has.
func (t *Tx) seedOwned(adminPassword string) error {
	for _, o := range t.repo.owners {
		if o.Seed == nil {
			continue
		}
		if err := o.Seed(t, adminPassword); err != nil {
			return err
		}
	}
	return nil
}

// openOwned tells every owner that the repository is opened.
func (r *Repo) openOwned(ctx context.Context) error {
	for _, o := range r.owners {
		if o.Open == nil {
			continue
		}
		if err := o.Open(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
