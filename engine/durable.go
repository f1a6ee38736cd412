package engine

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
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
	formFile   = "$file"   // what describes a file
	formFloat  = "$float"  // a number with a fraction that is zero, which JSON cannot tell from an integer
)

// Forms that waiting chains were written with before.
var formerForms = map[string]string{"$document": formDoc, "$documents": formDocs, "$reference": formRef}

// maxDurable is how deep values within each other are kept as references.
const maxDurable = 50

// storing makes a value one that can be written as JSON and found again.
type storing struct {
	docs  []string     // the documents in it
	bound bool         // something in it can be shown now and not later
	chain *ValueWriter // nil: what cannot be found again only makes it bound
}

// maxFiles is how many files a chain that waits keeps.
const maxFiles = 100

// ValueWriter writes the values of a chain that waits, for Kept. It collects the files in them, whose content has to be held as long as
// the values are kept.
type ValueWriter struct {
	TakesFiles bool // otherwise they are refused
	Files      []storage.Blob
}

// Keep writes a value. Of documents the ids are kept: what was changed and not saved is lost.
func (k *ValueWriter) Keep(v any) (json.RawMessage, error) {
	s := storing{chain: k}
	kept, err := s.value(v, 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(kept)
}

// file writes what describes a file; the same content is held once.
func (k *ValueWriter) file(b *Blob) (any, error) {
	if !k.TakesFiles {
		return nil, fault.Invalid.Errorf("a file is not kept; attach it to a document")
	}
	if !slices.ContainsFunc(k.Files, func(f Blob) bool { return f.Digest == b.Digest }) {
		if k.Files = append(k.Files, *b); len(k.Files) > maxFiles {
			return nil, fault.Limit.Errorf("a chain that waits keeps at most %d files", maxFiles)
		}
	}
	return form(formFile, storedFile{b.Name, b.Type, b.Encoding, b.Digest, b.Size}), nil
}

// storedFile describes a file.
type storedFile struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Digest   string `json:"digest"`
	Size     int64  `json:"size"`
}

// Kept finds a value again that a ValueWriter wrote: documents as they are now. Those that are gone, or that may not be read any
// longer, are left out of lists and null elsewhere.
func (c *Ctx) Kept(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	v, err := c.restored(raw)
	if hidden(err) {
		return nil, nil
	}
	return v, err
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
	case float64:
		return float(v), nil
	case json.RawMessage:
		return form(formNested, v), nil
	}
	if s.chain != nil {
		return s.ofChain(v, depth)
	}
	s.bound = true // an entity of its own, a file
	return nil, nil
}

// ofChain keeps what only chains that wait keep.
func (s *storing) ofChain(v any, depth int) (any, error) {
	switch v := v.(type) {
	case *Blob:
		if v == nil {
			return nil, nil
		}
		return s.chain.file(v)
	case Blobs:
		return s.list(List(v), depth)
	}
	return nil, fault.Invalid.Errorf("a value of type %T is not kept while a chain waits", v)
}

func float(v float64) any {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0): // JSON has neither
		return nil
	case v == math.Trunc(v):
		return form(formFloat, v)
	}
	return v
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
			return nil, fault.Wrap(err, "%s", name)
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
	if form, former := formerForms[name]; former {
		name = form
	}
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
		now = keptRefs(listed(v))
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
		inner, bad := c.revived(m["V"])
		now, err = Value{V: inner, Word: word}, bad
	case formNested:
		var raw []byte
		raw, err = json.Marshal(v)
		now = json.RawMessage(raw)
	case formFile:
		now, err = c.fileOf(v)
	case formFloat:
		n, _ := v.(json.Number)
		now, err = n.Float64()
	default:
		return false, nil, nil
	}
	return true, now, err
}

func keptRefs(names []string) storage.Refs {
	refs := make(storage.Refs, len(names))
	for i, name := range names {
		refs[i] = storage.Ref(name)
	}
	return refs
}

// decodeForm reads the members of a form.
func decodeForm(v, into any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fault.Internal.Errorf("result: %w", err)
	}
	return nil
}

func (c *Ctx) fileOf(v any) (any, error) {
	var f storedFile
	if err := decodeForm(v, &f); err != nil {
		return nil, err
	}
	return hold.Load(c.Tx, Blob{Name: f.Name, Type: f.Type, Encoding: f.Encoding, Digest: f.Digest, Size: f.Size}), nil
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
	var s storedPage
	if err := decodeForm(v, &s); err != nil {
		return nil, err
	}
	p := &storage.Page{
		Offset: s.Offset, Limit: s.Limit, Total: s.Total, More: s.More, HasNext: s.HasNext, Next: s.Next, Provider: s.Provider, MaxPage: s.MaxPage,
	}
	var err error
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
