package directory

import (
	"strings"

	"catena/engine"
	"catena/storage/directory"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

// maxLevels bounds how many entries stand above one another.
// Real hierarchies have two or three levels. The bound also limits the recursion of node and items.
const maxLevels = 20

// tree collects the entries that are suggested with those above them.
type tree struct {
	c      *engine.Ctx
	p      suggestEntriesParams
	dir    *record.Directory
	lang   string
	field  string
	nodes  map[[2]string]*node // by directory and id
	top    []*node
	leaves int
}

type node struct {
	entry         *record.Entry
	label         string
	computed, abs string
	chosen        bool // it matched itself
	below         []*node
}

func newTree(c *engine.Ctx, p suggestEntriesParams, d *record.Directory) *tree {
	lang := directory.Language(language(c, p.Lang))
	t := &tree{c: c, p: p, dir: d, lang: lang, field: p.Field, nodes: map[[2]string]*node{}}
	switch {
	case strings.Contains(p.Field, "{lang}"):
		t.field = strings.ReplaceAll(p.Field, "{lang}", lang)
	case p.Columns:
		t.field = p.Field + "_" + lang
	}
	return t
}

// label returns what an entry is called: in the language, in English, or plainly.
func (t *tree) label(e *record.Entry) string {
	plain := strings.TrimSuffix(strings.TrimSuffix(t.p.Field, "{lang}"), "_")
	for _, name := range []string{t.field, plain + "_en", plain} {
		if s := e.Text(name); s != "" {
			if t.p.Localize && !t.p.Columns {
				s = record.Registry(t.c.Tx).Text(t.lang, s)
			}
			return s
		}
	}
	return e.ID
}

// add takes an entry in.
func (t *tree) add(e *record.Entry) error {
	n, err := t.node(e, 0)
	if err == nil && !n.chosen {
		n.chosen = true
		t.leaves++
	}
	return err
}

// node returns the place of an entry, with places for all that are above it.
func (t *tree) node(e *record.Entry, level int) (*node, error) {
	key := [2]string{e.Directory.Name, e.ID}
	if n := t.nodes[key]; n != nil {
		return n, nil
	}
	if level > maxLevels {
		return nil, fault.Conflict.Errorf("directory %s: entry %s has more than %d ancestors", e.Directory.Name, e.ID, maxLevels)
	}
	n := &node{entry: e, label: t.label(e), computed: e.ID}
	n.abs = n.label
	// Kept before its parent is looked for: if entries name each other as parents, the search ends
	// here instead of going round.
	t.nodes[key] = n
	above, err := t.above(e)
	// What has no parent, or names one that is gone, stands at the top.
	if err != nil || above == nil {
		t.top = append(t.top, n)
		return n, err
	}
	up, err := t.node(above, level+1)
	if err != nil {
		return nil, err
	}
	up.below = append(up.below, n)
	n.computed, n.abs = up.computed+t.p.Key+e.ID, up.abs+t.p.Separator+n.label
	return n, nil
}

// above returns the entry that an entry names as its parent, nil if there is none.
func (t *tree) above(e *record.Entry) (*record.Entry, error) {
	// Nothing is above an entry of a directory that declares no parent, even if a field happens to
	// have the name.
	id := e.Text("parent")
	if e.Directory.Parent == "" || id == "" {
		return nil, nil
	}
	d, err := record.In(t.c.Tx, e.Directory.Parent)
	if err != nil {
		return nil, err
	}
	up, err := d.Entry(id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return up, err
}

// items writes nodes for widgets. One that only leads to others cannot be chosen.
func (t *tree) items(list []*node) []map[string]any {
	byIndex(list)
	out := make([]map[string]any, 0, len(list))
	for _, n := range list {
		m := map[string]any{"displayLabel": n.label}
		// A widget offers only what has an id, so an entry that leads to others gets just a label
		// and children.
		if len(n.below) == 0 || t.p.Parents {
			fields := object(n.entry)
			for name, v := range fields {
				m[name] = v
			}
			// Set after the fields, which could have these names themselves.
			m["id"], m["properties"], m["directoryName"] = n.entry.ID, fields, n.entry.Directory.Name
			m["entity-type"], m["computedId"], m["absoluteLabel"] = "directoryEntry", n.computed, n.abs
		}
		if len(n.below) > 0 {
			m["children"] = t.items(n.below)
		}
		out = append(out, m)
	}
	return out
}
