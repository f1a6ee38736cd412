package simulation

import (
	"fmt"
	"slices"

	"catena/engine"
	"catena/storage"
)

// plain is an action whose answer does not matter.
type plain struct{}

func (plain) seen(*engine.Ctx, any) error { return nil }

// create makes a document.
type create struct {
	parent, typ, title, name, token string
	id                              string
}

func (a *create) String() string {
	return fmt.Sprintf("create %s %s %q in %s", a.typ, a.token, a.title, a.parent)
}

func (a *create) request() (string, string, map[string]any) {
	return "Document.Create", a.parent, map[string]any{"type": a.typ, "name": a.name, "properties": map[string]any{"dc:title": a.title, "dc:source": a.token}}
}

func (a *create) seen(_ *engine.Ctx, v any) error {
	a.id = v.(*storage.Doc).ID()
	return nil
}

func (a *create) expect(m *model, by *person) answer {
	return when(m.docs[a.parent] != nil && m.may(by, a.parent, "Read") && m.may(by, a.parent, "AddChildren"))
}

func (a *create) apply(m *model, by *person) error {
	m.docs[a.id] = &document{id: a.id, parent: a.parent, typ: a.typ, title: a.title, token: a.token, last: by.name}
	m.happened("documentCreated", a.id, by)
	return nil
}

// rename changes the title of a document.
type rename struct {
	plain
	id, title string
}

func (a *rename) String() string { return fmt.Sprintf("title of %s %q", a.id, a.title) }

func (a *rename) request() (string, string, map[string]any) {
	return "Document.SetProperty", a.id, map[string]any{"xpath": "dc:title", "value": a.title}
}

func (a *rename) expect(m *model, by *person) answer {
	return when(m.docs[a.id] != nil && m.edits(by, a.id, "WriteProperties"))
}

func (a *rename) apply(m *model, by *person) error {
	if d := m.docs[a.id]; d.title != a.title {
		m.saved(d, by)
		d.title = a.title
	}
	return nil
}

// move puts a document elsewhere.
type move struct {
	plain
	id, target string
}

func (a *move) String() string { return fmt.Sprintf("move %s to %s", a.id, a.target) }

func (a *move) request() (string, string, map[string]any) {
	return "Document.Move", a.id, map[string]any{"target": a.target}
}

func (a *move) expect(m *model, by *person) answer {
	d := m.docs[a.id]
	return when(d != nil && m.docs[a.target] != nil && m.edits(by, a.id, "Remove") && m.may(by, d.parent, "RemoveChildren") &&
		m.may(by, a.target, "Read") && m.may(by, a.target, "AddChildren") && !m.within(a.target, a.id))
}

func (a *move) apply(m *model, by *person) error {
	if d := m.docs[a.id]; d.parent != a.target {
		d.parent = a.target
		m.happened("documentMoved", a.id, by)
	}
	return nil
}

// remove deletes a document with all below it.
type remove struct {
	plain
	id string
}

func (a *remove) String() string { return "delete " + a.id }

func (a *remove) request() (string, string, map[string]any) {
	return "Document.Delete", a.id, nil
}

func (a *remove) expect(m *model, by *person) answer {
	d := m.docs[a.id]
	return when(d != nil && m.edits(by, a.id, "Remove") && m.may(by, d.parent, "RemoveChildren"))
}

func (a *remove) apply(m *model, by *person) error {
	for _, id := range m.below(a.id) {
		m.happened("documentRemoved", id, by)
		defer delete(m.docs, id)
	}
	return nil
}

// trash puts a document into the trash or takes it out.
type trash struct {
	plain
	id  string
	out bool
}

func (a *trash) String() string { return fmt.Sprintf("trash %s, out: %t", a.id, a.out) }

func (a *trash) request() (string, string, map[string]any) {
	if a.out {
		return "Document.Untrash", a.id, nil
	}
	return "Document.Trash", a.id, nil
}

func (a *trash) expect(m *model, by *person) answer {
	return when(m.docs[a.id] != nil && m.edits(by, a.id, "WriteLifeCycle"))
}

func (a *trash) apply(m *model, by *person) error {
	d := m.docs[a.id]
	if d.trashed != a.out {
		return nil
	}
	for _, id := range m.below(a.id) {
		m.docs[id].trashed = !a.out
	}
	for up := m.docs[d.parent]; a.out && up != nil && up.trashed; up = m.docs[up.parent] {
		up.trashed = false
	}
	if a.out {
		m.happened("documentUntrashed", a.id, by)
	} else {
		m.happened("documentTrashed", a.id, by)
	}
	return nil
}

// lock locks a document, or ends that.
type lock struct {
	plain
	id  string
	end bool
}

func (a *lock) String() string { return fmt.Sprintf("lock %s, end: %t", a.id, a.end) }

func (a *lock) request() (string, string, map[string]any) {
	if a.end {
		return "Document.Unlock", a.id, nil
	}
	return "Document.Lock", a.id, nil
}

func (a *lock) expect(m *model, by *person) answer {
	d := m.docs[a.id]
	switch {
	case d == nil || !m.may(by, a.id, "Read"):
		return refused
	case a.end:
		return when(d.lock == "" || d.locker == by.number || m.may(by, a.id, "Unlock"))
	}
	return when(m.may(by, a.id, "WriteProperties") && (d.lock == "" || d.locker == by.number))
}

func (a *lock) apply(m *model, by *person) error {
	d := m.docs[a.id]
	switch {
	case a.end && d.lock != "":
		d.lock = ""
		m.happened("documentUnlocked", a.id, by)
	case !a.end && d.lock == "":
		d.lock, d.locker = by.name, by.number
		m.happened("documentLocked", a.id, by)
	}
	return nil
}

// version makes a version of a document.
type version struct {
	plain
	id string
}

func (a *version) String() string { return "version of " + a.id }

func (a *version) request() (string, string, map[string]any) {
	return "Document.CreateVersion", a.id, map[string]any{"increment": "Minor"}
}

func (a *version) expect(m *model, by *person) answer {
	d := m.docs[a.id]
	return when(d != nil && d.typ == "File" && m.edits(by, a.id, "WriteProperties"))
}

func (a *version) apply(m *model, by *person) error {
	if d := m.docs[a.id]; !d.checkedIn {
		m.archived(d, by)
	}
	return nil
}

// query finds documents by their titles.
type query struct {
	title string
	text  bool // by full text
	ids   []string
	total int
	more  bool
}

func (a *query) String() string { return fmt.Sprintf("query %q, full text: %t", a.title, a.text) }

func (a *query) request() (string, string, map[string]any) {
	where := "dc:title = '" + a.title + "'"
	if a.text {
		where = "ecm:fulltext.dc:title = '" + a.title + "'"
	}
	return "Repository.Query", "", map[string]any{
		"query": "SELECT * FROM Document WHERE " + where + " AND ecm:isTrashed = 0 AND ecm:isVersion = 0 ORDER BY dc:source",
	}
}

func (a *query) seen(_ *engine.Ctx, v any) error {
	page := v.(*storage.Page)
	a.ids, a.total, a.more = nil, page.Total, page.More
	for _, d := range page.Docs {
		a.ids = append(a.ids, d.ID())
	}
	return nil
}

func (a *query) expect(*model, *person) answer { return granted }

func (a *query) apply(m *model, by *person) error {
	slices.Sort(a.ids)
	if want := m.find(by, a.title); !slices.Equal(a.ids, want) {
		return fmt.Errorf("found %v instead of %v", a.ids, want)
	}
	if a.total != len(a.ids) || a.more {
		return fmt.Errorf("total %d (more: %t) of %d documents", a.total, a.more, len(a.ids))
	}
	return nil
}
