package schema

import (
	"fmt"
	"maps"
	"slices"
)

// Loss is what declarations no longer have, or have otherwise, so that documents with it could not be read, or would lose it when they
// are saved.
type Loss struct {
	What  string // "type Contract", "field ct:sum", "state draft of life cycle deal"
	Now   string // "is removed", "would be long instead of string"
	Place string // where it would be declared: "types/Contract", "schemas/contract/fields/sum"

	// Documents that lose it: of these types, or with this facet of their own.
	Types []string
	Facet string
	Field *Field   // as far as they have a value of it, or of the part that Steps name; nil: all of them
	Steps []string // from Field down
	State string   // as far as they are in it; "": in any
}

// Losses returns what the later declarations would take from documents of the earlier ones.
func Losses(old, next *Registry) (all []Loss) {
	for _, t := range old.typeList {
		to, ok := next.types[t.Name]
		if !ok {
			all = append(all, Loss{What: "type " + t.Name, Now: "is removed", Place: "types/" + t.Name, Types: []string{t.Name}})
			continue
		}
		all = append(all, lostStates(t, to)...)
		for _, s := range t.Schemas {
			if !to.HasSchema(s.Name) {
				all = append(all, lostFields(s, Loss{Place: "types/" + t.Name + "/schemas", Now: "is removed from type " + t.Name, Types: []string{t.Name}})...)
			}
		}
	}
	for _, f := range old.facetList {
		to, ok := next.facets[f.Name]
		if !ok {
			all = append(all, Loss{What: "facet " + f.Name, Now: "is removed", Place: "facets/" + f.Name, Facet: f.Name})
			continue
		}
		for _, s := range f.Schemas {
			if !slices.ContainsFunc(to.Schemas, func(x *Schema) bool { return x.Name == s.Name }) {
				all = append(all, lostFields(s, Loss{Place: "facets/" + f.Name + "/schemas", Now: "is removed from facet " + f.Name, Facet: f.Name})...)
			}
		}
	}
	for _, s := range old.schemaList {
		if to, ok := next.schemas[s.Name]; ok {
			all = append(all, old.changedFields(s, to)...)
		}
	}
	return all
}

func lostFields(s *Schema, of Loss) (all []Loss) {
	for _, f := range s.Fields {
		l := of
		l.What, l.Field = "field "+f.Key, f
		all = append(all, l)
	}
	return all
}

func lostStates(t, to *Type) (all []Loss) {
	if t.LifeCycle == nil {
		return nil
	}
	for _, state := range t.LifeCycle.States {
		if to.LifeCycle == nil || !slices.Contains(to.LifeCycle.States, state) {
			all = append(all, Loss{
				What: fmt.Sprintf("state %s of life cycle %s", state, t.LifeCycle.Name), Now: "is removed from type " + t.Name, Place: "lifeCycles/" + t.LifeCycle.Name,
				Types: []string{t.Name}, State: state,
			})
		}
	}
	return all
}

// changedFields compares a schema that remains, for all documents that have it.
func (r *Registry) changedFields(s, to *Schema) (all []Loss) {
	var found []Loss
	if s.Space() != to.Space() {
		found = lostFields(s, Loss{Now: "would have the prefix " + to.Space(), Place: "schemas/" + s.Name})
	} else {
		for _, f := range s.Fields {
			found = append(found, compareFields(f, to.Field(f.Name), Loss{Field: f, Place: "schemas/" + s.Name + "/fields/" + f.Name})...)
		}
	}
	for _, l := range found {
		for _, t := range r.typeList {
			if t.HasSchema(s.Name) {
				l.Types = append(l.Types, t.Name)
			}
		}
		all = append(all, l)
		for _, f := range r.facetList {
			if slices.ContainsFunc(f.Schemas, func(x *Schema) bool { return x.Name == s.Name }) {
				own := l
				own.Types, own.Facet = nil, f.Name
				all = append(all, own)
			}
		}
	}
	return all
}

// compareFields compares a field, or a part of one, with what it would be; at is where.
func compareFields(f, to *Field, at Loss) (all []Loss) {
	at.What = "field " + f.Key
	switch {
	case to == nil:
		at.Now = "is removed"
		return []Loss{at}
	case !readsAs(f, to):
		at.Now = fmt.Sprintf("would be %s instead of %s", to.TypeName(), f.TypeName())
		return []Loss{at}
	}
	for _, sub := range f.Fields {
		below := at
		below.Steps = append(slices.Clip(at.Steps), sub.Name)
		below.Place += "/fields/" + sub.Name
		all = append(all, compareFields(sub, to.Sub(sub.Name), below)...)
	}
	return all
}

// readsAs reports whether stored values of a field can be read as those of another.
func readsAs(f, to *Field) bool {
	if f.List != to.List {
		return false
	}
	return f.Kind == to.Kind || f.Kind == Integer && (to.Kind == Long || to.Kind == Double)
}

// Holders returns, by schema, which of the types and facets that two registries have bring it in the first.
func (r *Registry) holders(other *Registry) map[string][]string {
	all := map[string][]string{}
	for _, t := range r.typeList {
		if _, both := other.types[t.Name]; !both {
			continue
		}
		for _, s := range t.Schemas {
			all[s.Name] = append(all[s.Name], "type "+t.Name)
		}
	}
	for _, f := range r.facetList {
		if _, both := other.facets[f.Name]; !both {
			continue
		}
		for _, s := range f.Schemas {
			all[s.Name] = append(all[s.Name], "facet "+f.Name)
		}
	}
	return all
}

// Moved returns the schemas that other documents would have than before, and the types that would be below other types: what
// is indexed of them has to be written again.
func Moved(old, next *Registry) (schemas, types map[string]bool) {
	schemas, types = map[string]bool{}, map[string]bool{}
	was, is := old.holders(next), next.holders(old)
	for name := range maps.Keys(old.schemas) {
		if to, ok := next.schemas[name]; ok && (!slices.Equal(was[name], is[name]) || kindsOf(old.schemas[name].Fields) != kindsOf(to.Fields)) {
			schemas[name] = true
		}
	}
	in := func(names []string, r *Registry) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return r.types[name] == nil })
	}
	for name := range maps.Keys(old.types) {
		if next.types[name] != nil && !slices.Equal(in(old.under[name], next), in(next.under[name], old)) {
			types[name] = true
		}
	}
	return schemas, types
}

// kindsOf describes the types of those fields that both versions of a schema may index.
func kindsOf(fields []*Field) (s string) {
	for _, f := range fields {
		if f.Index || f.Kind == Complex {
			s += f.Name + " " + f.TypeName() + "{" + kindsOf(f.Fields) + "}"
		}
	}
	return s
}
