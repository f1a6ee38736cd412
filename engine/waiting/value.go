package waiting

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

// maxDepth is how deep lists and maps within each other are kept.
const maxDepth = 50

// maxFiles is how many files a chain that waits keeps.
const maxFiles = 100

// The members that stand for what JSON does not have. A map of somebody's with one of these names is not kept.
const (
	ofDoc  = "$document"
	ofDocs = "$documents"
	ofRef  = "$reference"
	ofTime = "$time"
	ofFile = "$file"
)

// keeper writes values. It collects the files in them, whose content has to be held as long as the values are kept; without
// takes, files are refused.
type keeper struct {
	takes bool
	files []storage.Blob
}

// keep makes a value one that can be written as JSON and found again.
func (k *keeper) keep(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fault.Limit.Errorf("nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	// An int comes back as int64, and a list of strings as a list of any.
	case nil, string, bool, int, int64:
		return v, nil
	case storage.Ref:
		return map[string]any{ofRef: string(v)}, nil
	case float64:
		// JSON has neither.
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil
		}
		return v, nil
	// Only the id is kept: what was changed in memory and not saved is lost, and others may change it meanwhile.
	case *storage.Doc:
		if v == nil {
			return nil, nil
		}
		return map[string]any{ofDoc: v.ID()}, nil
	case storage.Docs:
		return map[string]any{ofDocs: ids(v)}, nil
	// The place in the result is not kept, only what the page holds.
	case *storage.Page:
		return map[string]any{ofDocs: ids(v.Docs)}, nil
	case time.Time:
		return map[string]any{ofTime: v.Format(time.RFC3339Nano)}, nil
	case []string:
		return v, nil
	case storage.Props:
		return k.keepMap(v, depth)
	case map[string]any:
		return k.keepMap(v, depth)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = k.keep(item, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *storage.Blob:
		if v == nil {
			return nil, nil
		}
		return k.file(v)
	case storage.Blobs:
		return k.keep(engine.List(v), depth)
	}
	return nil, fault.Invalid.Errorf("a value of type %T is not kept while a chain waits", v)
}

func (k *keeper) keepMap(m map[string]any, depth int) (any, error) {
	out := make(map[string]any, len(m))
	for name, item := range m {
		switch name {
		case ofDoc, ofDocs, ofFile, ofRef, ofTime:
			return nil, fault.Invalid.Errorf("member %s: is reserved", name)
		}
		kept, err := k.keep(item, depth+1)
		if err != nil {
			return nil, fault.Wrap(err, "%s", name)
		}
		out[name] = kept
	}
	return out, nil
}

// file writes what describes a file; the same content is held once.
func (k *keeper) file(b *storage.Blob) (any, error) {
	if !k.takes {
		return nil, fault.Invalid.Errorf("a file is not kept; attach it to a document")
	}
	if !slices.ContainsFunc(k.files, func(f storage.Blob) bool { return f.Digest == b.Digest }) {
		if k.files = append(k.files, *b); len(k.files) > maxFiles {
			return nil, fault.Limit.Errorf("a chain that waits keeps at most %d files", maxFiles)
		}
	}
	return map[string]any{ofFile: map[string]any{"name": b.Name, "type": b.Type, "encoding": b.Encoding, "digest": b.Digest, "size": b.Size}}, nil
}

func ids(docs storage.Docs) []string {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.ID()
	}
	return out
}

// encode writes a value so that decode finds it again.
func (k *keeper) encode(v any) (json.RawMessage, error) {
	kept, err := k.keep(v, 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(kept)
}

// decode finds a value again: documents as they are now. Those that are gone, or that may not be read any longer, are left
// out of lists and nothing elsewhere.
func decode(c *engine.Ctx, raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	// float64 would lose digits of large integers.
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Internal.Errorf("waiting: %w", err)
	}
	return found(c, v)
}

func found(c *engine.Ctx, v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case []any:
		for i := range v {
			var err error
			if v[i], err = found(c, v[i]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case map[string]any:
		return foundMap(c, v)
	}
	return v, nil
}

func foundMap(c *engine.Ctx, m map[string]any) (any, error) {
	if id, ok := m[ofDoc].(string); ok {
		d, err := document(c, id)
		if d == nil {
			return nil, err
		}
		return d, err
	}
	if text, ok := m[ofRef].(string); ok {
		return storage.Ref(text), nil
	}
	if text, ok := m[ofTime].(string); ok {
		return time.Parse(time.RFC3339Nano, text)
	}
	if about, ok := m[ofFile].(map[string]any); ok {
		return loadFile(c, about), nil
	}
	if list, ok := m[ofDocs].([]any); ok {
		docs := storage.Docs{}
		for _, item := range list {
			id, _ := item.(string)
			d, err := document(c, id)
			if err != nil {
				return nil, err
			}
			if d != nil {
				docs = append(docs, d)
			}
		}
		return docs, nil
	}
	for name, item := range m {
		var err error
		if m[name], err = found(c, item); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func loadFile(c *engine.Ctx, about map[string]any) *storage.Blob {
	text := func(name string) string {
		s, _ := about[name].(string)
		return s
	}
	var size int64
	if n, ok := about["size"].(json.Number); ok {
		size, _ = n.Int64()
	}
	return hold.Load(c.Tx, storage.Blob{Name: text("name"), Type: text("type"), Encoding: text("encoding"), Digest: text("digest"), Size: size})
}

// document is the one of an id; nil if it is gone or may not be read.
func document(c *engine.Ctx, id string) (*storage.Doc, error) {
	d, err := c.Tx.Doc(storage.Ref(id))
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return nil, nil
	}
	return d, err
}
