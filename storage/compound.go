package storage

import (
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// Compound is an index over several fields as rows of a repository hold it.
type Compound struct {
	Name    string
	Rows    string          // by which the dictionary knows its rows: the name, or the place of an automatic one
	Columns []schema.Column // as the rows are in order: the last one ascends, and the index is walked backwards otherwise
	Include []schema.Column
	Schema  *schema.Schema // whose documents have rows; nil: those of Types
	Types   map[string]bool
	Where   string // what declares it: "schema item", "type Item"
	ID      string // of an automatic one; "" for those that are declared
}

// compounds returns the indexes over several fields that are declared, by name.
func compounds(reg *schema.Registry) (out []*Compound) {
	for _, s := range reg.Schemas() {
		for _, x := range s.Indexes {
			out = append(out, newCompound(x, Compound{Schema: s, Where: "schema " + s.Name}))
		}
	}
	for _, t := range reg.Types() {
		for _, x := range t.Indexes {
			out = append(out, compoundOf(reg, t.Name, x))
		}
	}
	return out
}

// compoundOf is an index of a type and of those below it.
func compoundOf(reg *schema.Registry, typ string, x *schema.Index) *Compound {
	types := map[string]bool{}
	for _, name := range reg.Under(typ) {
		types[name] = true
	}
	return newCompound(x, Compound{Types: types, Where: "type " + typ})
}

func newCompound(x *schema.Index, c Compound) *Compound {
	c.Name = x.String() + " of " + c.Where
	c.Rows, c.Columns, c.Include = c.Name, slices.Clone(x.Columns), x.Include
	if c.Columns[len(c.Columns)-1].Desc {
		for i := range c.Columns {
			c.Columns[i].Desc = !c.Columns[i].Desc
		}
	}
	return &c
}

// holds reports whether a document has rows in the index.
func (c *Compound) holds(d *Doc) bool {
	if c.Schema == nil {
		return c.Types[d.typ.Name]
	}
	for i := range d.blocks {
		if d.blocks[i].shape.Schema == c.Schema {
			return true
		}
	}
	return false
}

// indexCompounds adds the rows of indexes over several fields.
func (d *Doc) indexCompounds(x *layout.IndexRows, all []*Compound) error {
	for _, c := range all {
		if !c.holds(d) {
			continue
		}
		if err := d.indexCompound(x, c); err != nil {
			return err
		}
	}
	return nil
}

func (d *Doc) indexCompound(x *layout.IndexRows, c *Compound) error {
	values := make([]any, len(c.Columns))
	items, many := []any{nil}, -1
	for i := range c.Columns {
		v, err := d.column(&c.Columns[i])
		if err != nil {
			return err
		}
		values[i] = v
		if c.Columns[i].Many {
			many = i
			if list := v.([]any); len(list) > 0 {
				items = list
			}
		}
	}
	var included []byte
	for i := range c.Include {
		v, err := d.included(&c.Include[i])
		if err != nil {
			return err
		}
		included = layout.AppendExact(included, v)
	}
	for _, item := range items {
		if many >= 0 {
			values[many] = item
		}
		key, tail := x.Begin(c.Rows), []byte(nil)
		for i, v := range values {
			n := len(key)
			var ok bool
			if key, ok = layout.AppendValue(key, v); !ok {
				return nil
			}
			if c.Columns[i].Desc {
				kv.Invert(key[n:])
			}
			tail = layout.AppendOriginal(tail, v)
		}
		x.Add(c.Rows, key, string(append(tail, included...)), 0)
	}
	return nil
}

// included returns the value that rows include of a field: all of a list.
func (d *Doc) included(c *schema.Column) (any, error) {
	if c.Many {
		return d.value(c.Prop.Key)
	}
	return d.column(c)
}

// column returns the value of a field of an index: nil without one, a list if there may be several.
func (d *Doc) column(c *schema.Column) (any, error) {
	if c.Prop == nil {
		return d.systemColumn(c.Key), nil
	}
	v, err := d.value(c.Prop.Key)
	if err != nil {
		return nil, err
	}
	var steps []string
	for _, s := range c.Rest.Steps() {
		if s.Index == schema.NoIndex {
			steps = append(steps, s.Name)
		}
	}
	items := []any{}
	eachPart(v, steps, func(v any) { items = append(items, v) })
	switch {
	case c.Many:
		return items, nil
	case len(items) > 0:
		return items[0], nil
	}
	return nil, nil
}

func (d *Doc) systemColumn(key string) any {
	text := ""
	switch key {
	case "ecm:currentLifeCycleState":
		text = d.state
	case "ecm:lockOwner":
		text = d.lockOwner
	case "ecm:name":
		return d.name
	case "ecm:parentId":
		text = d.ParentID()
	case "ecm:primaryType":
		return d.typ.Name
	}
	if text == "" {
		return nil
	}
	return text
}
