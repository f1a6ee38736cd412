package data

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/expr"
	"catena/engine/sheet"
	"catena/storage"
	"catena/storage/fault"
)

var write = engine.Op{
	Name: "Data.Write", Label: "Write data", Category: "Data", Effect: engine.Pure, Callers: engine.Anyone,
	Doc: "Writes a list, or any value as JSON, to a file: CSV of maps or lists, JSON, or JSON Lines. Cells that a spreadsheet would take for a formula are written as text.",
	Run: engine.On(writeParams.run),
}

type writeParams struct {
	Format  string   `json:"format" default:"csv" enum:"csv,json,jsonl" doc:"The format."`
	Name    string   `json:"name,omitzero" doc:"Name of the file; by default data with the end of the format."`
	Columns []string `json:"columns,omitzero" doc:"Columns of CSV in order; by default all members, by name."`
}

var types = map[string]string{"csv": "text/csv", "json": "application/json", "jsonl": "application/jsonl"}

func (p writeParams) run(c *engine.Ctx, in any) (*storage.Blob, error) {
	var out bytes.Buffer
	var err error
	switch p.Format {
	case "json":
		var text []byte
		text, err = entity.AppendPlain(nil, in)
		out.Write(text)
	case "jsonl":
		err = each(c, in, func(item any) error {
			line, err := json.Marshal(item)
			out.Write(append(line, '\n'))
			return err
		})
	default:
		err = p.writeCSV(c, in, &out)
	}
	if err != nil {
		return nil, err
	}
	if out.Len() > maxFile {
		return nil, fault.Limit.Errorf("more than %d bytes", maxFile)
	}
	if p.Name == "" {
		p.Name = "data." + p.Format
	}
	return engine.NewBlob(p.Name, types[p.Format], out.Bytes()), nil
}

// each calls f for the items of a list.
func each(c *engine.Ctx, in any, f func(any) error) error {
	var list []any
	switch v := in.(type) {
	case []any:
		list = v
	case []string:
		list = engine.List(v)
	case *engine.Rows:
		list = engine.List(v.Entries)
	default:
		return fault.Invalid.Errorf("input: must be a list").In("input")
	}
	for _, item := range list {
		if err := c.Check(); err != nil {
			return err
		}
		if err := f(item); err != nil {
			return err
		}
	}
	return nil
}

func (p writeParams) writeCSV(c *engine.Ctx, in any, out *bytes.Buffer) error {
	// Without columns the list is read twice, since every map may add one.
	columns := p.Columns
	if columns == nil {
		all := map[string]bool{}
		if err := each(c, in, func(item any) error {
			m, _ := item.(map[string]any)
			for name := range m {
				all[name] = true
			}
			return nil
		}); err != nil {
			return err
		}
		columns = slices.Sorted(maps.Keys(all))
	}
	w := sheet.NewWriter(out, false)
	// A list of lists has no names to write, so its table has no head.
	if len(columns) > 0 {
		if err := w.Write(columns); err != nil {
			return err
		}
	}
	err := each(c, in, func(item any) error {
		var row []string
		switch v := item.(type) {
		case map[string]any:
			for _, name := range columns {
				row = append(row, expr.Text(v[name]))
			}
		case []any:
			for _, cell := range v {
				row = append(row, expr.Text(cell))
			}
		default:
			row = []string{expr.Text(v)}
		}
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	return w.Flush()
}
