package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/expr"
	"catena/engine/sheet"
	"catena/engine/spreadsheet"
	"catena/storage"
	"catena/storage/fault"
)

var write = engine.Op{
	Name: "Data.Write", Label: "Write data", Category: "Data", Effect: engine.Pure, Callers: engine.Anyone,
	Doc: "Writes a list, or any value as JSON, to a file: CSV or a spreadsheet (xlsx) of maps or lists, JSON, JSON Lines, or XML. Cells that a spreadsheet would take for a formula are written as text. " +
		"Documents are written as rows; a single value is a list of one.",
	Run: engine.On(writeParams.run),
}

type writeParams struct {
	Format  string   `json:"format" default:"csv" enum:"csv,json,jsonl,xml,xlsx" doc:"The format."`
	Name    string   `json:"name,omitzero" doc:"Name of the file; by default data with the end of the format."`
	Sheet   string   `json:"sheet" default:"Data" doc:"Name of the sheet of a spreadsheet, at most 31 characters."`
	Columns []string `json:"columns,omitzero" doc:"Columns of CSV and spreadsheets in order; by default all members, by name. One that no row has is an error. Of documents: xpaths of properties, id, name, path, state, title and type."`
}

var types = map[string]string{"csv": "text/csv", "json": "application/json", "jsonl": "application/jsonl", "xml": "application/xml", "xlsx": spreadsheet.Type}

func (p writeParams) run(c *engine.Ctx, in any) (*storage.Blob, error) {
	var out bytes.Buffer
	var err error
	if p.Format != "json" && p.Format != "xml" {
		if in, err = p.rowsOf(c, in); err != nil {
			return nil, err
		}
	}
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
	case "xml":
		err = writeXML(c, in, &out)
	case "xlsx":
		err = p.writeBook(c, in, &out)
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

// names are the columns: those that were asked for, or all members of all items.
func (p writeParams) names(c *engine.Ctx, in any) ([]string, error) {
	if p.Columns != nil {
		return p.Columns, nil
	}
	all := map[string]bool{}
	err := each(c, in, func(item any) error {
		m, _ := item.(map[string]any)
		for name := range m {
			all[name] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(all)), err
}

// cells is an item as a row.
func cells(item any, columns []string) []any {
	switch v := item.(type) {
	case map[string]any:
		row := make([]any, len(columns))
		for i, name := range columns {
			row[i] = v[name]
		}
		return row
	case []any:
		return v
	}
	return []any{item}
}

func (p writeParams) writeCSV(c *engine.Ctx, in any, out *bytes.Buffer) error {
	columns, err := p.names(c, in)
	if err != nil {
		return err
	}
	w := sheet.NewWriter(out, false)
	// A list of lists has no names to write, so its table has no head.
	if len(columns) > 0 {
		if err := w.Write(columns); err != nil {
			return err
		}
	}
	err = each(c, in, func(item any) error {
		var row []string
		for _, cell := range cells(item, columns) {
			row = append(row, expr.Text(cell))
		}
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// writeBook writes a workbook of one sheet. Numbers and booleans stay what they are.
func (p writeParams) writeBook(c *engine.Ctx, in any, out *bytes.Buffer) error {
	columns, err := p.names(c, in)
	if err != nil {
		return err
	}
	return spreadsheet.Write(out, p.Sheet, func(yield func([]any, error) bool) {
		if len(columns) > 0 && !yield(engine.List(columns), nil) {
			return
		}
		err := each(c, in, func(item any) error {
			row := slices.Clone(cells(item, columns))
			for i, cell := range row {
				row[i] = scalar(cell)
			}
			if !yield(row, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	})
}

var errStopped = errors.New("stopped")

// scalar is a value that a cell can hold: all but numbers and booleans are texts.
func scalar(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int64, float64:
		return v
	}
	return expr.Text(v)
}
