package storage

import (
	"encoding/base64"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// PageOptions ask for a part of a list.
type PageOptions struct {
	Offset, Limit int
	After         string // opaque cursor of Page.Next; wins over Offset
	CountLimit    int    // 0: the default bound; -1: do not count
}

// Page is a part of a list of documents.
type Page struct {
	Docs     Docs
	Offset   int
	Limit    int    // page size asked for (0: none)
	Total    int    // exact, or the bound reached when More
	More     bool   // Total is only a lower bound
	HasNext  bool   // another page exists
	Next     string // cursor, "" at the end
	Provider string // name of the page provider, if any
	MaxPage  int    // largest page size allowed

	Extra     map[string]any // further members of an answer with the page
	Highlight []string       // fields in which what the query found is to be marked

	Query any // what package search goes on from; nil: no query gave the page
}

// pager turns options into bounds and keeps the figures of a page while rows are counted.
type pager struct {
	Page
	after  []byte
	size   int // entries wanted
	bound  int // count up to here; 0: do not count
	seen   int // rows that match, those before the page included
	last   []byte
	filled int
}

func (r *Repo) pager(o PageOptions) (*pager, error) {
	p := &pager{Page: Page{Offset: max(0, o.Offset), Limit: max(0, o.Limit), MaxPage: r.limits.PageSize}}
	p.size = r.limits.PageSize
	if o.Limit > 0 {
		p.size = min(p.size, o.Limit)
	}
	switch {
	case o.CountLimit == 0:
		p.bound = r.limits.CountLimit
	case o.CountLimit > 0:
		p.bound = o.CountLimit
	}
	if o.After != "" {
		key, err := base64.RawURLEncoding.DecodeString(o.After)
		if err != nil || len(key) == 0 {
			return nil, fault.Invalid.Errorf("cursor: was not returned with a page")
		}
		p.after, p.Offset = key, 0
	}
	return p, nil
}

// row counts one row that matches; take says that it belongs on the page, more that further rows
// are of interest. Key is what a cursor after the row consists of.
func (p *pager) row(key []byte) (take, more bool) {
	p.seen++
	if p.seen > p.Offset && p.filled < p.size {
		p.filled++
		p.last = append(p.last[:0], key...)
		return true, true
	}
	if p.filled == p.size {
		p.HasNext = true
	}
	if p.bound > 0 && p.seen > p.bound {
		p.More = true
	}
	counted := p.bound == 0 || p.after != nil || p.More
	return false, !p.HasNext || !counted
}

// end settles the figures once no more rows come.
func (p *pager) end() Page {
	p.Total = p.seen
	if p.bound > 0 && p.seen > p.bound {
		p.Total, p.More = p.bound, true
	}
	if p.bound == 0 {
		p.More = p.HasNext
	}
	if p.HasNext {
		p.Next = base64.RawURLEncoding.EncodeToString(p.last)
	}
	return p.Page
}

// PageOf collects the part of a list that is asked for, without a cursor: walk calls take with what the
// list has, in its order, until take returns false.
func PageOf[T any](t *Tx, o PageOptions, walk func(take func(T) bool) error) (list []T, page Page, err error) {
	o.After = ""
	p, err := t.repo.pager(o)
	if err != nil {
		return nil, page, err
	}
	err = walk(func(v T) bool {
		ok, more := p.row(nil)
		if ok {
			list = append(list, v)
		}
		return more
	})
	page = p.end()
	page.Next = ""
	return list, page, err
}

// PageByName collects the part of a list of names that is asked for: walk calls take with the names that the list has behind
// one, in its order, until take returns false.
func PageByName(t *Tx, o PageOptions, walk func(after string, take func(name string) bool) error) (list []string, page Page, err error) {
	p, err := t.repo.pager(o)
	if err != nil {
		return nil, page, err
	}
	err = walk(string(p.after), func(name string) bool {
		ok, more := p.row([]byte(name))
		if ok {
			list = append(list, name)
		}
		return more
	})
	return list, p.end(), err
}

// Children returns a part of the readable children of d, in order.
func (t *Tx) Children(d *Doc, o PageOptions) (*Page, error) {
	p, err := t.repo.pager(o)
	if err != nil {
		return nil, err
	}
	if p.after != nil && len(p.after) != 24 {
		return nil, fault.Invalid.Errorf("cursor: was not returned with a list of children")
	}
	var ids []layout.ID
	scanned := 0
	for c, err := range t.children(d, p.after) {
		if err != nil {
			return nil, err
		}
		if scanned++; scanned > t.repo.limits.ScanRows {
			return nil, fault.Limit.Errorf("children of %s: more than %d rows read", d.ID(), t.repo.limits.ScanRows)
		}
		take, more := p.row(layout.ChildPositionKey(layout.None, c.position, c.id)[18:])
		if take {
			ids = append(ids, c.id)
		}
		if !more {
			break
		}
	}
	docs, err := t.loadMany(ids)
	if err != nil {
		return nil, err
	}
	for _, c := range docs {
		if c != nil {
			p.Docs = append(p.Docs, c)
		}
	}
	if p.after != nil && p.bound > 0 {
		if err := t.countChildren(d, p); err != nil {
			return nil, err
		}
	}
	page := p.end()
	return &page, nil
}

// countChildren counts from the start for a page that began at a cursor.
func (t *Tx) countChildren(d *Doc, p *pager) error {
	p.seen = 0
	for _, err := range t.children(d, nil) {
		if err != nil {
			return err
		}
		if p.seen++; p.seen > p.bound {
			return nil
		}
	}
	return nil
}

// SortKey is one ORDER BY item.
type SortKey struct {
	Field string
	Desc  bool
}

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
	a.entries(docEntries(d.id), entriesAhead)
}

// entriesAhead is how many records of a document are gathered: a page of them, and one more.
const entriesAhead = 101

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
		r := prefix(kv.AppendString(a.t.repo.numbers.IndexPrefix(index), d.seriesID().String()))
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
	r := prefix(a.t.repo.numbers.VersionPrefix(d.series))
	r.Reverse, r.Limit, r.KeysOnly = true, 1, true
	a.scan(r)
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

func (a *Reads) members(kind byte, of string) {
	r := prefix(layout.MemberPrefix(kind, of))
	r.KeysOnly = true
	a.scan(r)
}
