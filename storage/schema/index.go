package schema

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
	"catena/storage/fault"
)

// Index is declared over several fields, on a schema or on a type: its rows are in the order of the columns.
type Index struct {
	Columns []Column
	Include []Column // whose values rows hold besides; those of a list together
}

// Column is a field of an index.
type Column struct {
	Key  string // of a property, "dc:title", of a field inside one, "item:box/code", or a system field
	Desc bool
	Many bool   // a document may have several values, and a row for each
	Prop *Field // nil: a system field
	Rest Path   // inside Prop
	Kind Kind

	InFile bool // a part of a file, such as its name
}

// String returns the declaration: "item:status, item:rank desc; item:priority".
func (x *Index) String() string {
	var b strings.Builder
	for i, c := range slices.Concat(x.Columns, x.Include) {
		switch {
		case i == len(x.Columns):
			b.WriteString("; ")
		case i > 0:
			b.WriteString(", ")
		}
		if b.WriteString(c.Key); c.Desc {
			b.WriteString(" desc")
		}
	}
	return b.String()
}

// SystemColumns are the system fields that may be columns of an index.
var SystemColumns = []string{"ecm:currentLifeCycleState", "ecm:lockOwner", "ecm:name", "ecm:parentId", "ecm:primaryType"}

// Limits of an index: each document with the schema or type has a row in it, written in the same transaction.
const (
	MaxColumns = 4
	MaxInclude = 8 // further fields
)

// indexDecl is an index as it is written.
type indexDecl struct {
	columns, include []declare.Name
	at               declare.Position
}

// indexes reads the indexes of a schema or a type: lists of columns, or mappings with columns and include.
func (l *loader) indexes(into *[]indexDecl) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			l.Fail(l.At(n), "must be a list of indexes")
			return
		}
		for _, item := range n.Content {
			d := indexDecl{at: l.At(item)}
			if item.Kind == yaml.SequenceNode {
				l.Words(&d.columns)(item)
			} else {
				l.Each(item, declare.Keys{"columns": l.Words(&d.columns), "include": l.Words(&d.include)})
			}
			*into = append(*into, d)
		}
	}
}

// resolveIndexes finds the fields of declared indexes; names without a prefix are those of the schemas.
func (l *loader) resolveIndexes(r *Registry, decls []indexDecl, schemas []*Schema, subject string) (out []*Index) {
	for _, d := range decls {
		x := &Index{}
		if len(d.columns) < 1 || len(d.columns) > MaxColumns || len(d.include) > MaxInclude {
			l.Fail(d.at, "%s: an index has 1 to %d columns, and includes at most %d fields", subject, MaxColumns, MaxInclude)
			continue
		}
		many := 0
		for i, n := range slices.Concat(d.columns, d.include) {
			c, ok := l.column(r, n, schemas, subject)
			if !ok {
				break
			}
			if i < len(d.columns) {
				if c.Many {
					many++
				}
				x.Columns = append(x.Columns, c)
				continue
			}
			if c.Prop == nil || c.Many && !c.Rest.Empty() {
				l.Fail(n.At, "%s: %s cannot be included in an index", subject, c.Key)
			}
			x.Include = append(x.Include, c)
		}
		// A row is written for each value; two such columns would multiply them.
		if many > 1 {
			l.Fail(d.at, "%s: only one column of an index may have several values", subject)
		}
		out = append(out, x)
	}
	return out
}

// Index reads an index of a type that is written as declarations are: columns may have desc behind them.
func (r *Registry) Index(typ string, columns, include []string) (*Index, error) {
	t, ok := r.Type(typ)
	if !ok {
		return nil, fault.NotFound.Errorf("index: type %s: not found", typ)
	}
	names := func(texts []string) (out []declare.Name) {
		for _, text := range texts {
			out = append(out, declare.Name{Text: text})
		}
		return out
	}
	l := newLoader()
	all := l.resolveIndexes(r, []indexDecl{{columns: names(columns), include: names(include)}}, t.Schemas, "type "+typ)
	if err := l.Err(); err != nil {
		return nil, err
	}
	return all[0], nil
}

// column reads a column: a field, and desc behind it where the order is descending.
func (l *loader) column(r *Registry, n declare.Name, schemas []*Schema, subject string) (c Column, ok bool) {
	name, direction, _ := strings.Cut(strings.TrimSpace(n.Text), " ")
	switch strings.ToLower(strings.TrimSpace(direction)) {
	case "", "asc":
	case "desc":
		c.Desc = true
	default:
		l.Fail(n.At, "%s: index: %q must be asc or desc", subject, direction)
		return c, false
	}
	c.Key = name
	if slices.Contains(SystemColumns, name) {
		return c, true
	}
	if !strings.Contains(name, ":") {
		first, _, _ := strings.Cut(name, "/")
		for _, s := range schemas {
			if s.Field(first) != nil {
				c.Key = s.Space() + ":" + name
				break
			}
		}
	}
	p, err := ParsePath(c.Key)
	if err == nil {
		c.Prop, c.Rest, err = Find(r.schemaList, p)
	}
	var leaf *Field
	if err == nil {
		leaf, err = c.Prop.Leaf(c.Rest)
	}
	if err != nil {
		l.Fail(n.At, "%s: index: %s", subject, err)
		return c, false
	}
	if leaf.Kind >= Blob || slices.ContainsFunc(c.Rest.Steps(), func(s Step) bool { return s.Index >= 0 }) {
		l.Fail(n.At, "%s: index: field %s cannot be a column", subject, c.Key)
		return c, false
	}
	c.Kind, c.Many, c.InFile = leaf.Kind, leaf.List || c.Rest.Wild() || c.Prop.List, slices.Contains(pseudo, leaf)
	return c, true
}
