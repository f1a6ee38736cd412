package drive

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/limit"
)

// Limits bound what one user synchronizes; zero values take the defaults. Each root is looked up for
// each call, each change is read and placed, and files are read, so all numbers are costs of a single call.
type Limits struct {
	Roots   int   `setting:"limit-sync-roots" default:"1000" doc:"folders that one user synchronizes"`
	Digest  int64 `setting:"limit-sync-digest" unit:"bytes" default:"256 MiB" doc:"size of a file that no computer sent, up to which it is read for its MD5; larger ones have a SHA-256"`
	Changes int   `setting:"limit-sync-changes" default:"1000" doc:"changes in one summary for a synchronizer; with more, it reads everything again"`
}

func limitsOf(tx *storage.Tx) Limits { return limit.Of[Limits](tx.Repo().Bounds()) }

// rootTable has the roots: the number of the user, so that another one of the name has none of them, by the name and
// the id of the document.
const rootTable = "sync roots"

func rootKey(user, doc string) string { return user + "\x00" + doc }

// View is what one user has on computers, as one transaction sees it: the folders that the user chose, called roots, and
// what is in them as far as the user may read it. It says what has changed since a copy was made. Roots are kept for each
// user; all else is read from the documents.
type View struct {
	tx        *storage.Tx
	chosen    []string                // ids of the roots, those that are not to be read or are gone as well
	roots     map[string]*storage.Doc // those to be shown, by id
	locations map[string]location     // of folders, by id

	found  []finding                             // digests that no row has
	hashed int64                                 // bytes that were read for them
	ask    func(keep func(tx *storage.Tx) error) // has them kept later; nil: they are forgotten

	own, shared *Item  // by permission: what is there for the user's roots, and for those of others
	home        string // by permission: the id of the user's workspace
}

// Open returns what the principal of a transaction has.
func Open(tx *storage.Tx) (*View, error) {
	v := &View{tx: tx, roots: map[string]*storage.Doc{}, locations: map[string]location{}}
	who := tx.Principal()
	// Roots belong to a person; neither the system nor a call without a user has any.
	if who.Name == "" || who.System {
		return nil, storage.ErrNobody
	}
	at := rootKey(who.Name, "")
	for key, row := range tx.Table(rootTable).Scan(at, who.Name+"\x01", false, 0) {
		// A row of a user of the same name who is gone is passed over, so nobody inherits folders.
		if number, err := strconv.ParseInt(string(row), 10, 64); err != nil || number != who.ID {
			continue
		}
		id := key[len(at):]
		v.chosen = append(v.chosen, id)
		d, err := readable(tx, id)
		if err != nil {
			return nil, err
		}
		if d != nil && !d.IsTrashed() {
			v.roots[id] = d
		}
	}
	return v, v.profile()
}

// open is Open for an operation.
func open(c *engine.Ctx) (*View, error) {
	v, err := Open(c.Tx)
	if err == nil {
		v.ask = c.Ask
	}
	return v, err
}

// readable returns a document, nil if it is gone or not to be read.
func readable(tx *storage.Tx, id string) (*storage.Doc, error) {
	d, err := tx.Doc(storage.Ref(id))
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return nil, nil //nolint:nilnil // there is none to be shown
	}
	return d, err
}

// Roots returns the roots to be shown, by title, and latest first of the same title, for its folder is the one that
// synchronizers make.
func (v *View) Roots() storage.Docs {
	docs := make(storage.Docs, 0, len(v.roots))
	for _, d := range v.roots {
		docs = append(docs, d)
	}
	slices.SortFunc(docs, func(a, b *storage.Doc) int {
		return cmp.Or(strings.Compare(a.Title(), b.Title()), strings.Compare(b.ID(), a.ID()))
	})
	return docs
}

// Register makes a folder or a collection a root. Below a root it stays what it is, and roots below it that are
// then shown there are none any longer.
func (v *View) Register(d *storage.Doc) error {
	if err := v.suits(d); err != nil {
		return err
	}
	if v.roots[d.ID()] != nil {
		return nil
	}
	// It is synchronized already as a part of the root above. A second copy on the disk would
	// conflict with the first.
	if shown, err := v.below(d); err != nil || shown {
		return err
	}
	// Roots that are gone would otherwise count towards the limit for ever.
	if err := v.prune(); err != nil {
		return err
	}
	if most := limitsOf(v.tx).Roots; len(v.chosen) >= most && !slices.Contains(v.chosen, d.ID()) {
		return fault.Limit.Errorf("roots: user %s has %d, at most %d", v.tx.Principal().Name, len(v.chosen), most)
	}
	// The feed costs a row for each change, so it is not written before somebody synchronizes.
	if err := storage.StartFeed(v.tx); err != nil {
		return err
	}
	who := v.tx.Principal()
	if err := v.tx.Table(rootTable).Put(rootKey(who.Name, d.ID()), who.ID); err != nil {
		return err
	}
	others := v.Roots()
	v.roots[d.ID()] = d
	for _, other := range others {
		// The new root changes where everything below it is shown.
		v.locations = map[string]location{}
		shown, err := v.below(other)
		if err != nil {
			return err
		}
		if shown {
			if err := v.Unregister(other); err != nil {
				return err
			}
		}
	}
	return v.tell(storage.RootRegistered, d)
}

// Unregister has a document be no root any longer.
func (v *View) Unregister(d *storage.Doc) error {
	if err := v.suits(d); err != nil {
		return err
	}
	if !slices.Contains(v.chosen, d.ID()) && v.roots[d.ID()] == nil {
		return nil
	}
	if err := v.tx.Table(rootTable).Delete(rootKey(v.tx.Principal().Name, d.ID())); err != nil {
		return err
	}
	delete(v.roots, d.ID())
	v.chosen = slices.DeleteFunc(v.chosen, func(id string) bool { return id == d.ID() })
	return v.tell(storage.RootUnregistered, d)
}

func (v *View) tell(event string, d *storage.Doc) error {
	return v.tx.Fire(storage.Event{Name: event, Doc: d, Extra: map[string]any{"impactedUserName": v.tx.Principal().Name}})
}

// suits refuses what cannot be a root.
func (v *View) suits(d *storage.Doc) error {
	switch {
	case d.IsVersion() || d.IsProxy():
		return fault.Invalid.Errorf("document %s: a version or proxy cannot be a root", d.Path()).In("input")
	case d.ParentID() == "" || !d.IsFolder() && !d.HasFacet("Collection"):
		return fault.Invalid.Errorf("document %s: cannot be a root; only folders and collections can", d.Path()).In("input")
	}
	return nil
}

// below reports whether a document is shown in a folder of a root.
func (v *View) below(d *storage.Doc) (bool, error) {
	p, err := v.above(d)
	return p.ok && Shown(d), err
}

// prune forgets roots that are gone.
func (v *View) prune() error {
	// As the system, because a root that the user cannot read for now must stay: the right may come
	// back.
	system := v.tx.As(v.tx.Repo().System())
	for _, id := range slices.Clone(v.chosen) {
		_, err := system.Doc(storage.Ref(id))
		if !fault.Is(err, fault.NotFound) {
			if err != nil {
				return err
			}
			continue
		}
		if err := v.tx.Table(rootTable).Delete(rootKey(v.tx.Principal().Name, id)); err != nil {
			return err
		}
		v.chosen = slices.DeleteFunc(v.chosen, func(c string) bool { return c == id })
	}
	return nil
}

// Owner keeps the folders that users synchronize, and which computers sent which files. Storage calls it
// when a user leaves and when a document is erased.
var Owner = storage.Owner{Name: "drive", Open: openProfile, Leave: end, Erase: forget}

// end forgets the roots of a user who is gone.
func end(tx *storage.Tx, user string) error {
	for key := range tx.Table(rootTable).Scan(rootKey(user, ""), user+"\x01", false, 0) {
		if err := tx.Table(rootTable).Delete(key); err != nil {
			return err
		}
	}
	return nil
}
