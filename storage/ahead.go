package storage

import (
	"iter"
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// ahead has a store across a network fetch the rows of documents that are about to be loaded, and further ones, in one round trip. It
// remembers them, so that a transaction that reads a document again, such as to change it, waits once.
func (t *Tx) ahead(ids []layout.ID, further ...func(layout.ID) []byte) error {
	if !t.kv.Remote() {
		return nil
	}
	keys := make([][]byte, 0, (2+len(further))*len(ids))
	for _, id := range ids {
		keys = append(keys, layout.NodeKey(id), layout.RecordKey(id))
		for _, key := range further {
			keys = append(keys, key(id))
		}
	}
	return t.kv.Prefetch(keys)
}

// company are documents that were read together: what is read about one of them is mostly read about the others next.
type company struct {
	ids   []layout.ID
	asked map[string]layout.ID // by what is read: the first document about which it was; none once it was fetched for all of them
}

// companies are those of a transaction.
type companies struct {
	of   map[layout.ID]*company
	wide map[string]bool // what was read about several documents of a company
}

// largestCompany is for how many documents rows are fetched at once, and maxAccompanied of how many a transaction remembers with
// which others they were read.
const (
	largestCompany = 100
	maxAccompanied = 10_000
)

// accompany notes that documents are read together, if the store is across a network.
func (t *Tx) accompany(ids []layout.ID) {
	if !t.kv.Remote() || len(ids) < 2 {
		return
	}
	if len(t.companies.of) > maxAccompanied || t.companies.of == nil {
		t.companies.of = map[layout.ID]*company{}
	}
	for part := range slices.Chunk(ids, largestCompany) {
		c := &company{ids: part, asked: map[string]layout.ID{}}
		for _, id := range part {
			t.companies.of[id] = c
		}
	}
}

// rowsAhead is told which rows about a document are about to be read. Of the second document of a company it has a store across a
// network fetch those of all of them in one round trip, and of further companies at once, so that a list does not wait for each of its
// documents.
func (t *Tx) rowsAhead(what string, id layout.ID, rows func(layout.ID) kv.Range) error {
	c := t.companies.of[id]
	if c == nil {
		return nil
	}
	first, asked := c.asked[what]
	switch {
	case !asked && !t.companies.wide[what]:
		c.asked[what] = id
		return nil
	case asked && (first == id || first == layout.None):
		return nil
	}
	c.asked[what] = layout.None
	if t.companies.wide == nil {
		t.companies.wide = map[string]bool{}
	}
	t.companies.wide[what] = true
	return t.rangesAhead(c.ids, rows)
}

// rangesAhead has a store across a network fetch rows about documents in one round trip.
func (t *Tx) rangesAhead(ids []layout.ID, rows func(layout.ID) kv.Range) error {
	if !t.kv.Remote() {
		return nil
	}
	ranges := make([]kv.Range, len(ids))
	for i, id := range ids {
		ranges[i] = rows(id)
	}
	return t.kv.Prefetch(nil, ranges...)
}

// around gathers what is read next of documents whose rows of the tree have been read: their folders, which most documents share, and
// what proxies show.
type around struct {
	t    *Tx
	seen map[layout.ID]bool
	keys [][]byte
}

// folder gathers the row of a folder, unless a cache has it.
func (a *around) folder(id layout.ID) {
	if a.seen[id] || a.t.knowsFolder(id) {
		return
	}
	if a.seen == nil {
		a.seen = map[layout.ID]bool{}
	}
	a.seen[id] = true
	a.keys = append(a.keys, layout.NodeKey(id))
}

// knowsFolder reports whether a folder is known without asking the store.
func (t *Tx) knowsFolder(id layout.ID) bool {
	cache, err := t.folderCache()
	return t.folders[id] != nil || err == nil && cache != nil && cache.get(id) != nil
}

// document gathers what a document is in, by its row of the tree, and if it is a proxy what it shows, by its record.
func (a *around) document(place []byte, rec func() ([]byte, error)) error {
	if place == nil {
		return nil
	}
	n, err := parseNode(place)
	if err != nil {
		return err
	}
	if a.folder(n.parent); n.flags&layout.Proxy == 0 {
		return nil
	}
	return a.target(rec())
}

// target gathers what a proxy shows, by its record, which may be gone or an error.
func (a *around) target(rec []byte, err error) error {
	if err != nil || rec == nil {
		return err
	}
	r, err := a.t.repo.parseRecord(rec)
	if err != nil {
		return err
	}
	a.keys = append(a.keys, layout.NodeKey(r.target), layout.RecordKey(r.target))
	return nil
}

// fetch has the store fetch what was gathered, unless it is one row: that is read when it is needed.
func (a *around) fetch() error {
	if len(a.keys) < 2 {
		return nil
	}
	return a.t.kv.Prefetch(a.keys)
}

// aroundAhead fetches what is around documents, of which it has the rows: place and record in turn.
func (t *Tx) aroundAhead(rows [][]byte) error {
	if !t.kv.Remote() || len(rows) < 4 {
		return nil
	}
	a := around{t: t}
	for i := 0; i+1 < len(rows); i += 2 {
		if err := a.document(rows[i], func() ([]byte, error) { return rows[i+1], nil }); err != nil {
			return err
		}
	}
	return a.fetch()
}

// Ahead tells that documents are about to be read one after the other. It changes no result: a store across a network fetches all of
// those that are named by identifiers at once.
func Ahead(t *Tx, refs Refs) error {
	if !t.kv.Remote() || len(refs) < 2 {
		return nil
	}
	var all []layout.ID
	for _, ref := range refs {
		if path, id, ok := t.repo.parseRef(ref); ok && path == "" {
			all = append(all, id)
		}
	}
	for ids := range slices.Chunk(all, mostAtOnce) {
		if err := t.aheadWithFolders(ids); err != nil {
			return err
		}
	}
	t.accompany(all)
	return nil
}

// aheadWithFolders has a store across a network fetch documents that are about to be loaded, and further rows of them, and then what they
// are in, and what proxies among them show.
func (t *Tx) aheadWithFolders(ids []layout.ID, further ...func(layout.ID) []byte) error {
	if err := t.ahead(ids, further...); err != nil || !t.kv.Remote() {
		return err
	}
	a := around{t: t}
	for _, id := range ids {
		place, err := t.kv.Get(layout.NodeKey(id))
		if err == nil {
			err = a.document(place, func() ([]byte, error) { return t.kv.Get(layout.RecordKey(id)) })
		}
		if err != nil {
			return err
		}
	}
	return a.fetch()
}

// scanWith walks the rows of a range, for which another row each is read next: a store across a network fetches these for some rows at a
// time, first for few, then for more.
func (t *Tx) scanWith(r kv.Range, other func(row kv.Row) []byte) iter.Seq2[kv.Row, error] {
	if !t.kv.Remote() {
		return t.kv.Scan(r)
	}
	return func(yield func(kv.Row, error) bool) {
		for rows, err := range kv.Pieces(t.kv.Scan(r), fewAhead, mostAtOnce) {
			keys := make([][]byte, len(rows))
			for i, row := range rows {
				keys[i] = other(row)
			}
			if err == nil {
				err = t.kv.Prefetch(keys)
			}
			if err != nil {
				yield(kv.Row{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// fewAhead is how many rows are read ahead first.
const fewAhead = 16

// mostAtOnce is how many documents are fetched in one round trip.
const mostAtOnce = 1000

// Reads gathers what is about to be read of documents or people, such as those of a page, so that a store across a network fetches
// it together, in as many round trips as one row leads to another. It changes no result.
type Reads struct {
	t      *Tx
	seen   map[string]bool
	keys   [][]byte
	ranges []kv.Range
	places map[string]int // of ranges, by where they start
	then   []func() error // what is read next is known once the rest is there
}

// ReadsOf returns an empty one, nil if the store is not across a network.
func ReadsOf(t *Tx) *Reads {
	if t == nil || !t.kv.Remote() {
		return nil
	}
	return &Reads{t: t, seen: map[string]bool{}, places: map[string]int{}}
}

// Tx is the transaction that is about to read.
func (a *Reads) Tx() *Tx { return a.t }

// Fetch fetches what was gathered.
func (a *Reads) Fetch() error {
	return a.t.kv.Unvalidated(func() error {
		for len(a.keys)+len(a.ranges)+len(a.then) > 0 {
			if err := a.t.kv.Prefetch(a.keys, a.ranges...); err != nil {
				return err
			}
			then := a.then
			a.keys, a.ranges, a.then = nil, nil, nil
			clear(a.places)
			for _, next := range then {
				if err := next(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (a *Reads) get(keys ...[]byte) {
	for _, key := range keys {
		if !a.seen[string(key)] {
			a.seen[string(key)] = true
			a.keys = append(a.keys, key)
		}
	}
}

// scan gathers the first rows of a range. A range that is walked for two reasons is fetched for both.
func (a *Reads) scan(r kv.Range) {
	i, known := a.places[string(r.Start)]
	if !known {
		a.places[string(r.Start)] = len(a.ranges)
		a.ranges = append(a.ranges, r)
		return
	}
	if was := &a.ranges[i]; was.Reverse != r.Reverse {
		a.ranges = append(a.ranges, r)
	} else {
		was.Limit, was.KeysOnly = max(was.Limit, r.Limit), was.KeysOnly && r.KeysOnly
		if was.Follow == nil {
			was.Follow = r.Follow
		}
	}
}

// Row gathers a row of a table.
func (a *Reads) Row(b Table, key string) {
	if k, err := b.key(key); err == nil {
		a.get(k)
	}
}

// Doc gathers a document by its id, for Tx.Doc.
func (a *Reads) Doc(id string) {
	if id, ok := layout.ParseID(id); ok {
		a.doc(id)
	}
}

func (a *Reads) doc(id layout.ID) { a.get(layout.NodeKey(id), layout.RecordKey(id)) }

// ACLs gathers what Tx.ACLs reads of a document.
func (a *Reads) ACLs(d *Doc) {
	if d.up == nil {
		return
	}
	h := a.t.identities()
	for _, id := range append([]layout.ListID{d.acl}, d.up.acls...) {
		if id != (layout.ListID{}) && !a.seen[string(id[:])] {
			a.seen[string(id[:])] = true
			a.get(a.t.listAhead(h, id)...)
		}
	}
}

// Ancestors gathers what Tx.Ancestors reads of a document.
func (a *Reads) Ancestors(d *Doc) {
	for f := d.up; f != nil; f = f.up {
		a.doc(f.id)
	}
}

// Children gathers what Tx.Children and Tx.EachChild read of a document, and the first of its children.
func (a *Reads) Children(d *Doc) {
	a.doc(d.id)
	r := prefix(layout.ChildrenPrefix(d.id))
	r.Limit, r.Follow = min(a.t.repo.limits.PageSize+1, descendChunk), layout.DocumentSpaces
	a.scan(r)
}

// HasChildren gathers what Tx.HasChildren reads of a document.
func (a *Reads) HasChildren(d *Doc) {
	a.doc(d.id)
	r := prefix(layout.ChildrenPrefix(d.id))
	r.Limit = descendChunk
	a.scan(r)
}

// Entries gathers what Tx.Entries reads of a document.
func (a *Reads) Entries(d *Doc) {
	a.doc(d.id)
	a.entries(docEntries(d.id), mostEntriesAhead)
}

// mostEntriesAhead is how many records of a document are gathered: a page of them, and one more.
const mostEntriesAhead = 101

// entriesAhead has a store across a network fetch the records of a document in a range of its rows.
func (t *Tx) entriesAhead(r kv.Range, want int) error {
	a := ReadsOf(t)
	if a == nil {
		return nil
	}
	a.entries(r, min(want, mostEntriesAhead))
	return a.Fetch()
}

// entries gathers records of a document by the range of its rows that say where they are.
func (a *Reads) entries(r kv.Range, most int) {
	r.Limit = most
	a.scan(r)
	a.then = append(a.then, func() error {
		for row, err := range a.t.kv.Scan(r) {
			if err != nil {
				return err
			}
			key, _ := auditedIn(row.Key[len(row.Key)-16:], row.Value)
			a.get(key)
		}
		return nil
	})
}

// Published gathers what CountPublished reads of a document.
func (a *Reads) Published(d *Doc) {
	for _, index := range []string{layout.ProxyIndex, layout.ProxyOfIndex} {
		r := a.t.proxyRows(index, d.seriesID())
		r.KeysOnly = index == layout.ProxyIndex
		a.scan(r)
	}
}

// Version gathers what Tx.IsLatest and Tx.Live read of a version.
func (a *Reads) Version(d *Doc) {
	if !d.IsVersion() {
		return
	}
	a.doc(d.series)
	a.scan(a.t.newest(d.series))
	a.then = append(a.then, func() error {
		major, _, _, err := a.t.lastNumber(d.series)
		if major > 0 {
			a.scan(a.t.majorVersion(d.series, major))
		}
		return err
	})
}

// User gathers what PrincipalOf reads of a user, and the groups of the user.
func (a *Reads) User(name string) {
	a.Row(a.t.Table(layout.UserTable), name)
	a.Row(a.t.Table(formerTable), name)
	a.members(layout.MemberOf, name)
	a.then = append(a.then, func() error {
		groups, err := a.t.members(layout.MemberOf, name)
		for _, group := range append(groups, Members) {
			a.Row(a.t.Table(layout.GroupTable), group)
			a.members(layout.Supergroup, group)
		}
		return err
	})
}

// Group gathers a group and its direct members.
func (a *Reads) Group(name string) {
	a.Row(a.t.Table(layout.GroupTable), name)
	a.members(layout.MemberUser, name)
	a.members(layout.Subgroup, name)
}

func (a *Reads) members(kind byte, of string) { a.scan(memberRows(kind, of)) }
