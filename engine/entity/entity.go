// Package entity writes values as the platform's JSON, and reads the entities that clients send as input. It is the
// one place where a document, a list, a user or an audit record gets its form on the wire; REST, MCP, the command
// line, scenarios and scripts share it. Which parts are written is for the caller's Options to say, what may be seen
// for storage.
//
// Writing is by hand, into a byte slice, and not by reflection: documents are most of what the server sends,
// their members have a fixed order that clients of the platform know, and parts are written only if the
// caller asks for them (properties, enrichers). The golden files of the wire tests hold the exact bytes.
package entity

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/schema"
	"catena/storage/search"
)

// Options say what is to be written of documents and where addresses begin.
type Options struct {
	Base       string // "http://host/nuxeo", without a slash at the end
	Repo       string
	Properties []string // schemas whose properties are written; "*" all
	Enrichers  map[string][]string
	Fetch      map[string][]string
	Translate  map[string][]string
	Language   string
	Codec      string // of addresses for people: "docid", or the console's
	Depth      int    // levels of nested documents that get properties and enrichers; 0 is 1
}

// SchemasOf are the schemas that have the properties named by xpaths, for Options.Properties; "*" among the xpaths stands
// for every schema.
func SchemasOf(types *schema.Registry, properties []string) (names []string) {
	if slices.Contains(properties, "*") {
		return []string{"*"}
	}
	for _, s := range types.Schemas() {
		if slices.ContainsFunc(properties, func(xpath string) bool {
			prefix, _, ok := strings.Cut(xpath, ":")
			return ok && prefix == s.Space()
		}) {
			names = append(names, s.Name)
		}
	}
	return names
}

// maxDepth bounds values within values.
const maxDepth = 64

// writer writes one value.
// One writer serves one value, in one goroutine.
type writer struct {
	c      *engine.Ctx
	o      *Options
	all    bool // every schema
	fetch  []string
	asked  []string // enrichers of documents
	nested int
	on     *storage.Page // whose documents are being written
	among  *among        // the list whose documents are being written

	files *storage.Doc    // whose files more is about
	more  schema.BlobFunc // nil until a document's properties are written

	held     []string // the permissions on the last document
	heldText []byte

	favored   bool   // favorites is known
	favorites string // id of the caller's favorites
}

// maxBytes bounds what is written of one value.
// It is looked at between values, so an answer can exceed it by one value at most.
const maxBytes = 64 << 20

// Append appends the JSON of a value, as an object with an entity type.
func Append(dst []byte, c *engine.Ctx, v any, o *Options) ([]byte, error) {
	return newWriter(c, o).entity(dst, v, 1)
}

// AppendValue appends the JSON of a value: objects, lists and scalars as they are.
func AppendValue(dst []byte, c *engine.Ctx, v any, o *Options) ([]byte, error) {
	return newWriter(c, o).value(dst, v, 1)
}

func newWriter(c *engine.Ctx, o *Options) *writer {
	if o == nil {
		o = &Options{}
	}
	return &writer{c: c, o: o, all: slices.Contains(o.Properties, "*"), fetch: o.Fetch["document"], asked: o.Enrichers["document"]}
}

// entity appends a value as an object with an entity type.
func (w *writer) entity(dst []byte, v any, level int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case *storage.Doc:
		return w.document(dst, v, level)
	case storage.Docs:
		return w.documents(dst, v, level)
	case *storage.Page:
		return w.page(dst, v, level)
	case *search.Rows:
		return w.rows(dst, v)
	case *storage.EntryPage:
		return w.log(dst, v)
	case *storage.Blob:
		return w.blob(dst, v), nil
	case storage.Blobs:
		return w.blobs(dst, v), nil
	case []storage.ACL:
		dst, err := w.acls(append(dst, `{"entity-type":"acls","acl":`...), v, "ace")
		return append(dst, '}'), err
	case storage.Entry:
		return w.entry(dst, &v)
	case map[string]any:
		if _, typed := v["entity-type"]; typed {
			return w.value(dst, v, level)
		}
	case json.RawMessage:
		return append(dst, v...), nil
	}
	return w.people(dst, v, level)
}

// people appends users, groups and entries of directories.
func (w *writer) people(dst []byte, v any, level int) ([]byte, error) {
	switch v := v.(type) {
	case *people.User:
		return w.user(dst, v)
	case []*people.User:
		return w.users(dst, v)
	case *storage.Principal:
		return w.principal(dst, v)
	case *people.Group:
		return w.group(dst, v), nil
	case *people.UserPage:
		return w.userPage(dst, v)
	case *people.GroupPage:
		return w.groupPage(dst, v), nil
	case *record.Entry:
		return w.directoryEntry(dst, v, 0)
	case *record.Page:
		return w.directoryEntries(dst, v)
	}
	return w.workflows(dst, v, level)
}

// wrapped appends {"entity-type": "string", "value": …}.
func (w *writer) wrapped(dst []byte, v any, level int) ([]byte, error) {
	word := "object"
	switch x := v.(type) {
	case string, storage.Ref:
		word = "string"
	case bool:
		word = "boolean"
	case int, int64, float64:
		word = "number"
	case time.Time:
		word = "date"
	case []any:
		if docs, ok := allDocs(x); ok {
			return w.documents(dst, docs, level)
		}
		word = "list"
	case []string, storage.Refs:
		word = "list"
	case map[string]any, storage.Props:
		word = "map"
	case engine.Value:
		switch x.V.(type) {
		case *storage.Doc, storage.Docs, *storage.Page, *search.Rows, *storage.EntryPage, *storage.Blob, *people.User, nil:
			return w.entity(dst, x.V, level)
		}
		word, v = x.Word, x.V
	}
	dst = schema.AppendString(append(dst, `{"entity-type":`...), word)
	dst, err := w.value(append(dst, `,"value":`...), v, level+1)
	return append(dst, '}'), err
}

func allDocs(list []any) (storage.Docs, bool) {
	docs := make(storage.Docs, 0, len(list))
	for _, item := range list {
		d, ok := item.(*storage.Doc)
		if !ok {
			return nil, false
		}
		docs = append(docs, d)
	}
	return docs, len(docs) > 0
}

// value appends a value as it is: plain values without an entity type.
func (w *writer) value(dst []byte, v any, level int) ([]byte, error) {
	if w.nested > maxDepth || len(dst) > maxBytes {
		return nil, fault.Limit.Errorf("response: nested too deeply or longer than %d bytes", maxBytes).WithCode(fault.CodeAnswer)
	}
	switch v := v.(type) {
	case map[string]any:
		return w.object(dst, v, level)
	case storage.Props:
		return w.object(dst, v, level)
	case []any:
		return list(w, dst, v, level)
	case []string:
		return list(w, dst, v, level)
	case storage.Refs:
		return list(w, dst, v, level)
	case []map[string]any:
		return list(w, dst, v, level)
	case engine.Value:
		return w.value(dst, v.V, level)
	case reference:
		return w.resolve(dst, v.resolver, v.text)
	case *storage.Doc, storage.Docs, *storage.Page, *search.Rows, *storage.EntryPage, *storage.Blob, storage.Blobs,
		[]storage.ACL, *people.User, []*people.User, *storage.Principal, *people.Group, storage.Entry,
		*people.UserPage, *people.GroupPage, *record.Entry, *record.Page,
		*workflow.Instance, workflow.InstanceList, *workflow.Model, workflow.ModelList, *workflow.Graph, *workflow.Task, *workflow.TaskPage:
		return w.entity(dst, v, max(level, 2))
	}
	return scalar(dst, v)
}

// scalar appends a value that contains no entities.
func scalar(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return schema.AppendString(dst, v), nil
	case storage.Ref:
		return schema.AppendString(dst, string(v)), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case time.Time:
		if v.IsZero() {
			return append(dst, "null"...), nil
		}
		return schema.AppendTime(dst, v), nil
	}
	raw, err := json.Marshal(v)
	return append(dst, raw...), err
}

func (w *writer) object(dst []byte, m map[string]any, level int) ([]byte, error) {
	// entity-type first, as clients that read in one pass decide by it.
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == "entity-type":
			return -1
		case b == "entity-type":
			return 1
		}
		return strings.Compare(a, b)
	})
	w.nested++
	defer func() { w.nested-- }()
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(schema.AppendString(dst, name), ':')
		var err error
		if dst, err = w.value(dst, m[name], level); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func list[T any](w *writer, dst []byte, items []T, level int) ([]byte, error) {
	w.nested++
	defer func() { w.nested-- }()
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.value(dst, item, level); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// textOr appends text, or null if it is empty.
func textOr(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return schema.AppendString(dst, s)
}

func timeOr(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	return schema.AppendTime(dst, t)
}

func texts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(dst, s)
	}
	return append(dst, ']')
}
