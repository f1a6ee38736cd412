package engine

import (
	"bytes"
	"encoding/json"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// The forms of values that JSON does not have: an object with one of these members alone.
const (
	formDoc    = "$doc"    // the id of a document
	formDocs   = "$docs"   // ids
	formPage   = "$page"   // a page, its documents as ids
	formRef    = "$ref"    // a name of a document
	formRefs   = "$refs"   // names
	formTexts  = "$texts"  // a list of strings, which is a type of its own
	formTime   = "$time"   // RFC 3339
	formMap    = "$map"    // an object of somebody's that looks like one of these
	formValue  = "$value"  // a value with a word for its type
	formNested = "$nested" // what entities show of it, without documents
)

// maxDurable is how deep values within each other are kept as references.
const maxDurable = 50

// storing makes a value one that can be written as JSON and found again.
type storing struct {
	docs  []string // the documents in it
	bound bool     // something in it can be shown now and not later
}

type storedPage struct {
	Docs      []string
	Offset    int            `json:",omitempty"`
	Limit     int            `json:",omitempty"`
	Total     int            `json:",omitempty"`
	More      bool           `json:",omitempty"`
	HasNext   bool           `json:",omitempty"`
	Next      string         `json:",omitempty"`
	Provider  string         `json:",omitempty"`
	MaxPage   int            `json:",omitempty"`
	Extra     map[string]any `json:",omitempty"`
	HasExtras bool           `json:",omitempty"` // Extra is not nil
}

type storedValue struct {
	Word string
	V    any
}

func form(name string, v any) map[string]any { return map[string]any{name: v} }

func (s *storing) value(v any, depth int) (any, error) {
	if depth > maxDurable {
		return nil, fault.Limit.Errorf("nested more than %d deep", maxDurable)
	}
	switch v := v.(type) {
	case nil, string, bool, int, int64, json.Number:
		return v, nil
	case *storage.Doc:
		if v == nil {
			return nil, nil
		}
		return form(formDoc, s.doc(v)), nil
	case storage.Docs:
		return form(formDocs, s.ids(v)), nil
	case *storage.Page:
		return s.page(v, depth)
	case storage.Ref:
		return form(formRef, string(v)), nil
	case storage.Refs:
		return form(formRefs, v), nil
	case []string:
		return form(formTexts, v), nil
	case time.Time:
		return form(formTime, v.Format(time.RFC3339Nano)), nil
	case map[string]any:
		return s.object(v, depth)
	case storage.Props:
		return s.object(v, depth)
	case []any:
		return s.list(v, depth)
	case []map[string]any:
		return s.list(List(v), depth)
	case Value:
		kept, err := s.value(v.V, depth+1)
		return form(formValue, storedValue{v.Word, kept}), err
	case float64, json.RawMessage:
		return form(formNested, v), nil
	}
	s.bound = true // an entity of its own, a file
	return nil, nil
}

func (s *storing) doc(d *storage.Doc) string {
	if !d.Saved() {
		s.bound = true
	} else {
		s.docs = append(s.docs, d.ID())
	}
	return d.ID()
}

func (s *storing) ids(docs storage.Docs) []string {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = s.doc(d)
	}
	return out
}

func (s *storing) page(p *storage.Page, depth int) (any, error) {
	// What the query has found is marked in the texts of documents while the query is known.
	s.bound = s.bound || len(p.Highlight) > 0
	out := storedPage{
		Docs: s.ids(p.Docs), Offset: p.Offset, Limit: p.Limit, Total: p.Total, More: p.More, HasNext: p.HasNext, Next: p.Next,
		Provider: p.Provider, MaxPage: p.MaxPage, HasExtras: p.Extra != nil,
	}
	var err error
	out.Extra, err = s.members(p.Extra, depth)
	return form(formPage, out), err
}

func (s *storing) list(items []any, depth int) (any, error) {
	out := make([]any, len(items))
	for i, item := range items {
		var err error
		if out[i], err = s.value(item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *storing) members(m map[string]any, depth int) (map[string]any, error) {
	out := make(map[string]any, len(m))
	for name, item := range m {
		var err error
		if out[name], err = s.value(item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *storing) object(m map[string]any, depth int) (any, error) {
	out, err := s.members(m, depth)
	if len(m) == 1 {
		for name := range m {
			if name != "" && name[0] == '$' {
				return form(formMap, out), err
			}
		}
	}
	return out, err
}

// input is value for what a call was made on, as far as it names documents; nil if it does not.
func (s *storing) input(in any) any {
	switch in := in.(type) {
	case *storage.Doc, storage.Docs, *storage.Page, storage.Ref, storage.Refs, string, []string, []any:
		v, err := s.value(in, 0)
		if err == nil && !s.bound {
			return v
		}
	}
	return nil
}

// restored finds a value again: documents as they are now. Those that are gone, or that may not be read any longer, are left
// out of lists and objects; it is an error if one is the value itself.
func (c *Ctx) restored(raw json.RawMessage) (any, error) {
	if raw == nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // float64 would lose digits of large integers
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Internal.Errorf("result: %w", err)
	}
	return c.revived(v)
}

func (c *Ctx) revived(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			now, err := c.revived(item)
			if hidden(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, now)
		}
		return out, nil
	case map[string]any:
		if len(v) == 1 {
			for name, item := range v {
				if found, now, err := c.restoreForm(name, item); found {
					return now, err
				}
			}
		}
		return c.restoreMembers(v)
	}
	return v, nil
}

// restoreMembers leaves null in place of what may not be read.
func (c *Ctx) restoreMembers(m map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(m))
	for name, item := range m {
		now, err := c.revived(item)
		if err != nil && !hidden(err) {
			return nil, err
		}
		out[name] = now
	}
	return out, nil
}

func (c *Ctx) restoreForm(name string, v any) (found bool, now any, err error) {
	switch name {
	case formDoc:
		id, _ := v.(string)
		now, err = c.docOf(id)
	case formDocs:
		now, err = c.docsOf(listed(v))
	case formPage:
		now, err = c.pageOf(v)
	case formRef:
		text, _ := v.(string)
		now = storage.Ref(text)
	case formRefs:
		refs := storage.Refs{}
		for _, text := range listed(v) {
			refs = append(refs, storage.Ref(text))
		}
		now = refs
	case formTexts:
		now = listed(v)
	case formTime:
		text, _ := v.(string)
		now, err = time.Parse(time.RFC3339Nano, text)
	case formMap:
		m, _ := v.(map[string]any)
		now, err = c.restoreMembers(m)
	case formValue:
		m, _ := v.(map[string]any)
		word, _ := m["Word"].(string)
		var inner any
		inner, err = c.revived(m["V"])
		now = Value{V: inner, Word: word}
	case formNested:
		var raw []byte
		raw, err = json.Marshal(v)
		now = json.RawMessage(raw)
	default:
		return false, nil, nil
	}
	return true, now, err
}

// docOf reads a document again.
func (c *Ctx) docOf(id string) (any, error) {
	d, err := c.Tx.Doc(storage.Ref(id))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// docsOf leaves out what may not be read any longer.
func (c *Ctx) docsOf(ids []string) (storage.Docs, error) {
	docs := make(storage.Docs, 0, len(ids))
	for _, id := range ids {
		d, err := c.Tx.Doc(storage.Ref(id))
		if hidden(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func (c *Ctx) pageOf(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var s storedPage
	if err := d.Decode(&s); err != nil {
		return nil, fault.Internal.Errorf("result: page: %w", err)
	}
	p := &storage.Page{
		Offset: s.Offset, Limit: s.Limit, Total: s.Total, More: s.More, HasNext: s.HasNext, Next: s.Next, Provider: s.Provider, MaxPage: s.MaxPage,
	}
	if p.Docs, err = c.docsOf(s.Docs); err == nil && s.HasExtras {
		p.Extra, err = c.restoreMembers(s.Extra)
	}
	return p, err
}

func listed(v any) []string {
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, item := range list {
		out[i], _ = item.(string)
	}
	return out
}
