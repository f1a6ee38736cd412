package storage

import (
	"context"
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
	Leave  func(t *Tx, user string) error                              // the user is deleted
	Verify func(t *Tx, problem func(format string, args ...any)) error // reports what does not fit together

	// Keeps reports whether every process that may write to the store now maintains automatic indexes.
	Keeps func(t *Tx) (bool, error)

	// Proofs say, by the kinds of what people sign in with, whether the one of a name is good now.
	Proofs map[string]func(t *Tx, name string) (bool, error)
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
