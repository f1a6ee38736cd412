package schema

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"catena/storage/blob"
)

// GetIn returns the part of value that rest, from Find, leads to; nil where a value is not
// set on the way. A position outside the list is Invalid. With "*" in the path the result
// is the list of all the values found.
func GetIn(value any, rest Path) (any, error) {
	for i, s := range rest.steps {
		if value == nil {
			return nil, nil
		}
		switch v := value.(type) {
		case []any:
			if s.Index == AnyIndex {
				return getAll(v, Path{text: rest.text, steps: rest.steps[i+1:]})
			}
			if s.Index < 0 {
				return nil, rest.invalid("must be a position, not " + strconv.Quote(s.Name))
			}
			if s.Index >= len(v) {
				return nil, rest.outside(s.Index, len(v))
			}
			value = v[s.Index]
		case map[string]any:
			value = v[s.Name]
		case *blob.Blob:
			value = PartOfFile(v, s.Name)
		default:
			return nil, rest.invalid("no such property")
		}
	}
	return value, nil
}

func getAll(items []any, rest Path) (any, error) {
	var out []any
	for _, item := range items {
		v, err := GetIn(item, rest)
		if err != nil {
			continue // an inner list that is too short has nothing there
		}
		if found, ok := v.([]any); ok {
			out = append(out, found...)
		} else if v != nil {
			out = append(out, v)
		}
	}
	return out, nil
}

func (p Path) outside(index, length int) error {
	return p.invalid("position " + strconv.Itoa(index) + " is outside a list of " + strconv.Itoa(length))
}

// PartOfFile returns what a file says by the name of one of its parts, "name" or "length"; nil if it says nothing.
func PartOfFile(b *blob.Blob, name string) any {
	text := ""
	switch name {
	case "name":
		text = b.Name
	case "mime-type":
		text = b.Type
	case "encoding":
		text = b.Encoding
	case "digestAlgorithm":
		return "SHA-256"
	case "digest":
		text = b.Digest
	case "length":
		return b.Size
	case "data":
		return b
	}
	if text == "" {
		return nil
	}
	return text
}

// SetIn returns the value of f with the part at rest replaced by v, which is coerced as that
// part needs. Value itself does not change. Complex values missing on the way are made; the
// position after the last item of a list appends. Of a blob the name, mime-type and
// encoding can be set.
func SetIn(f *Field, value any, rest Path, v any) (any, error) {
	return edit(f, value, rest, func(leaf *Field, _ any) (any, error) {
		return leaf.coerce(v, rest.text)
	})
}

// RemoveIn returns the value of f without the part at rest: an item is cut out of its list,
// anything else is no longer set. Value itself does not change.
func RemoveIn(f *Field, value any, rest Path) (any, error) {
	if rest.Empty() {
		return nil, nil
	}
	last := len(rest.steps) - 1
	s := rest.steps[last]
	if s.Index == NoIndex {
		if have, err := GetIn(value, Path{text: rest.text, steps: rest.steps[:last]}); err != nil || have == nil {
			return value, err
		}
		return SetIn(f, value, rest, nil)
	}
	if s.Index == AnyIndex {
		return nil, rest.invalid("must be one position, not " + s.Name)
	}
	return edit(f, value, Path{text: rest.text, steps: rest.steps[:last]}, func(leaf *Field, old any) (any, error) {
		items, _ := old.([]any)
		if s.Index >= len(items) {
			return nil, rest.outside(s.Index, len(items))
		}
		return emptied(slices.Delete(slices.Clone(items), s.Index, s.Index+1)), nil
	})
}

func emptied(items []any) any {
	if len(items) == 0 {
		return nil
	}
	return items
}

// edit copies value along rest and puts what change makes of the part there in its place.
func edit(f *Field, value any, rest Path, change func(leaf *Field, old any) (any, error)) (any, error) {
	if rest.Empty() {
		return change(f, value)
	}
	s := rest.steps[0]
	next := f.step(s)
	switch {
	case s.Index == AnyIndex:
		return nil, rest.invalid("must be one position, not " + s.Name)
	case next == nil:
		return nil, rest.invalid("no such property")
	case f.List:
		items, _ := value.([]any)
		if s.Index > len(items) {
			return nil, rest.outside(s.Index, len(items))
		}
		items = slices.Clone(items)
		if s.Index == len(items) {
			items = append(items, nil)
		}
		var err error
		if items[s.Index], err = edit(next, items[s.Index], rest.Tail(), change); err != nil {
			return nil, err
		}
		if items[s.Index] == nil { // a list holds no unset items
			items = slices.Delete(items, s.Index, s.Index+1)
		}
		return emptied(items), nil
	case f.Kind == Blob:
		return editBlob(next, value, rest, change)
	}
	old, _ := value.(map[string]any)
	part, err := edit(next, old[s.Name], rest.Tail(), change)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(old)
	if out == nil {
		out = make(map[string]any, 1)
	}
	if out[s.Name] = part; part == nil {
		delete(out, s.Name)
	}
	return out, nil
}

func editBlob(leaf *Field, value any, rest Path, change func(leaf *Field, old any) (any, error)) (any, error) {
	b, _ := value.(*blob.Blob)
	if b == nil {
		return nil, rest.invalid("no blob is set")
	}
	v, err := change(leaf, PartOfFile(b, leaf.Name))
	if err != nil {
		return nil, err
	}
	text, _ := v.(string)
	switch leaf.Name {
	case "name":
		return b.With(text, b.Type), nil
	case "mime-type":
		return b.With(b.Name, text), nil
	case "encoding":
		return b.WithEncoding(text), nil
	}
	return nil, rest.invalid("cannot be set")
}

// Equal reports whether two values of a field are the same: blobs by content and metadata,
// nothing set in a complex value like the part missing, an empty list like none.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		other, ok := b.([]any)
		if !ok {
			return b == nil && len(a) == 0
		}
		return slices.EqualFunc(a, other, Equal)
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && equalMembers(a, other)
	case *blob.Blob:
		other, ok := b.(*blob.Blob)
		return ok && a.Same(other)
	case time.Time:
		other, ok := b.(time.Time)
		return ok && a.Equal(other)
	case nil:
		items, ok := b.([]any)
		return b == nil || ok && len(items) == 0
	case string, int64, float64, bool:
		return a == b
	}
	return false
}

func equalMembers(a, b map[string]any) bool {
	for k, v := range a {
		if !Equal(v, b[k]) {
			return false
		}
	}
	for k, v := range b {
		if _, both := a[k]; !both && !Equal(nil, v) {
			return false
		}
	}
	return true
}

// EachBlob calls fn with every blob in v, a value of f, and its xpath.
func (f *Field) EachBlob(v any, fn func(xpath string, b *blob.Blob) error) error {
	return eachBlob(v, f.Key, fn)
}

func eachBlob(v any, at string, fn func(xpath string, b *blob.Blob) error) error {
	switch v := v.(type) {
	case *blob.Blob:
		return fn(at, v)
	case []any:
		for i, item := range v {
			switch item.(type) {
			case *blob.Blob, map[string]any:
				if err := eachBlob(item, at+"/"+strconv.Itoa(i), fn); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := eachBlob(v[name], at+"/"+name, fn); err != nil {
				return err
			}
		}
	}
	return nil
}
