package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/sheet"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

// A table of the documents is written batch by batch, each batch's lines with its transaction, and put
// together at the end.

const (
	linesTable = "bulk lines"
	// Stores limit the size of a value, and the smallest of their limits counts; base64 adds a
	// third to this in JSON.
	linesSize = 512 << 10 // bytes of one row
	// Each column is looked up and written for each document, so this bounds the work of a line.
	maxColumns = 1000
)

// firstColumns are those of every document. Names and order are those of the platform's export.
var firstColumns = []string{
	"repository", "uid", "path", "type", "state", "parentRef", "isCheckedOut", "isVersion", "isProxy", "proxyTargetId",
	"versionableId", "changeToken", "isTrashed", "title", "versionLabel", "lockOwner", "lockCreated", "lastModified",
}

// columns are the properties that parameters "schemas" and "xpaths" ask for, by schema and name. The
// columns of schemas come first, sorted, then the xpaths in the order given. Header and lines call it
// for each batch, in different transactions: it depends on nothing but the parameters and the types.
func columns(c *engine.Ctx, params map[string]any) ([]string, error) {
	var out []string
	names, err := texts(params, "schemas")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s, ok := storage.TypesOf(c.Tx).Schema(name)
		if !ok {
			return nil, fault.Invalid.Errorf("schemas: no schema %q%s", name, fault.Perhaps(name, storage.TypesOf(c.Tx).SchemaNames())).In("parameters")
		}
		for _, f := range s.Fields {
			out = append(out, f.Key)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out) // a schema may be named twice
	xpaths, err := texts(params, "xpaths")
	if err != nil {
		return nil, err
	}
	if len(xpaths) > 2*maxColumns { // before they are compared with each other
		return nil, fault.Limit.Errorf("parameters: more than %d columns", maxColumns).In("parameters")
	}
	for _, xpath := range xpaths {
		if !slices.Contains(out, xpath) {
			out = append(out, xpath)
		}
	}
	if len(out) > maxColumns {
		return nil, fault.Limit.Errorf("parameters: more than %d columns", maxColumns).In("parameters")
	}
	return labelled(c, out, params), nil
}

// texts reads a parameter that is a list of texts, or one text with commas.
func texts(params map[string]any, name string) (out []string, err error) {
	switch v := params[name].(type) {
	case nil:
	case string:
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, fault.Invalid.Errorf("%s: must be a list of strings", name).In("parameters")
			}
			out = append(out, s)
		}
	default:
		return nil, fault.Invalid.Errorf("%s: must be a list of strings", name).In("parameters")
	}
	return out, nil
}

// csvTable is the table that a batch adds lines to.
type csvTable struct {
	params  map[string]any
	columns []string // after firstColumns
	out     *sheet.Writer
}

// line is a document as a line of the table.
func line(c *engine.Ctx, d *storage.Doc, t csvTable) ([]string, error) {
	out := make([]string, 0, len(firstColumns)+len(t.columns))
	fixed, err := firstValues(d)
	if err != nil {
		return nil, err
	}
	for _, v := range fixed {
		out = append(out, cell(v))
	}
	for _, xpath := range t.columns {
		xpath, named := strings.CutSuffix(xpath, labelMark)
		v, err := valueIfAny(d, xpath)
		if err == nil && v != nil && named {
			v, err = labels(c, xpath, v, t.params)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, cell(v))
	}
	return out, nil
}

// firstValues are the values of firstColumns.
func firstValues(d *storage.Doc) ([]any, error) {
	modified, err := valueIfAny(d, "dc:modified")
	if err != nil {
		return nil, err
	}
	target, series := "", ""
	if d.IsProxy() {
		target = d.TargetID()
	}
	if d.IsProxy() || d.IsVersion() {
		series = d.VersionableID()
	}
	owner, at, locked := d.Locked()
	var since any
	if locked {
		since = at
	}
	return []any{
		d.Repository(), d.ID(), d.Path(), d.Type().Name, d.State(), d.ParentID(), d.IsCheckedOut(), d.IsVersion(), d.IsProxy(), target,
		series, d.ChangeToken(), d.IsTrashed(), d.Title(), d.VersionLabel(), owner, since, modified,
	}, nil
}

// valueIfAny is a property; nil if the document has none of that name, as it may be of another type.
func valueIfAny(d *storage.Doc, xpath string) (any, error) {
	v, err := d.Get(xpath)
	// A table mixes types of documents. A cell is empty where the type has no such property; only
	// what keeps the value from being read at all, a damaged row for example, fails the line.
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return v, err
}

// cell is a value as text: a list of plain ones with bars between, a file by its name, what has parts
// as JSON.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *storage.Blob:
		if v == nil {
			return ""
		}
		return v.Name
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = cell(item)
		}
		return strings.Join(parts, " | ")
	}
	if b, err := json.Marshal(v); err == nil {
		return strings.Trim(string(b), `"`)
	}
	return fmt.Sprint(v)
}

// keepLines keeps the lines of a batch. They are cut anywhere, also within a line: join reads all rows
// of the command in the order of their keys as one stream of bytes. Four digits are enough, as a batch
// of 500 documents would need 10 MB a line to exceed them.
func (w *worker) keepLines(tx *storage.Tx, batch int, lines []byte) error {
	for n := 0; len(lines) > 0; n++ {
		size := min(len(lines), linesSize)
		if err := tx.Table(linesTable).Put(fmt.Sprintf("%s/%04d", w.key(batch), n), lines[:size]); err != nil {
			return err
		}
		lines = lines[size:]
	}
	return nil
}

// join puts the lines together to a file that the command holds. It runs in the transaction that
// completes the command, so a command is never complete without its file, and a transaction that is run
// again makes the file again. Only one row is in memory at a time.
func (w *worker) join(tx *storage.Tx, c *engine.Ctx, cmd *command) error {
	names, err := columns(c, cmd.Params)
	if err != nil {
		return err
	}
	var head bytes.Buffer
	out := sheet.NewWriter(&head, false)
	if err := errors.Join(out.Write(slices.Concat(firstColumns, names)), out.Flush()); err != nil {
		return err
	}
	// '0' is the character after '/', so the range is all keys that begin with the id and a slash.
	next, stop := iter.Pull2(tx.Table(linesTable).Scan(w.id+"/", w.id+"0", false, 0))
	defer stop()
	b, err := keepTable(tx, cmd.Params, io.MultiReader(&head, &rowReader{next: next}))
	if err != nil {
		return err
	}
	if err := hold.Keep(tx, w.id, b); err != nil {
		return err
	}
	cmd.File = b
	return w.dropLines(tx)
}

// The keys are gathered first, since rows must not be deleted while the scan over them is open.
func (w *worker) dropLines(tx *storage.Tx) error {
	var keys []string
	for key := range tx.Table(linesTable).Scan(w.id+"/", w.id+"0", false, 0) {
		keys = append(keys, key)
	}
	for _, key := range keys {
		if err := tx.Table(linesTable).Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// rowReader reads rows that hold bytes, one after the other.
type rowReader struct {
	next func() (string, json.RawMessage, bool)
	rest []byte
}

func (r *rowReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		_, raw, ok := r.next()
		if !ok {
			return 0, io.EOF
		}
		if err := json.Unmarshal(raw, &r.rest); err != nil {
			return 0, fault.Internal.Errorf("bulk lines: %w", err)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
