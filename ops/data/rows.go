package data

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// documentColumns are those of documents unless others are asked for.
var documentColumns = []string{"id", "path", "type", "title", "state"}

// rowsOf makes a list of what is written: one value is a list of one, and a document becomes a map of its columns. All pages of a query
// are gone through.
func (p *writeParams) rowsOf(c *engine.Ctx, in any) (any, error) {
	switch v := in.(type) {
	case nil:
		return nil, fault.Invalid.Errorf("input: is missing").In("input")
	case map[string]any:
		return []any{v}, nil
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
