package directory

import (
	"cmp"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
)

var suggestEntries = engine.Op{
	Name:     "Directory.SuggestEntries",
	Label:    "Get suggested directory entries",
	Category: category,
	Doc: "Returns the entries of a directory whose label begins with a text, as JSON for widgets that offer them. " +
		"Entries of a directory with parents come as a tree, of which only the leaves match unless filterParent is set.",
	Effect: engine.Reads,
	Run:    engine.On(suggestEntriesParams.run),
}

type suggestEntriesParams struct {
	Directory string        `json:"directoryName" doc:"Name of the directory."`
	Separator string        `json:"absoluteLabelSeparator" default:"/" doc:"What stands between labels of a path."`
	Parents   bool          `json:"canSelectParent" default:"false" doc:"Entries with others below them can be chosen too."`
	Case      bool          `json:"caseSensitive" default:"false" doc:"Mind the case."`
	Contains  bool          `json:"contains" default:"false" doc:"The label need only hold the text."`
	Columns   bool          `json:"dbl10n" default:"false" doc:"Labels in several languages are fields of their own."`
	Obsolete  bool          `json:"displayObsoleteEntries" default:"false" doc:"Obsolete entries too."`
	Above     bool          `json:"filterParent" default:"false" doc:"Entries with others below them can match too."`
	Filters   storage.Props `json:"filters,omitzero" doc:"Only entries with these values, by field."`
	Key       string        `json:"keySeparator" default:"/" doc:"What stands between ids of a path."`
	Field     string        `json:"labelFieldName" default:"label" doc:"Field that holds the label, in which {lang} stands for the language."`
	Lang      string        `json:"lang,omitzero" doc:"Language; that of context variable lang, or English, if not given."`
	Limit     int           `json:"limit" type:"int" default:"-1" doc:"Most entries; -1 for any number."`
	Localize  bool          `json:"localize" default:"false" doc:"Put texts in the place of label keys."`
	Term      string        `json:"searchTerm,omitzero" alias:"prefix" doc:"Text to look for."`
}

func (p suggestEntriesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return nil, err
	}
	q := record.Query{Equal: p.Filters, Exact: p.Case}
	if !p.Localize && !p.Columns && !p.Contains && d.Parent == "" && p.Term != "" && d.Schema.Field(p.Field) != nil {
		q.Starts = map[string]string{p.Field: p.Term}
	}
	found, err := all(d, q)
	if err != nil {
		return nil, err
	}
	inner, err := innerIDs(d)
	if err != nil {
		return nil, err
	}
	t := newTree(c, p, d)
	for _, e := range found {
		if p.Limit >= 0 && t.leaves >= p.Limit {
			break
		}
		if obsolete(e) && !p.Obsolete || inner[e.ID] && !p.Above || !p.matches(t.label(e)) {
			continue
		}
		if err := t.add(e); err != nil {
			return nil, err
		}
	}
	return jsonBlob(t.items(t.top))
}

// innerIDs returns the entries that others of the same directory are below.
func innerIDs(d *record.Directory) (map[string]bool, error) {
	inner := map[string]bool{}
	if d.Parent != d.Name {
		return inner, nil
	}
	everything, err := all(d, record.Query{})
	for _, e := range everything {
		inner[e.Text("parent")] = true
	}
	return inner, err
}

func obsolete(e *record.Entry) bool {
	v := e.Text("obsolete")
	return v != "" && v != "0" && v != "false"
}

func (p suggestEntriesParams) matches(label string) bool {
	term := strings.TrimSpace(p.Term)
	if !p.Case {
		label, term = strings.ToLower(label), strings.ToLower(term)
	}
	if p.Contains {
		return strings.Contains(label, term)
	}
	return strings.HasPrefix(label, term)
}

// byPlace orders nodes by ordering, then label.
func byPlace(list []*node) {
	slices.SortStableFunc(list, func(a, b *node) int {
		x, _ := a.entry.Values["ordering"].(int64)
		y, _ := b.entry.Values["ordering"].(int64)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(strings.ToLower(a.label), strings.ToLower(b.label)))
	})
}
