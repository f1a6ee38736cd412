package service

import (
	"cmp"
	"embed"
	"iter"
	"maps"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/schema"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Actions are what user interfaces may offer, in the order they are offered.
type Actions []*action

// action is one of them, as declared. Names keep their position, so that errors point to the line. An
// empty list of conditions always holds.
type action struct {
	id                       string
	at                       declare.Position
	operation, permission    declare.Name
	types, facets, states    []declare.Name
	categories, groups       []string
	link, icon               string
	order                    int
	enabled                  bool
	labels, help, properties map[string]string
}

// builtin returns the actions every server has. They are read once; that the types every server has suit
// them is tested.
var builtin = sync.OnceValue(func() Actions {
	r, err := read()
	if err = cmp.Or(err, r.Err()); err != nil {
		panic(err) // the files are part of the program
	}
	return r.enabled()
})

// Build returns the built-in actions and those of texts. An action replaces the built-in one of the same name as a whole, and with
// enabled: false it takes it away. It also tells everything that is wrong with the texts, such as a type, facet, state or permission
// that there is not.
func Build(types *schema.Registry, texts []declare.Source) (Actions, []declare.Mistake, error) {
	r, err := read()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range texts {
		r.Source(1, s, r.file)
	}
	for _, a := range r.all {
		r.resolve(a, types)
	}
	return r.enabled(), r.Mistakes(), nil
}

func read() (*reader, error) {
	r := &reader{all: map[string]*action{}}
	return r, r.Files(r.file, declare.Folder(defaults, "defaults"))
}

func (r *reader) file(root *yaml.Node) {
	r.Each(root, declare.Keys{"actions": func(n *yaml.Node) { r.Pairs(n, r.action) }})
}

// Check tells of operations that there are not in a set. It is separate from Build
// because the set of operations exists only later, with the chains and scripts of the server.
func (all Actions) Check(set *engine.Set) []declare.Mistake {
	var r declare.Reader
	for _, a := range all {
		if _, ok := set.Op(a.operation.Text); !ok && a.operation.Text != "" {
			r.Unknown("action "+a.id, "operation", a.operation, set.All())
		}
	}
	return r.Mistakes()
}

// reader reads declarations of actions.
type reader struct {
	declare.Reader
	all map[string]*action
}

func (r *reader) action(key, n *yaml.Node) {
	a := &action{id: key.Value, at: r.At(key), enabled: true}
	r.Each(n, declare.Keys{
		"categories": r.Texts(&a.categories), "operation": r.Word(&a.operation), "link": r.Text(&a.link), "icon": r.Text(&a.icon),
		"order": r.Count(&a.order), "enabled": r.Flag(&a.enabled), "permission": r.Word(&a.permission),
		"types": r.Words(&a.types), "facets": r.Words(&a.facets), "states": r.Words(&a.states), "groups": r.Texts(&a.groups),
		"label": r.ByName(&a.labels), "help": r.ByName(&a.help), "properties": r.ByName(&a.properties),
	})
	if a.enabled && len(a.categories) == 0 {
		r.Fail(a.at, "action %s: categories are missing", a.id)
	}
	if a.enabled && a.operation.Text == "" && a.link == "" {
		r.Fail(a.at, "action %s: operation or link is missing", a.id)
	}
	declare.Put(&r.Reader, r.all, key, func(a *action) declare.Position { return a.at }, a)
}

// resolve tells what an action names that there is not.
func (r *reader) resolve(a *action, types *schema.Registry) {
	for _, named := range []struct {
		kind  string
		names []declare.Name
		known iter.Seq[string]
	}{
		{"type", a.types, types.TypeNames()},
		{"facet", a.facets, types.FacetNames()},
		{"state", a.states, types.States()},
		{"permission", []declare.Name{a.permission}, slices.Values(storage.PermissionNames())},
	} {
		known := slices.Collect(named.known)
		for _, n := range named.names {
			if n != (declare.Name{}) && !slices.Contains(known, n.Text) {
				r.Unknown("action "+a.id, named.kind, n, slices.Values(known))
			}
		}
	}
}

// enabled are the actions that are offered, in their order.
func (r *reader) enabled() Actions {
	list := slices.SortedFunc(maps.Values(r.all), func(a, b *action) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.id, b.id))
	})
	return slices.DeleteFunc(list, func(a *action) bool { return !a.enabled })
}

// available reports whether the caller may be offered the action, for a document or, if that is nil,
// without one. This decides what is shown and protects nothing: the operation checks again when it is
// called.
func (a *action) available(c *engine.Ctx, d *storage.Doc) bool {
	among := func(declared []declare.Name, has func(string) bool) bool {
		return len(declared) == 0 || slices.ContainsFunc(declared, func(n declare.Name) bool { return has(n.Text) })
	}
	if op := a.operation.Text; op != "" && (c.Set() == nil || !c.Set().Allowed(op, c.As, c.EntryPoint)) {
		return false
	}
	if len(a.groups) > 0 && !slices.ContainsFunc(a.groups, func(g string) bool { return slices.Contains(c.As.Groups, g) }) {
		return false
	}
	// Conditions about a document cannot hold without one.
	if d == nil {
		return a.permission.Text == "" && len(a.types) == 0 && len(a.facets) == 0 && len(a.states) == 0
	}
	types := storage.TypesOf(c.Tx)
	return among(a.types, func(t string) bool { return slices.Contains(types.Under(t), d.Type().Name) }) &&
		among(a.facets, d.HasFacet) &&
		among(a.states, func(s string) bool { return d.State() == s }) &&
		(a.permission.Text == "" || c.Tx.Can(d, a.permission.Text))
}

// entity is the action as answers have it.
func (a *action) entity(lang string) map[string]any {
	properties := map[string]any{}
	for k, v := range a.properties {
		properties[k] = v
	}
	return map[string]any{
		"id": a.id, "link": cmp.Or(a.link, a.operation.Text), "icon": a.icon,
		"label": in(lang, a.labels, a.id), "help": in(lang, a.help, ""), "properties": properties,
	}
}

// in is a text in a language, else in English, else the other one. The first two letters are tried for
// languages with a region, such as fr-CA.
func in(lang string, texts map[string]string, other string) string {
	return cmp.Or(texts[lang], texts[lang[:min(2, len(lang))]], texts["en"], other)
}
