package document

import (
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// localACL is the list that a document's own entries are in unless another one is named; the names are the
// platform's.
const localACL = "local"

// Everyone and everything: the entry that ends inheritance denies them.
const (
	everyone   = "Everyone"
	everything = "Everything"
)

// entriesOf returns the document's own entries in a list, none if there is no such list. The slice may
// be shared with the document as read, so callers clone it before they change items. The list
// "inherited" is computed from the folders above; writing it to the document would freeze what they
// grant now.
func entriesOf(c *engine.Ctx, d *storage.Doc, name string) ([]storage.ACE, error) {
	lists, err := c.Tx.ACLs(d)
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		if list.Name == name && name != "inherited" {
			return list.Entries, nil
		}
	}
	return nil, nil
}

// isBlock reports whether an entry ends inheritance. Only the exact entry counts: denying everything to
// everyone ends inheritance because no entry after it can match.
func isBlock(a storage.ACE) bool {
	return !a.Granted && a.User == everyone && a.Permission == everything
}

// withEntry adds an entry before the one that ends inheritance, unless it is there already. Entries are
// evaluated in order, and behind the one that denies everything to everyone a new one would have no effect.
func withEntry(entries []storage.ACE, a storage.ACE) []storage.ACE {
	at := len(entries)
	for i, have := range entries {
		// The identifier includes the creator and the period, so the same grant by another user, or
		// until another day, is added.
		if have.ID() == a.ID() {
			return entries
		}
		if isBlock(have) && i < at {
			at = i
		}
	}
	out := make([]storage.ACE, 0, len(entries)+1)
	out = append(out, entries[:at]...)
	return append(append(out, a), entries[at:]...)
}

// blocked adds what ends inheritance: everything for the caller and for administrators, then nothing for
// anybody else. The order matters, as the first entry that matches decides.
func blocked(c *engine.Ctx, entries []storage.ACE) []storage.ACE {
	for _, have := range entries {
		if isBlock(have) {
			return entries
		}
	}
	for _, user := range []string{c.As.Name, "administrators"} {
		entries = withEntry(entries, storage.ACE{User: user, Permission: everything, Granted: true, Creator: c.As.Name})
	}
	return append(entries, storage.ACE{User: everyone, Permission: everything, Creator: c.As.Name})
}

// checkPeriod refuses a period that ends before it begins. Zero means open. A period that has ended
// already is accepted here.
func checkPeriod(begin, end time.Time) error {
	if !begin.IsZero() && !end.IsZero() && end.Before(begin) {
		return fault.Invalid.Errorf("end: %s is before begin", end.Format(time.RFC3339)).In("end")
	}
	return nil
}

// knownName refuses names that are neither a user nor a group.
func knownName(c *engine.Ctx, name string) error {
	// Everyone is neither a user nor a group, but stands for all who can sign in.
	if name == everyone {
		return nil
	}
	// Users and groups have names in one space, so a name that is not a user's may be a group's.
	_, err := people.Lookup(c.Tx, name)
	if fault.Is(err, fault.NotFound) {
		_, err = people.LookupGroup(c.Tx, name)
	}
	if fault.Is(err, fault.NotFound) {
		return fault.Invalid.Errorf("user %s: no such user or group%s", name, storage.PerhapsGroup(name)).In("username")
	}
	return err
}
