package data

import (
	"encoding/json"
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/search"
)

// documentColumns are those of documents unless others are asked for.
var documentColumns = []string{"id", "path", "type", "title", "state"}

// rowsOf makes a list of what is written: one value is a list of one, and a document becomes a map of its columns. All pages of a query
// are gone through. A column that nothing has is an error, for it was probably misspelt.
func (p *writeParams) rowsOf(c *engine.Ctx, in any) (any, error) {
	switch v := in.(type) {
	case nil:
		return nil, fault.Invalid.Errorf("input: is missing").In("input")
	case map[string]any, string, bool, int, int64, float64, json.Number:
		return p.plain(c, []any{v})
	case *storage.Doc:
		return p.documents(c, []any{}, storage.Docs{v})
	case storage.Docs:
		return p.documents(c, []any{}, v)
	case *storage.Page:
		rows := []any{}
		for page := v; page != nil; {
			var err error
			if rows, err = p.documents(c, rows, page.Docs); err != nil {
				return nil, err
			}
			if page, err = search.Next(c.Tx, page); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
	return p.plain(c, in)
}

// plain returns a list as it is, if each column is a member of one of its maps.
func (p *writeParams) plain(c *engine.Ctx, in any) (any, error) {
	if len(p.Columns) == 0 {
		return in, nil
	}
	members, objects, others := map[string]bool{}, 0, 0
	err := each(c, in, func(item any) error {
		m, ok := item.(map[string]any)
		if !ok {
			others++
			return nil
		}
		objects++
		for name := range m {
			members[name] = true
		}
		return nil
	})
	if err != nil || objects == 0 || others > 0 {
		return in, err
	}
	for _, name := range p.Columns {
		if !members[name] {
			return nil, fault.Invalid.Errorf("columns: no row has %q%s", name, fault.Perhaps(name, maps.Keys(members))).In("columns")
		}
	}
	return in, nil
}

// documents adds the rows of documents.
func (p *writeParams) documents(c *engine.Ctx, rows []any, docs storage.Docs) ([]any, error) {
	if p.Columns == nil {
		p.Columns = slices.Clone(documentColumns)
	}
	if len(rows)+len(docs) > maxRows {
		return nil, fault.Limit.Errorf("input: more than %d documents", maxRows).In("input")
	}
	if len(rows) == 0 {
		if err := p.known(c, docs); err != nil {
			return nil, err
		}
	}
	for _, d := range docs {
		if err := c.Check(); err != nil {
			return nil, err
		}
		row := make(map[string]any, len(p.Columns))
		for _, name := range p.Columns {
			row[name] = column(d, name)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// own are the columns that are fields of documents themselves.
var own = []string{"id", "name", "path", "state", "title", "type"}

// known refuses columns that are neither fields nor properties of any type of documents.
func (p *writeParams) known(c *engine.Ctx, docs storage.Docs) error {
	for _, name := range p.Columns {
		if slices.Contains(own, name) || slices.ContainsFunc(docs, func(d *storage.Doc) bool { _, err := d.Get(name); return err == nil }) {
			continue
		}
		path, err := schema.ParsePath(name)
		if err == nil {
			_, _, err = schema.Find(storage.TypesOf(c.Tx).Schemas(), path)
		}
		if err == nil {
			continue
		}
		if near := fault.Perhaps(name, slices.Values(own)); near != "" {
			return fault.Invalid.Errorf("columns: documents do not have %q%s", name, near).In("columns")
		}
		return fault.Wrap(err, "columns").In("columns")
	}
	return nil
}

// column is what a document has under a name: a field of the document itself or a property. A property that its type does not have is empty.
func column(d *storage.Doc, name string) any {
	switch name {
	case "id":
		return d.ID()
	case "name":
		return d.Name()
	case "path":
		return d.Path()
	case "state":
		return d.State()
	case "title":
		return d.Title()
	case "type":
		return d.Type().Name
	}
	v, err := d.Get(name)
	if err != nil {
		return nil
	}
	return v
}
