package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"catena/engine"
	"catena/engine/lines"
	"catena/storage"
	"catena/storage/fault"
)

var read = engine.Op{
	Name: "Data.Read", Label: "Read data", Category: "Data", Effect: engine.Reads, Callers: engine.Anyone,
	Doc: "Reads a file or a text of CSV, JSON or JSON Lines and returns the value: of CSV a list of maps by the names of the columns, " +
		"whose members are texts, or with header: false a list of lists. At most 20 MB and 100,000 rows.",
	Run: engine.Overload(
		engine.On(func(p readParams, c *engine.Ctx, text string) (any, error) {
			if p.Format == "auto" {
				p.Format = guess(text)
			}
			return p.read(c, []byte(text))
		}),
		engine.On(func(p readParams, c *engine.Ctx, b *storage.Blob) (any, error) {
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

type readParams struct {
	Format    string `json:"format" default:"auto" enum:"auto,csv,json,jsonl" doc:"The format; auto goes by the type and name of the file, else by how the text begins."`
	Separator string `json:"separator" default:"," doc:"What separates the cells of CSV, such as ; or \\t."`
	Header    bool   `json:"header" default:"true" doc:"Whether the first row of CSV names the columns."`
}

// The type of the file is more reliable than its name, and both more than its content: a CSV file
// may begin with a brace.
func formatOf(b *storage.Blob, text string) string {
	typ, _, _ := strings.Cut(b.Type, ";")
	if f := lines.Types[typ]; f != "" {
		return string(f)
	}
	if f := lines.Named(b.Name); f != "" {
		return string(f)
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
	var columns []string
	out := []any{}
	for {
		if err := c.Check(); err != nil {
			return nil, err
		}
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fault.Invalid.Errorf("CSV: %w", err)
		}
		line, _ := in.FieldPos(0)
		switch {
		case !p.Header:
			out = append(out, engine.List(row))
		case columns == nil:
			if columns, err = lines.Columns(row); err != nil {
				return nil, fault.Wrap(err, "CSV")
			}
			continue
		case len(row) > len(columns):
			return nil, fault.Invalid.Errorf("CSV: line %d: %d cells, but %d columns", line, len(row), len(columns))
		default:
			m := make(map[string]any, len(columns))
			for i, cell := range row {
				m[columns[i]] = cell
			}
			out = append(out, m)
		}
		if len(out) > maxRows {
			return nil, fault.Limit.Errorf("more than %d rows", maxRows)
		}
	}
}
