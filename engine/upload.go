package engine

import (
	"maps"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Uploads finds files that clients upload before the call that names them. The zero value finds none.
type Uploads struct {
	Batch func(v map[string]any) string                                 // the batch of the file that a value describes; "": it describes none
	File  func(tx *storage.Tx, v map[string]any) (*storage.Blob, error) // that file
	Drop  func(tx *storage.Tx, batch string) error                      // ends a batch whose files were taken
}

// batch returns the batch of the file that a value describes; "" if it describes none.
func (u *Uploads) batch(v map[string]any) string {
	if u.Batch == nil {
		return ""
	}
	return u.Batch(v)
}

// taken is a batch that files were taken from, and the transaction of whom it belongs to.
type taken struct {
	batch string
	tx    *storage.Tx
}

// Uploaded returns the file that {"upload-batch": …, "upload-fileId": …} stands for; nil if
// there is none, or the description is another one. When a writing call ends well, the batches
// whose files it took end too, unless the call keeps them.
func (c *Ctx) Uploaded(m map[string]any) (*storage.Blob, error) {
	if c.Tx == nil || c.run == nil {
		return nil, nil
	}
	from := &c.run.e.uploads
	id := from.batch(m)
	if id == "" {
		return nil, nil
	}
	b, err := from.File(c.Tx, m)
	if err != nil || b == nil {
		return b, err
	}
	if !slices.ContainsFunc(c.run.taken, func(t taken) bool { return t.batch == id }) {
		c.run.taken = append(c.run.taken, taken{id, c.Tx})
	}
	return b, nil
}

// dropTaken ends the batches that the call took files from.
func (r *running) dropTaken(tx *storage.Tx) error {
	if r.call.KeepUploads || r.call.DryRun || tx == nil || !tx.Writable() {
		return nil
	}
	for _, t := range r.taken {
		if err := r.e.uploads.Drop(t.tx, t.batch); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// filed puts uploaded files in place of their descriptions among properties.
func (c *Ctx) filed(p storage.Props) (storage.Props, error) {
	var out storage.Props
	for key, v := range p {
		found, err := c.filedIn(v, 0)
		if err != nil {
			return nil, err
		}
		if !found.changed {
			continue
		}
		if out == nil {
			out = maps.Clone(p) // what the caller gave is the caller's
		}
		out[key] = found.value
	}
	if out == nil {
		out = p
	}
	return out, nil
}

// filing is a value with its files found; changed if there were any.
type filing struct {
	value   any
	changed bool
}

// maxFiling bounds values within values.
const maxFiling = 32

// filedIn finds descriptions of uploaded files at any depth of a value and replaces them by the files. Lists and maps are copied only
// if something in them changes, as they belong to the caller.
func (c *Ctx) filedIn(v any, depth int) (filing, error) {
	same := filing{value: v}
	if depth > maxFiling {
		return same, nil
	}
	switch v := v.(type) {
	case string:
		return c.filedText(v, depth)
	case []any:
		return c.filedList(v, depth)
	case map[string]any:
		return c.filedMap(v, depth)
	}
	return same, nil
}

func (c *Ctx) filedList(list []any, depth int) (filing, error) {
	out, changed := list, false
	for i, item := range list {
		f, err := c.filedIn(item, depth+1)
		if err != nil {
			return filing{value: list}, err
		}
		if f.changed && !changed {
			out, changed = slices.Clone(list), true
		}
		if f.changed {
			out[i] = f.value
		}
	}
	return filing{out, changed}, nil
}

func (c *Ctx) filedMap(m map[string]any, depth int) (filing, error) {
	if c.run != nil && c.run.e.uploads.batch(m) != "" {
		b, err := c.Uploaded(m)
		if b == nil {
			return filing{changed: true}, err
		}
		return filing{value: b, changed: true}, err
	}
	out, changed := m, false
	for name, part := range m {
		f, err := c.filedIn(part, depth+1)
		if err != nil {
			return filing{value: m}, err
		}
		if f.changed && !changed {
			out, changed = maps.Clone(m), true
		}
		if f.changed {
			out[name] = f.value
		}
	}
	return filing{out, changed}, nil
}

// filedText reads JSON text that describes files, which is how lines of key=value give them.
func (c *Ctx) filedText(s string, depth int) (filing, error) {
	same := filing{value: s}
	t := strings.TrimSpace(s)
	if t == "" || t[0] != '{' && t[0] != '[' || !strings.Contains(t, `"upload-batch"`) {
		return same, nil
	}
	v, err := ParseJSON([]byte(t))
	if err != nil {
		return same, nil //nolint:nilerr // then it is text
	}
	f, err := c.filedIn(v, depth+1)
	if err != nil || !f.changed {
		return same, err
	}
	return f, nil
}

// toProps reads properties: an object, or lines of key=value.
func (c *Ctx) toProps(v any) (any, error) {
	var p storage.Props
	switch v := v.(type) {
	case map[string]any:
		p = v
	case string:
		m, err := schema.ParseProps(v)
		if err != nil {
			return nil, err
		}
		p = m
	default:
		return nil, mismatch(kProps, v)
	}
	return c.filed(p)
}
