package resource

import (
	"strconv"

	"catena/storage/schema"
	"catena/storage/upload"
)

// resolve puts files in place of their descriptions within a value. A description that
// names no content stays what it was before.
// Values of the wrong shape pass unchanged: Set checks shapes, with a message that names the
// property.
func (e entity) resolve(f *schema.Field, value any, at string) (out any, stays bool, err error) {
	switch v := value.(type) {
	case []any:
		if !f.List {
			return value, false, nil
		}
		items := make([]any, len(v))
		for i, item := range v {
			xpath := at + "/" + strconv.Itoa(i)
			if items[i], err = e.part(f.Item(), item, xpath); err != nil {
				return nil, false, err
			}
		}
		return items, false, nil
	case map[string]any:
		if f.List {
			return value, false, nil
		}
		if f.Kind == schema.Blob {
			return e.file(v)
		}
		// A client may upload a long text instead of sending it within the entity.
		if f.Kind == schema.String && upload.BatchIn(v) != "" {
			out, err = e.uploaded(v)
			return out, false, err
		}
		if f.Kind == schema.Complex {
			out, err = e.complex(f, v, at)
			return out, false, err
		}
	}
	return value, false, nil
}

func (e entity) complex(f *schema.Field, v map[string]any, at string) (any, error) {
	parts := make(map[string]any, len(v))
	for name, part := range v {
		sub := f.Sub(name)
		// An unknown member is left for Set to report.
		if sub == nil {
			parts[name] = part
			continue
		}
		resolved, err := e.part(sub, part, at+"/"+name)
		if err != nil {
			return nil, err
		}
		parts[name] = resolved
	}
	return parts, nil
}

// part resolves what is inside another value, where a file that stays must be put again.
func (e entity) part(f *schema.Field, value any, at string) (any, error) {
	out, stays, err := e.resolve(f, value, at)
	if err != nil || !stays {
		return out, err
	}
	// The position counts, not the name: in a list that was reordered, a description without
	// content takes the file that was at its place.
	if b, err := e.d.Blob(at); err == nil && b != nil {
		return b, nil
	}
	return nil, nil
}
