package service

import (
	"cmp"
	"embed"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/storage"
	"catena/storage/declare"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Actions are what user interfaces may offer, in the order they are offered.
type Actions []*action

// action is one of them, as declared.
type action struct {
	id                            string
	at                            declare.Place
	categories                    []string
	operation, link, icon         string
	order                         int
	enabled                       bool
	permission                    string
	types, facets, states, groups []string
	labels, help, properties      map[string]string
}

// builtin returns the actions every server has. They are read once.
var builtin = sync.OnceValue(func() Actions {
	all, err := Load()
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// Load returns the built-in actions and those of the files in folders. An action replaces the one of
// the same name; what is wrong in the files is told with file and line.
func Load(folders ...fs.FS) (Actions, error) {
	r := &reader{all: map[string]*action{}}
	err := r.Files(func(root *yaml.Node) {
		r.Each(root, declare.Keys{"actions": func(n *yaml.Node) { r.Pairs(n, r.action) }})
	}, append([]fs.FS{declare.Folder(defaults, "defaults")}, folders...)...)
	if err == nil {
		err = r.Err()
	}
	list := slices.SortedFunc(maps.Values(r.all), func(a, b *action) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.id, b.id))
	})
	return slices.DeleteFunc(list, func(a *action) bool { return !a.enabled }), err
}

// reader reads declarations of actions.
type reader struct {
	declare.Reader
	all map[string]*action
}

func (r *reader) action(key, n *yaml.Node) {
	a := &action{id: key.Value, at: r.At(key), enabled: true}
	r.Each(n, declare.Keys{
		"categories": r.Texts(&a.categories), "operation": r.Text(&a.operation), "link": r.Text(&a.link), "icon": r.Text(&a.icon),
		"order": r.Count(&a.order), "enabled": r.Flag(&a.enabled), "permission": r.Text(&a.permission),
		"types": r.Texts(&a.types), "facets": r.Texts(&a.facets), "states": r.Texts(&a.states), "groups": r.Texts(&a.groups),
		"label": r.ByName(&a.labels), "help": r.ByName(&a.help), "properties": r.ByName(&a.properties),
	})
	if a.enabled && len(a.categories) == 0 {
		r.Fail(a.at, "action %s: categories are missing", a.id)
	}
	if a.enabled && a.operation == "" && a.link == "" {
		r.Fail(a.at, "action %s: operation or link is missing", a.id)
	}
	declare.Put(&r.Reader, r.all, key, func(a *action) declare.Place { return a.at }, a)
}

// available reports whether who asks may be offered the action, for a document or, if that is nil,
// without one.
func (a *action) available(c *engine.Ctx, d *storage.Doc) bool {
	among := func(declared []string, has func(string) bool) bool {
		return len(declared) == 0 || slices.ContainsFunc(declared, has)
	}
	if a.operation != "" && (c.Set() == nil || !c.Set().Allowed(a.operation, c.As, c.Door)) {
		return false
	}
	if !among(a.groups, func(g string) bool { return slices.Contains(c.As.Groups, g) }) {
		return false
	}
	if d == nil {
		return a.permission == "" && len(a.types) == 0 && len(a.facets) == 0 && len(a.states) == 0
	}
	types := c.Tx.Repo().Types()
	return among(a.types, func(t string) bool { return slices.Contains(types.Under(t), d.Type().Name) }) &&
		among(a.facets, d.HasFacet) &&
		among(a.states, func(s string) bool { return d.State() == s }) &&
		(a.permission == "" || c.Tx.Can(d, a.permission))
}

// entity is the action as answers have it.
func (a *action) entity(lang string) map[string]any {
	properties := map[string]any{}
	for k, v := range a.properties {
		properties[k] = v
	}
	return map[string]any{
		"id": a.id, "link": cmp.Or(a.link, a.operation), "icon": a.icon,
		"label": in(lang, a.labels, a.id), "help": in(lang, a.help, ""), "properties": properties,
	}
}

// in is a text in a language, else in English, else the other one.
func in(lang string, texts map[string]string, other string) string {
	return cmp.Or(texts[lang], texts[lang[:min(2, len(lang))]], texts["en"], other)
}
