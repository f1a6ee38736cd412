package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"catena/engine"
	"catena/engine/expr"
	"catena/engine/lines"
	"catena/engine/openapi"
	"catena/engine/spreadsheet"
	"catena/storage"
	"catena/storage/fault"
)

// reader reads formats; spreadsheets are read by a worker.
type reader struct{ books *spreadsheet.Reader }

func (r reader) op() engine.Op {
	return engine.Op{
		Name: "Data.Read", Label: "Read data", Category: "Data", Effect: engine.Reads, Callers: engine.Anyone,
		Doc: "Reads a file or a text of CSV, JSON, JSON Lines or XML, or a spreadsheet (xlsx), and returns the value: of CSV and spreadsheets a list of maps " +
			"by the names of the columns, or with header: false a list of lists; of XML a map of elements. Cells of CSV are texts, those of spreadsheets " +
			"texts, numbers, booleans, or dates as text. At most 20 MB and 100,000 rows.",
		Result: openapi.Ref("Value"),
		Run: engine.Overload(
			engine.On(func(p readParams, c *engine.Ctx, text string) (any, error) {
				if p.Format == "auto" {
					p.Format = guess(text)
				}
				return p.read(c, []byte(text))
			}),
			engine.On(func(p readParams, c *engine.Ctx, b *storage.Blob) (any, error) {
				if p.Format == "xlsx" || p.Format == "auto" && formatOf(b, "") == "xlsx" {
					return p.readBook(c, r.books, b)
				}
				text, err := b.Bytes(maxFile)
				if err != nil {
					return nil, err
				}
				if p.Format == "auto" {
					p.Format = formatOf(b, string(text))
				}
				return p.read(c, text)
			}),
		),
	}
}

type readParams struct {
	Format    string   `json:"format" default:"auto" enum:"auto,csv,json,jsonl,xml,xlsx" doc:"The format; auto goes by the type and name of the file, else by how the text begins."`
	Separator string   `json:"separator" default:"," doc:"What separates the cells of CSV, such as ; or \\t."`
	Header    bool     `json:"header" default:"true" doc:"Whether the first row of CSV or of a sheet names the columns."`
	Sheet     string   `json:"sheet,omitzero" doc:"Name of the sheet of a spreadsheet; by default the first one."`
	Lists     []string `json:"lists,omitzero" doc:"Names of XML elements that become lists even where there is only one."`
}

// The type of the file is more reliable than its name, and both more than its content: a CSV file
// may begin with a brace.
func formatOf(b *storage.Blob, text string) string {
	typ, _, _ := strings.Cut(b.Type, ";")
	if f := lines.Types[typ]; f != "" {
		return string(f)
	}
	switch {
	case typ == spreadsheet.Type:
		return "xlsx"
	case typ == "text/xml", typ == "application/xml", strings.HasSuffix(typ, "+xml"):
		return "xml"
	}
	if f := lines.Named(b.Name); f != "" {
		return string(f)
	}
	switch strings.ToLower(path.Ext(b.Name)) {
	case ".xlsx":
		return "xlsx"
	case ".xml":
		return "xml"
	}
	return guess(text)
}

// guess tells the format by how a text begins.
func guess(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	first, more, _ := strings.Cut(text, "\n")
	switch {
	case strings.HasPrefix(text, "{") && json.Valid([]byte(first)) && strings.TrimSpace(more) != "":
		return "jsonl"
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return "json"
	case strings.HasPrefix(text, "<"):
		return "xml"
	}
	return "csv"
}

func (p readParams) read(c *engine.Ctx, text []byte) (any, error) {
	if len(text) > maxFile {
		return nil, fault.Limit.Errorf("more than %d bytes", maxFile)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch p.Format {
	case "json":
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fault.Invalid.Errorf("JSON: %w", err)
		}
		return v, nil
	case "jsonl":
		return readLines(c, text)
	case "xml":
		return readXML(c, text, p.Lists)
	case "xlsx":
		return nil, fault.Invalid.Errorf("format: a spreadsheet is read from a file, not from a text").In("format")
	}
	return p.readCSV(c, text)
}

func readLines(c *engine.Ctx, text []byte) (any, error) {
	out := []any{}
	in := bufio.NewScanner(bytes.NewReader(text))
	// A line may be as long as the file: the scanner's own limit is 64 KiB.
	in.Buffer(nil, maxFile)
	for n := 1; in.Scan(); n++ {
		if err := c.Check(); err != nil {
			return nil, err
		}
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fault.Invalid.Errorf("line %d: %w", n, err)
		}
		if out = append(out, v); len(out) > maxRows {
			return nil, fault.Limit.Errorf("more than %d lines", maxRows)
		}
	}
	return out, in.Err()
}

// comma is the character that separates cells.
func comma(separator string) (rune, error) {
	if separator == `\t` {
		return '\t', nil
	}
	r, n := utf8.DecodeRuneInString(separator)
	if n == 0 || n != len(separator) || r == '"' || r == '\n' || r == '\r' || r == utf8.RuneError {
		return 0, fault.Invalid.Errorf("separator %q: must be one character", separator).In("separator")
	}
	return r, nil
}

func (p readParams) readCSV(c *engine.Ctx, text []byte) (any, error) {
	in := csv.NewReader(bytes.NewReader(text))
	// Rows may be shorter than the head: spreadsheets leave empty cells at the end of a row out.
	// Missing cells are missing members of the map.
	in.FieldsPerRecord = -1
	var err error
	if in.Comma, err = comma(p.Separator); err != nil {
		return nil, err
	}
	t := table{header: p.Header, out: []any{}}
	for {
		if err := c.Check(); err != nil {
			return nil, err
		}
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t.out, nil
		}
		if err != nil {
			return nil, fault.Invalid.Errorf("CSV: %w", err)
		}
		line, _ := in.FieldPos(0)
		if err := t.add(engine.List(row), line); err != nil {
			return nil, fault.Wrap(err, "CSV")
		}
	}
}

// readBook reads a sheet.
func (p readParams) readBook(c *engine.Ctx, books *spreadsheet.Reader, b *storage.Blob) (any, error) {
	if b.Size > maxFile {
		return nil, fault.Limit.Errorf("more than %d bytes", maxFile)
	}
	f, err := b.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	t := table{header: p.Header, out: []any{}}
	n := 0
	err = books.Read(c, f, p.Sheet, func(row []any) error {
		n++
		if err := t.add(row, n); err != nil {
			return fault.Wrap(err, "spreadsheet")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.out, nil
}

// table collects rows of cells: lists, or maps by the names that are in the first row.
type table struct {
	header  bool
	columns []string
	out     []any
}

// add adds the row that a line has.
func (t *table) add(row []any, line int) error {
	switch {
	case !t.header:
		t.out = append(t.out, row)
	case t.columns == nil:
		names := make([]string, len(row))
		for i, cell := range row {
			names[i] = expr.Text(cell)
		}
		var err error
		t.columns, err = lines.Columns(names)
		return err
	case len(row) > len(t.columns):
		return fault.Invalid.Errorf("line %d: %d cells, but %d columns", line, len(row), len(t.columns))
	default:
		m := make(map[string]any, len(t.columns))
		for i, cell := range row {
			m[t.columns[i]] = cell
		}
		t.out = append(t.out, m)
	}
	if len(t.out) > maxRows {
		return fault.Limit.Errorf("more than %d rows", maxRows)
	}
	return nil
}
