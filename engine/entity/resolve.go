package entity

import (
	"slices"
	"strconv"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/schema"
)

// fieldResolved appends a property, with what it refers to in place of the reference if
// that is asked for.
func (w *writer) fieldResolved(dst []byte, f *schema.Field, v any, more schema.BlobFunc) ([]byte, error) {
	switch {
	case v == nil:
	case f.Resolver != "" && w.fetches(f.Key):
		return w.each(dst, f, v, func(dst []byte, item any, _ int) ([]byte, error) {
			text, ok := item.(string)
			if !ok {
				return append(dst, "null"...), nil
			}
			return w.resolve(dst, f.Resolver, text)
		})
	case f.Kind == schema.Complex && refers(f):
		return w.each(dst, f, v, func(dst []byte, item any, i int) ([]byte, error) {
			place := more
			if f.List && more != nil {
				place = func(dst []byte, xpath string, b *storage.Blob) []byte {
					return more(dst, strings.Replace(xpath, "*", strconv.Itoa(i), 1), b)
				}
			}
			return w.partsResolved(dst, f, item, place)
		})
	}
	return f.AppendJSON(dst, v, more), nil
}

// each appends a value, or the items of a list.
func (w *writer) each(dst []byte, f *schema.Field, v any, one func([]byte, any, int) ([]byte, error)) ([]byte, error) {
	if !f.List {
		return one(dst, v, 0)
	}
	items, _ := v.([]any)
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = one(dst, item, i); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func (w *writer) partsResolved(dst []byte, f *schema.Field, v any, more schema.BlobFunc) ([]byte, error) {
	parts, ok := v.(map[string]any)
	if !ok {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '{')
	for i, sub := range f.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(schema.AppendString(dst, sub.Name), ':')
		var err error
		if dst, err = w.fieldResolved(dst, sub, parts[sub.Name], more); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// refers reports whether a part of a complex field refers to something.
func refers(f *schema.Field) bool {
	return slices.ContainsFunc(f.Fields, func(sub *schema.Field) bool { return sub.Resolver != "" || refers(sub) })
}

// resolve appends what text refers to; what refers to nothing stays text.
func (w *writer) resolve(dst []byte, resolver, text string) ([]byte, error) {
	if w.c.Tx == nil || text == "" {
		return schema.AppendString(dst, text), nil
	}
	if name, ok := strings.CutPrefix(resolver, "directory:"); ok {
		return w.reference(dst, name, text, 0)
	}
	var found any
	var err error
	switch resolver {
	case "user":
		found, err = people.Lookup(w.c.Tx, text)
	case "group":
		found, err = people.LookupGroup(w.c.Tx, text)
	case "document":
		found, err = w.c.Tx.Doc(storage.Ref(text))
	default:
		return schema.AppendString(dst, text), nil
	}
	// The same answer for both, so that resolving does not tell whether an unreadable document
	// exists.
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return schema.AppendString(dst, text), nil
	}
	if err != nil {
		return nil, err
	}
	return w.entity(dst, found, maxDepth) // deep: a document within a document comes plain
}
