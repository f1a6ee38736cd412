package engine

import (
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// adapters are the kinds that an input of a kind is converted to when no function of an operation takes it as
// it is. Only conversions that the platform's clients rely on are in the table: each one more makes it
// likelier that an operation with several functions takes an input in a way that its author did not mean.
var adapters = [kinds][]kind{
	kString:  {kDoc, kDocs, kRef, kRefs, kProps, kDate, kStrings, kBool, kInt, kLong},
	kStrings: {kDocs, kRefs, kList},
	kList:    {kStrings, kDocs, kRefs, kBlobs},
	kDoc:     {kRef, kRefs, kDocs},
	kRef:     {kDoc, kDocs, kRefs, kString},
	kDocs:    {kRefs, kList},
	kPage:    {kRefs, kList},
	kRefs:    {kDocs, kList},
	kBlobs:   {kList},
	kInt:     {kLong, kFloat},
	kLong:    {kInt, kFloat},
	kMap:     {kProps, kDoc, kBlob},
	kProps:   {kMap},
	kRaw:     {kProps, kMap, kList},
}

// fit scores how well a function that takes one kind suits an input of another: 4 exactly, 3 as it is, 2
// converted, 1 not taken at all, 0 not at all suited. Of several functions the one with the highest score is
// chosen, the first one if scores are equal.
func fit(from, to kind) int {
	switch {
	case to == kVoid:
		// A function without input can be called with any input, which it does not see; that is better than
		// an error, and worse than every function that takes the input.
		if from == kVoid {
			return 4
		}
		return 1
	case from == to:
		return 4
	case to == kAny:
		if from == kVoid {
			return 1
		}
		return 3
	case from == kPage && to == kDocs:
		return 3
	}
	for _, k := range adapters[from] {
		if k == to {
			return 2
		}
	}
	return 0
}

// ref reads a reference as clients write it.
func ref(s string) storage.Ref { return storage.Ref(strings.TrimSpace(s)) }

// splitRefs reads references separated by commas, with "docs:" in front or not.
func splitRefs(s string) storage.Refs {
	s = strings.TrimPrefix(strings.TrimSpace(s), "docs:")
	out := storage.Refs{}
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, storage.Ref(item))
		}
	}
	return out
}

// refsOf returns what names documents in v; ok is false if something else is in it.
func refsOf(v any) (refs storage.Refs, ok bool) {
	switch v := v.(type) {
	case string:
		return splitRefs(v), true
	case storage.Ref:
		return storage.Refs{v}, true
	case storage.Refs:
		return v, true
	case []string:
		for _, s := range v {
			refs = append(refs, ref(s))
		}
		return refs, true
	case *storage.Doc:
		return storage.Refs{v.Ref()}, true
	case storage.Docs:
		for _, d := range v {
			refs = append(refs, d.Ref())
		}
		return refs, true
	case *storage.Page:
		return refsOf(v.Docs)
	case map[string]any:
		return refsOfEntity(v)
	case []any:
		refs = make(storage.Refs, 0, len(v))
		for _, item := range v {
			more, isRef := refsOf(item)
			if !isRef {
				return nil, false
			}
			refs = append(refs, more...)
		}
		return refs, true
	}
	return nil, false
}

// refsOfEntity returns what a JSON object names: the entries of a list, or one document by its uid, id or path.
func refsOfEntity(m map[string]any) (storage.Refs, bool) {
	if list, isList := m["entries"].([]any); isList {
		return refsOf(list)
	}
	// uid comes first, since entities of the platform have both uid and path, and a path may have changed
	// since.
	for _, name := range [...]string{"uid", "id", "path"} {
		if s, isText := m[name].(string); isText && s != "" {
			return storage.Refs{ref(s)}, true
		}
	}
	return nil, false
}

// toDocuments converts to a document, documents, or references to them.
func (c *Ctx) toDocuments(v any, to kind) (any, error) {
	if to == kRef || to == kDoc {
		return c.toOne(v, to)
	}
	if to == kDocs {
		switch v := v.(type) {
		case *storage.Doc:
			return storage.Docs{v}, nil
		case *storage.Page:
			return v.Docs, nil
		case []any:
			return c.toDocs(v)
		}
	}
	// A list where one document is expected is a mistake of the caller, even if it has one element: which one
	// is meant must not depend on how many there happen to be. What is left here names documents in JSON.
	refs, ok := refsOf(v)
	switch {
	case !ok:
		return nil, mismatch(to, v)
	case to == kRefs:
		return refs, nil
	}
	return c.docs(refs)
}

// toOne converts to a document or the reference to one, which a list is not even if it has one element.
func (c *Ctx) toOne(v any, to kind) (any, error) {
	var one storage.Ref
	switch v := v.(type) {
	case string:
		one = ref(v)
	case storage.Docs, storage.Refs, []any, []string, *storage.Page:
		return nil, mismatch(to, v)
	default:
		refs, ok := refsOf(v)
		if !ok || len(refs) != 1 {
			return nil, mismatch(to, v)
		}
		one = refs[0]
	}
	if to == kRef {
		return one, nil
	}
	return c.doc(one)
}

// toDocs makes documents of an untyped list of documents and whatever names them.
func (c *Ctx) toDocs(list []any) (any, error) {
	var named storage.Refs
	for _, item := range list {
		if _, there := item.(*storage.Doc); there {
			continue
		}
		if refs, ok := refsOf(item); ok {
			named = append(named, refs...)
		}
	}
	if err := c.ahead(named); err != nil {
		return nil, err
	}
	out := make(storage.Docs, 0, len(list))
	for _, item := range list {
		if err := c.Check(); err != nil {
			return nil, err
		}
		if d, ok := item.(*storage.Doc); ok {
			out = append(out, d)
			continue
		}
		refs, ok := refsOf(item)
		if !ok {
			return nil, mismatch(kDocs, item)
		}
		more, err := c.docs(refs)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// ahead tells the store which documents are about to be read.
func (c *Ctx) ahead(refs storage.Refs) error {
	if c.Tx == nil {
		return nil
	}
	return storage.Ahead(c.Tx, refs)
}

// doc finds a document; a path that starts with a dot is relative to the input.
func (c *Ctx) doc(r storage.Ref) (*storage.Doc, error) {
	if c.Tx == nil {
		return nil, fault.Invalid.Errorf("document %s: this operation does not read documents", r)
	}
	// Parameters such as "../archive" are relative to the document that the operation works on.
	base, _ := c.Input.(*storage.Doc)
	return c.Tx.DocFrom(base, r)
}

func (c *Ctx) docs(refs storage.Refs) (storage.Docs, error) {
	if err := c.ahead(refs); err != nil {
		return nil, err
	}
	out := make(storage.Docs, 0, len(refs))
	for _, r := range refs {
		if err := c.Check(); err != nil {
			return nil, err
		}
		d, err := c.doc(r)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}
