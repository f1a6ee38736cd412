package schema

import (
	"cmp"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
)

// Increment is what a version adds to the number before it.
type Increment uint8

// The increments.
const (
	NoIncrement Increment = iota
	Minor
	Major
)

var incrementNames = [...]string{"none", "minor", "major"}

// Moment is when versions are made by themselves.
type Moment uint8

// The moments: before a save, of the state that was, or after it.
const (
	Before Moment = iota
	After
)

var momentNames = [...]string{"before", "after"}

// VersioningRule says that saving documents makes versions. A document is meant if its type,
// or the schemas it has, are named.
type VersioningRule struct {
	Name string
	// At equal order the name decides, so that every start and every process picks the same rule.
	Order     int // of several rules for a document and moment the lowest counts
	Types     []string
	Schemas   []string
	Moment    Moment
	Increment Increment
	Others    bool // only saves by somebody else than the last contributor
}

func (v *VersioningRule) means(t *Type, schemas []*Schema) bool {
	return slices.Contains(v.Types, t.Name) || slices.ContainsFunc(schemas, func(s *Schema) bool { return slices.Contains(v.Schemas, s.Name) })
}

// Versioning returns the rule that counts for a document of a type with schemas, nil if
// there is none.
func (r *Registry) Versioning(t *Type, schemas []*Schema, m Moment) *VersioningRule {
	for _, v := range r.versioning {
		if v.Moment == m && v.means(t, schemas) {
			return v
		}
	}
	return nil
}

type versioningDecl struct {
	*VersioningRule
	at             declare.Position
	types, schemas []declare.Name
}

func (l *loader) versioningRule(key, n *yaml.Node) {
	d := &versioningDecl{VersioningRule: &VersioningRule{Name: key.Value}, at: l.At(key)}
	moment, increment := "after", "minor"
	l.Each(n, declare.Keys{
		"types": l.Words(&d.types), "schemas": l.Words(&d.schemas), "moment": l.Text(&moment), "increment": l.Text(&increment),
		"others": l.Flag(&d.Others), "order": l.Count(&d.Order),
	})
	at := slices.Index(momentNames[:], moment)
	if at < 0 {
		l.Fail(d.at, "versioning %s: moment %q: must be before or after", d.Name, moment)
	}
	by := slices.Index(incrementNames[:], increment)
	if by < 0 {
		l.Fail(d.at, "versioning %s: increment %q: must be none, minor or major", d.Name, increment)
	}
	d.Moment, d.Increment = Moment(max(at, 0)), Increment(max(by, 0))
	declare.Put(&l.Reader, l.versioning, key, func(d *versioningDecl) declare.Position { return d.at }, d)
}

// resolveVersioning checks the names in the rules and puts the rules in order.
func (l *loader) resolveVersioning(r *Registry) {
	for _, d := range l.versioning {
		subject := "versioning " + d.Name
		for _, n := range d.types {
			if _, ok := l.types[n.Text]; !ok {
				l.Unknown(subject, "type", n, maps.Keys(l.types))
			}
			d.Types = append(d.Types, n.Text)
		}
		for _, s := range l.schemasOf(nil, d.schemas, subject) {
			d.Schemas = append(d.Schemas, s.Name)
		}
		r.versioning = append(r.versioning, d.VersioningRule)
	}
	slices.SortFunc(r.versioning, func(a, b *VersioningRule) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
	})
}
