package simulation

import (
	"maps"
	"slices"
)

// model is what the repository should contain, as plain maps, and what everybody may do. It knows nothing of
// how the server does it.
type model struct {
	base    string // id of the folder that all documents of clients are below
	docs    map[string]*document
	people  map[string]*person
	decks   map[int64]*deck
	reviews map[string]*review
	files   map[string]bool // digests that ever were in a document
	events  map[event]int   // what the audit log should tell, by how often
	blurred map[event]bool  // events that may be missing, for nothing may have changed
}

// document is a document that clients made.
type document struct {
	id, parent, typ, title, token string

	trashed, blocked bool
	entries          []entry
	lock             string // name of who locked it
	locker           int64  // and number
	last             string // name of who changed it last
	versions         int
	checkedIn        bool
	digest           string   // of its file
	kept             []string // of the files of its versions
}

// entry grants somebody a permission.
type entry struct {
	user       string // or group
	number     int64  // of the user; 0: a group
	permission string
	creator    string
}

// person is a user. Another user of the same name has another number.
type person struct {
	name   string
	number int64
	groups map[string]bool
}

// deck is a deck of slides, which only its owner sees.
type deck struct {
	number  int64
	owner   int64
	title   string
	trashed bool
}

// review is a workflow that waits for its initiator.
type review struct {
	task, doc string
	initiator int64
	over      bool
}

// event is what the audit log describes a document.
type event struct{ name, doc, user string }

func newModel() *model {
	return &model{
		docs: map[string]*document{}, people: map[string]*person{}, decks: map[int64]*deck{}, reviews: map[string]*review{},
		files: map[string]bool{}, events: map[event]int{}, blurred: map[event]bool{},
	}
}

func (p *person) admin() bool { return p.name == administrator }

// included are the permissions that others include, as far as clients' calls need them.
var included = map[string][]string{
	"Read":      {"Read", "ReadSecurity", "ReadVersion", "ReadChildren"},
	"ReadWrite": {"Read", "ReadSecurity", "ReadVersion", "ReadChildren", "WriteProperties", "AddChildren", "RemoveChildren", "Remove", "WriteLifeCycle", "ManageWorkflows", "WriteVersion"},
}

// may reports whether somebody has a permission on a document: the nearest entry or block that says so decides.
func (m *model) may(p *person, id, permission string) bool {
	if p == nil {
		return false
	}
	if p.admin() {
		return true
	}
	for d := m.docs[id]; d != nil; d = m.docs[d.parent] {
		for _, e := range d.entries {
			if m.means(e, p) && (e.permission == "Everything" || slices.Contains(included[e.permission], permission)) {
				return true
			}
		}
		if d.blocked {
			return false
		}
	}
	return false
}

func (m *model) means(e entry, p *person) bool {
	if e.number == 0 {
		return p.groups[e.user]
	}
	return e.user == p.name && e.number == p.number
}

// edits reports whether somebody may change a document: by a permission, and unless another one has locked it.
func (m *model) edits(p *person, id, permission string) bool {
	return m.may(p, id, "Read") && m.may(p, id, permission) && m.unlocked(p, id)
}

func (m *model) unlocked(p *person, id string) bool {
	d := m.docs[id]
	return d.lock == "" || d.locker == p.number || p.admin()
}

// below returns a document and all below it.
func (m *model) below(id string) (ids []string) {
	for _, d := range m.docs {
		if m.within(d.id, id) {
			ids = append(ids, d.id)
		}
	}
	return ids
}

// within reports whether a document is another one or below it.
func (m *model) within(id, top string) bool {
	for ; id != ""; id = m.docs[id].parent {
		if id == top {
			return true
		}
		if m.docs[id] == nil {
			return false
		}
	}
	return false
}

// happened has the audit log describe an event.
func (m *model) happened(name, doc string, by *person) { m.events[event{name, doc, by.name}]++ }

// saved is what every save of a document does: a version before it if somebody else changed the document last.
func (m *model) saved(d *document, by *person) {
	if d.typ == "File" && !d.checkedIn && d.last != by.name {
		m.archived(d, by)
	}
	d.checkedIn, d.last = false, by.name
	m.happened("documentModified", d.id, by)
}

// archived makes a version of a document.
func (m *model) archived(d *document, by *person) {
	d.versions++
	d.checkedIn, d.kept = true, append(d.kept, d.digest)
	m.happened("documentCheckedIn", d.id, by)
}

// current leaves those of the entries that are for a group or a user who is there.
func (m *model) current(entries []entry) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		p := m.people[e.user]
		return e.number != 0 && (p == nil || p.number != e.number)
	})
}

// find returns the ids of what a query for a title finds.
func (m *model) find(p *person, title string) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(m.docs)) {
		if d := m.docs[id]; d.title == title && !d.trashed && m.may(p, id, "Read") {
			ids = append(ids, id)
		}
	}
	return ids
}
