package directory

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

var suggestEntries = engine.Op{
	Name:     "Directory.SuggestEntries",
	Label:    "Get suggested directory entries",
	Category: category,
	Doc: "Returns the entries of a directory whose label begins with a text, as JSON for suggestion widgets. " +
		"Entries of a hierarchical directory are returned as a tree, in which only leaves match an empty text unless filterParent is set.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(suggestEntriesParams.run),
}

type suggestEntriesParams struct {
	Directory string        `json:"directoryName" doc:"Name of the directory."`
	Separator string        `json:"absoluteLabelSeparator" default:"/" doc:"Separator between the labels of a path."`
	Parents   bool          `json:"canSelectParent" default:"false" doc:"Entries with children can be chosen too."`
	Case      bool          `json:"caseSensitive" default:"false" doc:"Match case."`
	Contains  bool          `json:"contains" default:"false" doc:"Match the text anywhere in the label."`
	Columns   bool          `json:"dbl10n" default:"false" doc:"Labels in several languages are separate fields."`
	Obsolete  bool          `json:"displayObsoleteEntries" default:"false" doc:"Include obsolete entries."`
	Above     bool          `json:"filterParent" default:"false" doc:"Entries with children can match too."`
	Filters   storage.Props `json:"filters,omitzero" doc:"Only entries with these values, by field."`
	Key       string        `json:"keySeparator" default:"/" doc:"Separator between the ids of a path."`
	Field     string        `json:"labelFieldName" default:"label" doc:"Field that holds the label; {lang} stands for the language."`
	Lang      string        `json:"lang,omitzero" doc:"Language; by default that of the context variable lang, or English."`
	Limit     int           `json:"limit" type:"int" default:"-1" doc:"Maximum number of entries; -1 means no limit."`
	Localize  bool          `json:"localize" default:"false" doc:"Replace label keys by their texts."`
	Term      string        `json:"searchTerm,omitzero" alias:"prefix" doc:"Text to search for."`
}

// The limit counts entries that matched, in the order of the directory; the tree is sorted
// afterwards. With translated labels the platform also filters after reading, and so does this.
func (p suggestEntriesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	p.Term = strings.TrimSpace(p.Term)
	d, err := record.In(c.Tx, p.Directory)
	if fault.Is(err, fault.NotFound) { // a form goes on without suggestions
		c.Log.LogAttrs(c, slog.LevelWarn, "no suggestions", slog.String("directory", p.Directory), slog.String("error", err.Error()))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := all(d, p.query(d))
	if err != nil {
		return nil, err
	}
	// Entries below are looked for in the whole directory and not among those found: a parent whose
	// children do not match is still not a leaf.
	inner, err := innerIDs(d)
	if err != nil {
		return nil, err
	}
	t := newTree(c, p, d)
	for _, e := range found {
		if p.Limit >= 0 && t.leaves >= p.Limit {
			break
		}
		// An obsolete entry may still appear as the parent of one that is not.
		if obsolete(e) && !p.Obsolete || inner[e.ID] && !p.Above && p.Term == "" || !p.matches(t.label(e)) {
			continue
		}
		if err := t.add(e); err != nil {
			return nil, err
		}
	}
	return jsonBlob(t.items(t.top))
}

// query selects the entries that may match. The directory can look for the beginning of a label only if the label is
// nothing but the value of one field.
func (p suggestEntriesParams) query(d *record.Directory) record.Query {
	q := record.Query{Equal: p.Filters, Exact: p.Case}
	if !p.Localize && !p.Columns && !p.Contains && d.Parent == "" && p.Term != "" && d.Schema.Field(p.Field) != nil {
		q.Starts = map[string]string{p.Field: p.Term}
	}
	return q
}

// innerIDs returns the entries that others of the same directory are below.
func innerIDs(d *record.Directory) (map[string]bool, error) {
	inner := map[string]bool{}
	// Only a directory that is its own parent has entries above others of the same directory.
	if d.Parent != d.Name {
		return inner, nil
	}
	everything, err := all(d, record.Query{})
	for _, e := range everything {
		inner[e.Text("parent")] = true
	}
	return inner, err
}

// Vocabularies store a number, other directories may store a boolean.
func obsolete(e *record.Entry) bool {
	v := e.Text("obsolete")
	return v != "" && v != "0" && v != "false"
}

func (p suggestEntriesParams) matches(label string) bool {
	term := p.Term
	if !p.Case {
		label, term = strings.ToLower(label), strings.ToLower(term)
	}
	if p.Contains {
		return strings.Contains(label, term)
	}
	return strings.HasPrefix(label, term)
}

// byIndex orders nodes by ordering, then as their directory declares them, then by label.
func byIndex(list []*node) {
	slices.SortStableFunc(list, func(a, b *node) int {
		x, _ := a.entry.Values["ordering"].(int64)
		y, _ := b.entry.Values["ordering"].(int64)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.entry.Directory.Index(a.entry.ID), b.entry.Directory.Index(b.entry.ID)), cmp.Compare(strings.ToLower(a.label), strings.ToLower(b.label)))
	})
}
