package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// maxCompared bounds, in bytes, the texts and files whose lines are compared: the time for that may grow with the square of
// their size.
const maxCompared = 256 << 10

// diff compares what two documents hold now. Nothing is kept of a comparison.
var diff = engine.Op{
	Name:     "Document.Diff",
	Label:    "Compare Documents",
	Category: "Document",
	Doc: "Compares the document with another one, such as one of its versions, and returns what differs: each property with its value on the left, in the " +
		"input, and on the right, in the other document; of lists the items added and removed, of texts of several lines and of text files a unified diff.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Result:  openapi.Ref("DocumentDiff"),
	Run:     engine.On(diffParams.run).As("document", "documentdiff"),
}

type diffParams struct {
	Other   string   `json:"other" doc:"Path or id of the document to compare with."`
	Schemas []string `json:"schemas,omitzero" doc:"Only properties of these schemas; by default all."`
}

func (p diffParams) run(c *engine.Ctx, left *storage.Doc) (map[string]any, error) {
	right, err := c.Tx.Doc(storage.Ref(p.Other))
	if err != nil {
		return nil, err
	}
	for _, name := range p.Schemas {
		if _, ok := storage.TypesOf(c.Tx).Schema(name); !ok {
			return nil, fault.Invalid.Errorf("schemas: unknown schema %q%s", name, fault.Perhaps(name, storage.TypesOf(c.Tx).SchemaNames())).In("schemas")
		}
	}
	w := comparison{left: left, right: right, found: []any{}}
	w.system()
	for _, s := range schemasOfBoth(left, right) {
		if p.Schemas != nil && !slices.Contains(p.Schemas, s.Name) {
			continue
		}
		for _, f := range s.Fields {
			if err := c.Err(); err != nil {
				return nil, err
			}
			if err := w.property(f); err != nil {
				return nil, err
			}
		}
	}
	return map[string]any{"entity-type": "documentDiff", "left": sideOf(left), "right": sideOf(right), "differences": w.found}, nil
}

// schemasOfBoth are the schemas that either document has, those of the left one first.
func schemasOfBoth(left, right *storage.Doc) []*schema.Schema {
	all := slices.Clone(left.Schemas())
	for _, s := range right.Schemas() {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// sideOf tells which document one side is.
func sideOf(d *storage.Doc) map[string]any {
	return map[string]any{"uid": d.ID(), "path": d.Path(), "type": d.Type().Name, "title": d.Title(), "versionLabel": d.VersionLabel(), "isVersion": d.IsVersion()}
}

// comparison collects what differs.
type comparison struct {
	left, right *storage.Doc
	found       []any
}

// system compares what is beside the properties; the path is left out, since that of a version ends with the name of its document.
func (w *comparison) system() {
	for _, part := range []struct {
		name string
		of   func(*storage.Doc) any
	}{
		{"ecm:primaryType", func(d *storage.Doc) any { return d.Type().Name }},
		{"ecm:currentLifeCycleState", func(d *storage.Doc) any { return d.State() }},
		{"ecm:mixinType", func(d *storage.Doc) any { return strings.Join(d.Facets(), " ") }},
	} {
		if a, b := part.of(w.left), part.of(w.right); a != b {
			w.add(part.name, a, b)
		}
	}
}

// property compares a property; one that a document cannot have is as if it was not set.
func (w *comparison) property(f *schema.Field) error {
	values := [2]any{}
	for i, d := range []*storage.Doc{w.left, w.right} {
		v, err := d.Get(f.Key)
		if fault.Is(err, fault.Invalid) {
			continue // neither the type nor a facet of this document has it
		}
		if err != nil {
			return err
		}
		values[i] = v
	}
	return w.values(f, f.Key, values[0], values[1])
}

// values compares two values of a field. Members of objects are compared one by one.
func (w *comparison) values(f *schema.Field, xpath string, a, b any) error {
	one, ok := a.(map[string]any)
	two, ok2 := b.(map[string]any)
	if f.Kind == schema.Complex && !f.List && ok && ok2 {
		for _, member := range f.Fields {
			if err := w.values(member, xpath+"/"+member.Name, one[member.Name], two[member.Name]); err != nil {
				return err
			}
		}
		return nil
	}
	left, right := shownValue(f, a), shownValue(f, b)
	if bytes.Equal(left, right) {
		return nil
	}
	m := w.add(xpath, left, right)
	if f.List {
		m["added"], m["removed"] = beside(right, left), beside(left, right)
		return nil
	}
	before, after, err := linesOf(a, b)
	if err != nil || before == after {
		return err
	}
	m["lines"] = udiff.Unified("left", "right", before, after)
	return nil
}

// add notes a difference.
func (w *comparison) add(xpath string, left, right any) map[string]any {
	m := map[string]any{"xpath": xpath, "left": left, "right": right}
	w.found = append(w.found, m)
	return m
}

// shownValue is a value in the form in which documents show it; files without their addresses, which differ wherever they are.
func shownValue(f *schema.Field, v any) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return f.AppendJSON(nil, v, nil)
}

// beside are the items of a list, in their form as JSON, that another one has not as often.
func beside(list, other json.RawMessage) []json.RawMessage {
	var items, others []json.RawMessage
	if json.Unmarshal(list, &items) != nil || json.Unmarshal(other, &others) != nil {
		return []json.RawMessage{}
	}
	left := map[string]int{}
	for _, item := range others {
		left[string(item)]++
	}
	out := []json.RawMessage{}
	for _, item := range items {
		if left[string(item)]--; left[string(item)] < 0 {
			out = append(out, item)
		}
	}
	return out
}

// linesOf are the texts of two values if their lines are worth comparing, and two equal ones if not.
func linesOf(a, b any) (before, after string, err error) {
	if before, err = linesIn(a); err != nil {
		return "", "", err
	}
	if after, err = linesIn(b); err != nil {
		return "", "", err
	}
	if !strings.Contains(strings.TrimSpace(before)+strings.TrimSpace(after), "\n") || len(before) > maxCompared || len(after) > maxCompared {
		return "", "", nil
	}
	return before, after, nil
}

// linesIn is a text, or what is in a text file; anything else has no lines.
func linesIn(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case *storage.Blob:
		if v == nil || !strings.HasPrefix(v.Type, "text/") || v.Size > maxCompared {
			return "", nil
		}
		data, err := v.Bytes(maxCompared)
		if err != nil {
			return "", fmt.Errorf("file %q: %w", v.Name, err)
		}
		if !utf8.Valid(data) {
			return "", nil
		}
		return string(data), nil
	}
	return "", nil
}
