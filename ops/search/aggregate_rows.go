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
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n > 0
}

// columns are what has to be read of each document. A field that no schema has has no value.
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
	names := []string{"ecm:uuid"}
	if len(columns) > 0 {
		names = nil
	}
	for _, c := range columns {
		names = append(names, c.written)
	}
	where := slices.Clone(q.where)
	path := ""
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

// documentValues are the values of a field among those of the columns.
func documentValues(field string, at map[string]int, values []any) []any {
	level, isLevel := pathLevel(field)
	if isLevel {
		field = "ecm:path"
	}
	i, ok := at[field]
	if !ok || values[i] == nil {
		return nil
	}
	if isLevel {
		path, _ := values[i].(string)
		names := strings.Split(path, "/")
		if level >= len(names) || names[level] == "" {
			return nil
		}
		return []any{names[level]}
	}
	if list, ok := values[i].([]any); ok {
		return list
	}
	return []any{values[i]}
}

// recordFields are the fields of audit records by their names.
var recordFields = map[string]func(*storage.Entry) any{
	"category":      func(e *storage.Entry) any { return e.Category },
	"comment":       func(e *storage.Entry) any { return e.Comment },
	"docLifeCycle":  func(e *storage.Entry) any { return e.DocState },
	"docPath":       func(e *storage.Entry) any { return e.DocPath },
	"docType":       func(e *storage.Entry) any { return e.DocType },
	"docUUID":       func(e *storage.Entry) any { return e.DocID },
	"eventDate":     func(e *storage.Entry) any { return e.Time },
	"eventId":       func(e *storage.Entry) any { return e.Event },
	"id":            func(e *storage.Entry) any { return e.ID },
	"logDate":       func(e *storage.Entry) any { return e.Logged },
	"principalName": func(e *storage.Entry) any { return e.User },
}

// recordValues are the values of a field of an audit record.
func recordValues(field string, e *storage.Entry) []any {
	var v any
	if get := recordFields[field]; get != nil {
		v = get(e)
	} else {
		v = extended(e.Extended, field)
	}
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
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
