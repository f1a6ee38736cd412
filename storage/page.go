package storage

import (
	"encoding/base64"

	"catena/storage/fault"
	"catena/storage/internal/layout"
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

// pass passes over rows that match, if all of them precede the page.
func (p *pager) pass(rows int) bool {
	if p.seen+rows > p.Offset {
		return false
	}
	p.seen += rows
	return true
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
