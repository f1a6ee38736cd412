package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// Rows of indexes hold the names of indexes, types and states as numbers, which take a byte or two where a
// name takes twenty. The row "m numbers" lists the names, one on a line; the number of a name is that of its
// line and never changes. Names that a declaration brings are added when it takes effect.
var numbersKey = layout.MetaKey("numbers")

// openNumbers reads the numbers and adds those of the names that are declared now.
func (r *catalog) openNumbers(ctx context.Context) error {
	want := r.indexNames()
	if r.db.Writable() == nil { // a store that cannot be written now has no new indexes
		want = append(append(want, automaticRows[:]...), zonesMark)
	}
	for _, t := range r.types.Types() {
		want = append(want, t.Name)
		if t.LifeCycle != nil {
			want = append(want, t.LifeCycle.States...)
		}
	}
	var have []string
	missing := func(k *kv.Tx) (bool, error) {
		b, err := k.Get(numbersKey)
		if have = nil; len(b) > 0 {
			have = strings.Split(string(b), "\n")
		}
		before := len(have)
		for _, name := range want {
			if !slices.Contains(have, name) {
				have = append(have, name)
			}
		}
		if len(have) > layout.MaxName {
			return false, fault.Limit.Errorf("names of indexes, types and states: %d, at most %d are allowed", len(have), layout.MaxName)
		}
		return len(have) > before, err
	}
	add := false
	err := r.db.View(ctx, func(k *kv.Tx) (err error) {
		add, err = missing(k)
		return err
	})
	if err == nil && add {
		err = r.db.Update(ctx, func(k *kv.Tx) error {
			if _, err := missing(k); err != nil {
				return err
			}
			return k.Set(numbersKey, []byte(strings.Join(have, "\n")))
		})
	}
	r.numbers = layout.NewDictionary(have)
	return err
}

func (d *Doc) appendCover(dst []byte, bits byte) []byte {
	if d.acl != (layout.ListID{}) {
		bits |= layout.HasList
	}
	if len(d.facets) > 0 {
		bits |= layout.HasFacets
	}
	dst = append(dst, d.flags, bits)
	dst = append(dst, d.parent[:]...)
	if bits&layout.HasList != 0 {
		dst = append(dst, d.acl[:]...)
	}
	dst = d.repo.numbers.Append(d.repo.numbers.Append(dst, d.typ.Name), d.state)
	if bits&layout.HasNode != 0 {
		dst = layout.AppendText(binary.BigEndian.AppendUint64(dst, uint64(d.position)), d.name)
	}
	return dst
}

// indexRows returns the rows of d, nothing for nil; those of automatic indexes are as given.
func (d *Doc) indexRows(automatic []*Compound) (*layout.IndexRows, error) {
	if d == nil {
		return layout.NoRows, nil
	}
	x := layout.NewIndexRows(d.repo.numbers, d.id)
	slim, full := x.CoverRoom()
	x.SetCovers(d.appendCover(slim, 0), d.appendCover(full, layout.HasNode))
	modified, err := d.value("dc:modified")
	if err != nil {
		return nil, err
	}
	key, _ := layout.AppendValue(d.repo.numbers.AppendKey(x.Begin(layout.TypeIndex), d.typ.Name), modified)
	x.Add(layout.TypeIndex, key, "", 0)
	x.AddText(layout.NameIndex, d.name)
	if d.state != "" {
		x.AddText(layout.StateIndex, d.state)
	}
	for _, f := range d.facets {
		x.AddText(layout.FacetIndex, f)
	}
	if d.lockOwner != "" {
		x.AddText(layout.LockIndex, d.lockOwner)
	}
	if d.IsTrashed() {
		x.AddValue(layout.TrashIndex, true)
	}
	switch {
	case d.IsVersion():
		key := kv.AppendString(x.Begin(layout.VersionIndex), d.liveID().String())
		x.Add(layout.VersionIndex, kv.AppendInt64(kv.AppendInt64(key, d.major), d.minor), "", 0)
	case d.IsProxy():
		x.AddText(layout.ProxyIndex, d.target.String())
		x.AddText(layout.ProxyOfIndex, d.series.String())
	default:
		if err := d.indexFile(x); err != nil {
			return nil, err
		}
	}
	if err := d.indexProperties(x); err != nil {
		return nil, err
	}
	if err := d.indexCompounds(x, d.repo.compounds); err != nil {
		return nil, err
	}
	return x, d.indexCompounds(x, automatic)
}

// indexFile adds the row by which a document is found in its folder by the name of its main file. Most files are called like their
// documents, which need none.
func (d *Doc) indexFile(x *layout.IndexRows) error {
	v, err := d.value("file:content")
	file, _ := v.(*blob.Blob)
	if err != nil || file == nil || file.Name == d.name || file.Name == d.Title() {
		return err
	}
	key := append(x.Begin(layout.FileIndex), d.parent[:]...)
	x.Add(layout.FileIndex, kv.AppendString(key, file.Name[:min(len(file.Name), layout.MaxIndexed)]), "", 0)
	return nil
}

// liveID is the document a version is a version of.
func (d *Doc) liveID() layout.ID { return d.series }

// indexProperties adds the rows by which properties are found: those that every document has, the fields that are declared as
// indexed, and members of complex fields. A list has a row for each item. Fields without a value have no row, except for those that
// are always indexed, which queries sort by.
func (d *Doc) indexProperties(x *layout.IndexRows) error {
	for _, key := range layout.AlwaysIndexed {
		v, err := d.value(key)
		if err != nil {
			return err
		}
		if x.AddValue(key, v); v == nil {
			x.Add(layout.UnsetIndex, d.repo.numbers.AppendKey(d.repo.numbers.AppendKey(x.Begin(layout.UnsetIndex), key), d.typ.Name), "", 0)
		}
	}
	for i := range d.blocks {
		b := &d.blocks[i]
		for j, f := range b.shape.Fields {
			inside := d.repo.parts[f]
			if len(inside) == 0 && (!f.Index || layout.IsAlwaysIndexed(f.Key)) {
				continue
			}
			v, err := b.get(d.repo, j)
			if err != nil {
				return err
			}
			for k := range inside {
				inside[k].index(x, v)
			}
			if f.Index && !layout.IsAlwaysIndexed(f.Key) {
				indexField(x, f, v)
			}
		}
	}
	return nil
}

// indexField adds the rows of a property with an index of its own.
func indexField(x *layout.IndexRows, f *schema.Field, v any) {
	if items, many := v.([]any); many {
		for _, item := range items {
			x.AddValue(f.Key, item)
		}
	} else if v != nil || hasNulls(f) && !f.List {
		x.AddValue(f.Key, v)
	}
}

// hasNulls reports whether the index of a field has a row also of a document whose schema has the field, but which has no
// value of it. Such an index gives the order of all these documents.
func hasNulls(f *schema.Field) bool { return f.Index && !f.Sparse }

// nullRows is the name by which the rows without a value are in the list of complete indexes, beside that of the index:
// repositories of before have none.
func nullRows(index string) string { return index + " (null)" }

// value reads a top-level property by key, nil where the document does not have it.
func (d *Doc) value(key string) (any, error) {
	b, i := d.field(key)
	if b == nil {
		return nil, nil
	}
	return b.get(d.repo, i)
}

// reindex brings the index rows of a document up to date: before is the document as it
// was (nil: new), after as it is (nil: removed).
func (t *Tx) reindex(before, after *Doc) error {
	automatic, err := t.automatic()
	if err != nil {
		return err
	}
	if automatic.misfit {
		if err := t.dropMisfits(); err != nil {
			return err
		}
	}
	t.countWrite(before, after)
	old, err := before.indexRows(automatic.kept)
	if err != nil {
		return err
	}
	now, err := after.indexRows(automatic.kept)
	if err != nil {
		return err
	}
	for _, row := range old.Rows {
		if now.Find(row.Key()) == nil {
			if err := t.kv.Delete(row.Key()); err != nil {
				return err
			}
		}
	}
	set := t.kv.SetRow
	if before == nil {
		set = t.kv.FreshRow // a new id is in every key
	}
	for _, row := range now.Rows {
		if was := old.Find(row.Key()); was == nil || !bytes.Equal(was, row.Value()) {
			if err := set(row.Row, row.KeySize); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is a field inside a complex one that is declared with an index: its index is named by its key,
// "files:files/*/file".
type part struct {
	name  string
	steps []string // names from the complex field down
	nulls bool     // a document without a value has a row: the part has at most one value
}

// parts returns the indexed fields inside a complex one.
func parts(f *schema.Field) (out []part) {
	var collect func(f *schema.Field, steps []string, many bool)
	collect = func(f *schema.Field, steps []string, many bool) {
		for _, sub := range f.Fields {
			below := append(steps[:len(steps):len(steps)], sub.Name)
			if sub.Index {
				out = append(out, part{sub.Key, below, hasNulls(sub) && !many && !sub.List})
			}
			collect(sub, below, many || sub.List)
		}
	}
	collect(f, nil, f.List)
	return out
}

// index adds the rows of the part: one for every value in that of the complex field.
func (p *part) index(x *layout.IndexRows, v any) {
	found := false
	eachPart(v, p.steps, func(v any) {
		x.AddValue(p.name, v)
		found = true
	})
	if !found && p.nulls {
		x.AddValue(p.name, nil)
	}
}

func eachPart(v any, steps []string, visit func(v any)) {
	switch x := v.(type) {
	case nil:
	case []any:
		for _, item := range x {
			eachPart(item, steps, visit)
		}
	case map[string]any:
		if len(steps) > 0 {
			eachPart(x[steps[0]], steps[1:], visit)
		}
	case *blob.Blob:
		if len(steps) == 1 {
			eachPart(schema.PartOfFile(x, steps[0]), nil, visit)
		}
	default:
		if len(steps) == 0 {
			visit(v)
		}
	}
}

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
	if slices.ContainsFunc(slices.Concat(x.Columns, x.Include), func(c schema.Column) bool { return c.InFile }) {
		c.Name += " (of files)" // before, under the name without this, rows did not have what files say
	}
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
