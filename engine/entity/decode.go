package entity

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Given reads an input or a variable of a call as clients write it (Decode). What may name documents is found once the transaction
// is open, and belongs to it, also when the call is tried again; for anything else none need be opened.
func Given(raw json.RawMessage) (any, error) {
	const prefix = `"doc`
	escaped := bytes.IndexByte(raw[:min(len(raw), len(prefix)+1)], '\\') >= 0
	if raw[0] == '{' || raw[0] == '[' || escaped || bytes.HasPrefix(raw, []byte(prefix)) {
		return engine.Lazy(func(c *engine.Ctx) (any, error) { return Decode(c, raw) }), nil
	}
	return engine.ParseJSON(raw)
}

// Decode reads an input as clients write it: "doc:" and a path or id, "docs:" and several,
// plain text, numbers and booleans, entity objects, and lists of these.
// Documents are found in the transaction of the call, as its caller, so naming one gives no more
// rights than reading it.
func Decode(c *engine.Ctx, raw json.RawMessage) (any, error) {
	v, err := c.ParseJSON(raw)
	if err != nil {
		return nil, err
	}
	return decoded(c, v)
}

func decoded(c *engine.Ctx, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return text(c, v)
	case map[string]any:
		return object(c, v)
	case []any:
		return items(c, v)
	}
	return v, nil
}

// text finds the documents that prefixed text names; other text stays text.
func text(c *engine.Ctx, s string) (any, error) {
	switch {
	case strings.HasPrefix(s, "doc:"):
		return c.Convert(s[len("doc:"):], "document")
	case strings.HasPrefix(s, "docs:"):
		refs := strings.Split(s[len("docs:"):], ",")
		list := make([]any, 0, len(refs))
		for _, r := range refs {
			if r = strings.TrimSpace(r); r != "" {
				list = append(list, r)
			}
		}
		return c.Convert(list, "documents")
	}
	return s, nil
}

// object decodes an entity; an object without a type the engine knows stays a map.
func object(c *engine.Ctx, m map[string]any) (any, error) {
	switch kind, _ := m["entity-type"].(string); kind {
	case "document":
		return document(c, m)
	case "documents":
		list, ok := m["entries"].([]any)
		if !ok {
			return nil, fault.Invalid.Errorf("input: entity-type documents without entries").In("input")
		}
		return c.Convert(list, "documents")
	case "string", "boolean", "number", "list", "map", "orderedMap":
		return m["value"], nil
	case "date":
		return c.Convert(m["value"], "date")
	}
	return m, nil
}

// document finds the document an entity names, or makes one that is not saved.
func document(c *engine.Ctx, m map[string]any) (any, error) {
	for _, name := range [...]string{"uid", "id"} {
		if id, _ := m[name].(string); id != "" {
			return c.Convert(id, "document")
		}
	}
	typ, _ := m["type"].(string)
	path, _ := m["path"].(string)
	switch {
	case typ == "" && path != "":
		return c.Convert(path, "document")
	case typ == "":
		return nil, fault.Invalid.Errorf("input: a document without uid, path or type").In("input")
	case c.Tx == nil:
		return nil, fault.Invalid.Errorf("input: this operation does not take documents").In("input")
	}
	d, err := c.Tx.NewDoc(typ)
	if err != nil {
		return nil, err
	}
	properties, _ := m["properties"].(map[string]any)
	// Sorted, so that the first error is the same at each attempt.
	for _, xpath := range slices.Sorted(maps.Keys(properties)) {
		if err := d.Set(xpath, properties[xpath]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// items decodes a list; one that names documents by entities becomes documents.
func items(c *engine.Ctx, list []any) (any, error) {
	out := make([]any, len(list))
	docs := 0
	for i, item := range list {
		err := c.Check()
		if err != nil {
			return nil, err
		}
		if out[i], err = decoded(c, item); err != nil {
			return nil, err
		}
		if _, ok := out[i].(*storage.Doc); ok {
			docs++
		}
	}
	if docs > 0 {
		return c.Convert(out, "documents")
	}
	return out, nil
}
