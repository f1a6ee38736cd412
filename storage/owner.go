package storage

// Owner is a package that keeps data of its own about documents or users. Its functions are called in the transaction
// in which a document or a user ends, and an error of theirs ends that. Each of them may be nil.
type Owner struct {
	Name   string
	Erase  func(t *Tx, d *Doc) error                                   // the document is erased
	Leave  func(t *Tx, user string) error                              // the user is deleted
	Verify func(t *Tx, problem func(format string, args ...any)) error // reports what does not fit together
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
