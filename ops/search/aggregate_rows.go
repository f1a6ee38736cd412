package search

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"catena/storage"
	"catena/storage/schema"
)

// column is a field of documents and how the query language writes it.
type column struct{ field, written string }

// pathLevel returns the level of a field such as "ecm:path@level2": the second name of the path.
func pathLevel(field string) (int, bool) {
	text, ok := strings.CutPrefix(field, "ecm:path@level")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

// columns are what has to be read of each document. A field that no schema has has no value. All levels
// of the path are taken from one column. A field that no schema has is left out of the query, where it
// would be an error: the search engine finds nothing for a field that is not mapped, and clients search
// for fields of types that this server may not have.
func (q *conditions) columns(types *schema.Registry) []column {
	var all []column
	for _, f := range slices.Sorted(maps.Keys(q.fields)) {
		written := f
		_, isLevel := pathLevel(f)
		known, ok := types.FieldByKey(f)
		switch {
		case isLevel:
			f, written = "ecm:path", "ecm:path"
		case strings.HasPrefix(f, "ecm:"):
		case strings.Contains(f, "/"):
		case !ok:
			continue
		case known.List:
			written += "/*"
		}
		if !slices.ContainsFunc(all, func(c column) bool { return c.field == f }) {
			all = append(all, column{f, written})
		}
	}
	return all
}

// source is the query that finds the documents that could meet the search.
func (q *conditions) source(columns []column) (src string, named map[string]any) {
	// A query must have a column, even if the search only counts rows.
	names := []string{"ecm:uuid"}
	if len(columns) > 0 {
		names = nil
	}
	for _, c := range columns {
		names = append(names, c.written)
	}
	where := slices.Clone(q.where)
	path := ""
	// Only levels without a gap from the first give a path to search below.
	for level := 1; q.levels[level] != ""; level++ {
		path += "/" + q.levels[level]
	}
	if path != "" {
		name := q.name(path)
		where = append(where, "(ecm:path = :"+name+" OR ecm:path STARTSWITH :"+name+")")
	}
	src = "SELECT " + strings.Join(names, ", ") + " FROM Document"
	if len(where) > 0 {
		src += " WHERE " + strings.Join(where, " AND ")
	}
	return src, q.named
}

// getters are, by the fields that the search reads, what takes the values of one from those of the columns. They are made once,
// since a search may look at all documents.
func (q *conditions) getters(columns []column) map[string]func(values []any) []any {
	at := map[string]int{}
	for i, col := range columns {
		at[col.field] = i
	}
	all := map[string]func([]any) []any{}
	for field := range q.fields {
		if level, isLevel := pathLevel(field); isLevel {
			i := at["ecm:path"]
			all[field] = func(values []any) []any { return nameAt(values[i], level) }
		} else if i, ok := at[field]; ok {
			all[field] = func(values []any) []any { return listed(values[i]) }
		}
	}
	return all
}

// nameAt is the name at a level of a path, counted from 1, none if the path is shorter.
func nameAt(path any, level int) []any {
	text, _ := path.(string)
	names := strings.Split(text, "/")
	if level >= len(names) || names[level] == "" {
		return nil
	}
	return []any{names[level]}
}

// listed are the values of a column, which may hold one or several.
func listed(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

// recordValues are the values of a field of an audit record.
func recordValues(field string, e *storage.Entry) []any {
	var v any
	if get := storage.EntryFields[field]; get != nil {
		v = get(e)
	} else {
		v = extended(e.Extended, field)
	}
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	// An empty text counts as no value: the columns of audit records are never absent.
	case string:
		if v == "" {
			return nil
		}
	}
	return []any{v}
}

// extended follows a name such as "extended.searchDocumentModel.title" into the extended information of a record.
func extended(v any, field string) any {
	names, ok := strings.CutPrefix(field, "extended.")
	if !ok {
		return nil
	}
	for name := range strings.SplitSeq(names, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}
