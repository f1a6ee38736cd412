package storage

import (
	"context"
	"slices"
	"time"

	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/schema"
	"catena/storage/text"
)

// Internal is what packages below storage may do in a transaction besides what everybody may: they lay out rows
// of their own and decide themselves who sees what of them.
type Internal struct{ t *Tx }

// Internal opens a transaction to the packages below storage, which alone can make the key.
func (t *Tx) Internal(row.Ordered) Internal { return Internal{t} }

// KV returns the ordered rows themselves.
func (i Internal) KV() *kv.Tx { return i.t.kv }

// Pin keeps content from being swept until the transaction has ended.
func (i Internal) Pin(digest string) { i.t.pin(digest) }

// Loosen notes that something no longer holds a content.
func (i Internal) Loosen(digest string) error { return i.t.loosen(digest) }

// Memory is what packages below storage know of the store while the transaction lasts; what a part that is undone has
// done takes it with it.
func (i Internal) Memory() *row.Memory {
	if i.t.memory == nil {
		i.t.memory = new(row.Memory)
	}
	return i.t.memory
}

// ID returns the identifier of a document as rows hold it.
func (i Internal) ID(d *Doc) layout.ID { return d.id }

// Fire records an event and tells listeners, whatever the principal may.
func (i Internal) Fire(e Event) error { return i.t.fire(e) }

// Need returns an error unless the principal has the permission on a document as it was read.
func (i Internal) Need(d *Doc, permission string) error {
	return i.t.need(d, 1<<slices.Index(permissionNames, permission))
}

// Has reports whether the principal has the permission on a document as it was read.
func (i Internal) Has(d *Doc, permission string) bool {
	return i.t.can(d, 1<<slices.Index(permissionNames, permission))
}

// Retain writes why a document is kept, which may be a version.
func (i Internal) Retain(d *Doc, to Retention) (*Doc, error) { return i.t.retain(d, to) }

// Within reports whether a document is below another, or a version of it.
func (i Internal) Within(d *Doc, id layout.ID) bool { return d.up.within(id) }

// Load returns a document, regardless of who may see it; nil if there is none.
func (i Internal) Load(id layout.ID) (*Doc, error) { return i.t.load(id) }

// Visible returns a document, which is NotFound unless it may be read.
func (i Internal) Visible(id layout.ID) (*Doc, error) { return i.t.visible(id, Ref(id.String())) }

// Readable returns those documents that are there and may be read.
func (i Internal) Readable(ids []layout.ID) (Docs, error) {
	docs, err := i.t.loadMany(ids)
	if err != nil {
		return nil, err
	}
	return i.t.readable(docs), nil
}

// EachFile calls fn with every file among the properties of a document and its xpath.
func (i Internal) EachFile(d *Doc, fn func(xpath string, b *Blob) error) error { return d.eachFile(fn) }

// Root returns the identifier of the root.
func (i Internal) Root() layout.ID { return i.t.repo.root }

// Dictionary returns the names that rows hold as numbers.
func (i Internal) Dictionary() *layout.Dictionary { return i.t.repo.numbers }

// Intern returns the text of b, shared if it is the name of a state or a facet.
func (i Internal) Intern(b []byte) string { return i.t.repo.intern(b) }

// Usable reports whether an index has all its rows.
func (i Internal) Usable(index string) bool {
	ready, err := i.t.readyIndexes()
	return err == nil && ready.names[index]
}

// Automatic returns the automatic indexes over several fields that have all their rows.
func (i Internal) Automatic() ([]*Compound, error) {
	set, err := i.t.automatic()
	if err != nil {
		return nil, err
	}
	ready, err := i.t.readyIndexes()
	if err != nil || !ready.names[automaticMark] {
		return nil, err
	}
	return set.complete, nil
}

// Compounds returns the indexes over several fields that are declared.
func (i Internal) Compounds() []*Compound { return i.t.repo.compounds }

// Rebuild has indexes written again that other declarations would make others of, once these have taken effect.
func (i Internal) Rebuild(next *schema.Registry) error { return i.t.rebuild(next) }

// EveryAutomatic returns the automatic indexes in every state, and when they were used last.
func (i Internal) EveryAutomatic() ([]Automatic, error) { return i.t.automaticIndexes() }

// DropAutomatic ends the use of an automatic index and returns it; the next sweep removes its rows.
func (i Internal) DropAutomatic(id string) (Automatic, error) { return i.t.dropAutomatic(id) }

// OrdersNulls reports whether an index has a row of every document whose schema has its field, also of those without
// a value.
func (i Internal) OrdersNulls(index string) bool { return i.Usable(nullRows(index)) }

// Named is how messages name a document to people: by its path, or by its id to those who may not read it.
func (i Internal) Named(d *Doc) string { return i.t.nameFor(d) }

// MayRead reports whether the principal may read what has an access list of its own, or none, below a folder.
func (i Internal) MayRead(own layout.ListID, up *Folder) bool { return i.t.granted(own, up, permRead) }

// CanRead reports whether the principal may read a document as it was read.
func (i Internal) CanRead(d *Doc) bool { return i.t.can(d, permRead) }

// Folder returns a document as those below it see it; nil if it is gone, or cut off from the root.
func (i Internal) Folder(id layout.ID) (*Folder, error) { return i.t.folder(id) }

// Up returns the folder that a document is in, of a version its live document; nil for the root.
func (i Internal) Up(d *Doc) *Folder { return d.up }

// Resolve follows a path from the root; None if it leads nowhere.
func (i Internal) Resolve(path string) (layout.ID, error) { return i.t.find(path) }

// Below returns the documents under one, the deepest first; whole is false if there are more than most.
func (i Internal) Below(id layout.ID, most int) (ids []layout.ID, whole bool, err error) {
	return i.t.below(id, most)
}

// Pending returns the documents whose terms are not up to date, in order, or reports that there are more than limit.
func (i Internal) Pending(limit int) (ids []layout.ID, more bool, err error) {
	return i.t.pending(limit)
}

// RowsAhead is told which rows about a document are about to be read, so that those about the documents that were read together with it
// are fetched with them.
func (i Internal) RowsAhead(what string, id layout.ID, rows func(layout.ID) kv.Range) error {
	return i.t.rowsAhead(what, id, rows)
}

// Ahead has a store across a network fetch documents that are about to be loaded, and further rows of them.
func (i Internal) Ahead(ids []layout.ID, further ...func(layout.ID) []byte) error {
	return i.t.ahead(ids, further...)
}

// AheadWithFolders is Ahead, and fetches then what the documents are in, and what proxies among them show.
func (i Internal) AheadWithFolders(ids []layout.ID, further ...func(layout.ID) []byte) error {
	return i.t.aheadWithFolders(ids, further...)
}

// KnowsFolder reports whether Folder does not ask the store.
func (i Internal) KnowsFolder(id layout.ID) bool { return i.t.knowsFolder(id) }

// FoldersAhead has a store across a network fetch folders that are in no cache.
func (i Internal) FoldersAhead(ids []layout.ID) error {
	a := around{t: i.t}
	for _, id := range ids {
		a.folder(id)
	}
	return a.fetch()
}

// TargetsAhead has a store across a network fetch what proxies show, whose records have been fetched.
func (i Internal) TargetsAhead(ids []layout.ID) error {
	a := around{t: i.t}
	for _, id := range ids {
		if err := a.target(i.t.kv.Get(layout.RecordKey(id))); err != nil {
			return err
		}
	}
	return a.fetch()
}

// LoadCovered loads the document of an index row, regardless of who may see it; nil if it is gone.
func (i Internal) LoadCovered(id layout.ID, c *layout.Cover) (*Doc, error) {
	return i.LoadCoveredIn(nil, id, c)
}

// LoadCoveredIn is LoadCovered for who looks at many documents and keeps few: the one that is returned takes the place of
// spare, which nobody may use any longer. Nil, and a proxy, takes no place.
func (i Internal) LoadCoveredIn(spare *Doc, id layout.ID, c *layout.Cover) (*Doc, error) {
	if c.Bits&layout.HasNode == 0 {
		return i.t.load(id)
	}
	rec, err := i.t.kv.Get(layout.RecordKey(id))
	if err != nil {
		return nil, err
	}
	n, ok := nodeOf(c)
	if !ok || rec == nil {
		return nil, nil
	}
	if spare != nil && spare.IsProxy() {
		spare = nil // what it shows has its blocks
	}
	return i.t.assembleAt(id, n, rec, spare)
}

// Place sets what the row of a document in the tree says of it, which is nothing of its content.
func (i Internal) Place(row []byte, c *layout.Cover) error { return parsePlace(row, c) }

// Covered makes a document of an index row that holds its place, and of its record; nil if it is gone.
func (i Internal) Covered(id layout.ID, c *layout.Cover, rec []byte) (*Doc, error) {
	n, ok := nodeOf(c)
	if !ok || rec == nil {
		return nil, nil
	}
	return i.t.assembleAt(id, n, rec, nil)
}

// Assemble makes a document of its two rows; nil if one is missing, or if it is cut off from the root.
func (i Internal) Assemble(id layout.ID, node, rec []byte) (*Doc, error) {
	if node == nil || rec == nil {
		return nil, nil
	}
	return i.t.assemble(id, node, rec)
}

// Cover sets what an index row would say about a document.
func (i Internal) Cover(d *Doc, c *layout.Cover) {
	c.Flags, c.Parent, c.List = d.flags, d.parent, d.acl
	c.Type, c.State = []byte(d.typ.Name), []byte(d.state)
}

// Flags returns the flags that rows repeat about a document.
func (i Internal) Flags(d *Doc) byte { return d.flags }

// IsOrdered reports whether the document has a place in the order of its siblings.
func (i Internal) IsOrdered(d *Doc) bool { return d.ordered() }

// Value returns a top-level property by key, nil where the document does not have it.
func (i Internal) Value(d *Doc, key string) (any, error) { return d.value(key) }

// Text returns a top-level property as full text sees it: HTML has no marks.
func (i Internal) Text(d *Doc, key string) (any, error) {
	v, err := d.value(key)
	if err == nil && key == noteKey {
		v = i.t.note(d, v)
	}
	return v, err
}

// Words returns the words of a document, or those of one property.
func (i Internal) Words(d *Doc, only *schema.Field) (*text.Text, error) {
	if only == nil {
		if kept, err := i.t.wordsKept(d.id); err != nil || kept != nil {
			return kept, err
		}
	}
	return i.t.textOf(d, only)
}

// WordsKept returns the words of a document without a look at it; nil if they are not known.
func (i Internal) WordsKept(id layout.ID) (*text.Text, error) { return i.t.wordsKept(id) }

// Members returns one side of a membership.
func (i Internal) Members(kind byte, of string) ([]string, error) { return i.t.members(kind, of) }

// GroupsAbove returns groups with all that contain them.
func (i Internal) GroupsAbove(groups []string) ([]string, error) { return i.t.groupsAbove(groups) }

// Regrouped has all who act look up again which groups they are in.
func (i Internal) Regrouped() error { return i.t.regrouped() }

// FeedMembers tells the feed that somebody came into a group or left one.
func (i Internal) FeedMembers(of, name string, kind byte) error {
	return i.t.feedMembers(of, name, kind)
}

// Depart notes that a user is gone: nothing that was granted to the user is for others of the name.
func (i Internal) Depart(user string, number int64) error {
	return i.t.Table(formerTable).Put(user, max(number, 1)) // the first users of all had no numbers
}

// HasGrants reports whether access lists of documents after one of an id name a user or group.
func (i Internal) HasGrants(who, after string) (bool, error) {
	ids, err := i.t.grantedTo(who, after, 1)
	return len(ids) > 0, err
}

// RemoveGrants removes what is no longer for anybody from the access lists of some documents that name a user, those
// after one of them, and returns the last of these; "" if there were none.
func (i Internal) RemoveGrants(user, after string, most int) (last string, err error) {
	return i.t.removeGrants(user, after, most)
}

// Leave has every owner end what it keeps about a user.
func (i Internal) Leave(user string) error { return i.t.leaveOwned(user) }

// Referring returns the identifiers of those that refer to a content: documents of all repositories, and holders of
// other kinds, at most so many.
func (i Internal) Referring(digest string, most int) (ids []layout.ID, err error) {
	rg := prefix(layout.BlobRefPrefix(digest))
	rg.Limit, rg.KeysOnly = most, true
	for r, err := range i.t.kv.Scan(rg) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, layout.IDAtEnd(r.Key))
	}
	return ids, nil
}

// RepoInternal is what packages below storage may do with a repository besides what everybody may.
type RepoInternal struct{ r *Repo }

// Internal opens a repository to the packages below storage, which alone can make the key.
func (r *Repo) Internal(row.Ordered) RepoInternal { return RepoInternal{r} }

// DB returns the rows of the repository.
func (i RepoInternal) DB() *kv.DB { return i.r.db }

// DeclareIndex declares an automatic index, and reports whether there was room for it. The next sweep builds it.
func (i RepoInternal) DeclareIndex(ctx context.Context, a Automatic) (made bool, err error) {
	return i.r.declareIndex(ctx, a)
}

// KnownAutomatic returns the automatic indexes as the last transaction that looked found them, without one of its own.
func (i RepoInternal) KnownAutomatic() []Automatic {
	if set := i.r.catalog.Load().automatic.Load(); set != nil {
		return set.all
	}
	return nil
}

// UseIndexes notes that automatic indexes were used, by their ids.
func (i RepoInternal) UseIndexes(ctx context.Context, ids []string) error {
	return i.r.useIndexes(ctx, ids)
}

// Written returns how many documents of a type and of those below it were written since the start.
func (i RepoInternal) Written(typ string) (n int64) {
	c := i.r.catalog.Load()
	for _, name := range c.types.Under(typ) {
		n += c.written[name].Load()
	}
	return n
}

// Store returns the rows of all repositories of the store.
func (i RepoInternal) Store() *kv.DB { return i.r.whole }

// All returns the repositories of the store that are open.
func (i RepoInternal) All() []*Repo { return i.r.all() }

// Clock returns the time.
func (i RepoInternal) Clock() time.Time { return i.r.clock() }

// Work keeps the repository open until done is called.
func (i RepoInternal) Work() (done func()) {
	i.r.working.Add(1)
	return i.r.working.Done
}

// SweepRows replaces the values of the rows below a prefix by what sift returns for them, and removes the rows for which
// that is nil.
func (i RepoInternal) SweepRows(ctx context.Context, at []byte, sift func(value []byte) []byte) error {
	return i.r.sweepRows(ctx, at, sift)
}
