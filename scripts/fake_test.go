package scripts

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// fakeDoc is a document of the tests' host.
type fakeDoc struct {
	id, path, typ string
	props         map[string]any
}

func (d *fakeDoc) key() any { return d }

func (d *fakeDoc) field(i int) (any, error) {
	switch fields[i] {
	case "id":
		return d.id, nil
	case "path":
		return d.path, nil
	case "name":
		return d.path[strings.LastIndex(d.path, "/")+1:], nil
	case "type":
		return d.typ, nil
	case "title":
		return d.props["dc:title"], nil
	case "facets":
		return []any{"Folderish", "Versionable"}, nil
	case "schemas":
		return []any{"dublincore"}, nil
	case "isFolder":
		return d.typ == "Folder", nil
	case "lockCreated":
		return time.Unix(1, 0).UTC(), nil
	}
	return nil, nil
}

func (d *fakeDoc) fields(w *writer) error {
	for i := range fields {
		v, err := d.field(i)
		if err != nil {
			return err
		}
		if err := w.nested(v, 2); err != nil {
			return err
		}
	}
	return nil
}

func (d *fakeDoc) get(xpath string) (any, error) {
	if xpath == "no:such" {
		return nil, fault.Invalid.Errorf("property %s", xpath)
	}
	return d.props[xpath], nil
}

func (d *fakeDoc) set(xpath string, v any) error {
	if xpath == "no:such" {
		return fault.Invalid.Errorf("property %s", xpath)
	}
	d.props[xpath] = v
	return nil
}

func (d *fakeDoc) json(dst []byte) ([]byte, error) {
	raw, err := json.Marshal(d.props)
	return append(dst, raw...), err
}

func (f *fakeFile) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"name": f.name, "digest": "d1", "length": len(f.body)})
}

// fakeFile is a file of the tests' host.
type fakeFile struct{ name, body string }

func (f *fakeFile) key() any { return f }
func (f *fakeFile) info() fileInfo {
	return fileInfo{name: f.name, typ: "text/plain", digest: "d1", size: int64(len(f.body))}
}

func (f *fakeFile) text(max int) (string, error) {
	if len(f.body) > max {
		return "", fault.Limit.Errorf("blob %s: too long", f.name)
	}
	return f.body, nil
}

// fakeHost is a host with a handful of operations.
type fakeHost struct {
	vars  map[string]any
	lines []string
	calls []string
	docs  map[string]*fakeDoc
}

var fakeOps = []string{
	"Document.Create", "Document.Get", "Document.Routing.Resume.Step", "Document.Save", "Echo", "Fail", "List",
	"Log In-Out (X)", "Noop", "Proxy.Source", "Repository.GetDocument", "Test.Noop", "Value.Of",
}

// fakeReads are those that change nothing.
var fakeReads = []string{"Document.Get", "List", "Repository.GetDocument", "Value.Of"}

func newFakeHost() *fakeHost {
	return &fakeHost{vars: map[string]any{"who": "bob"}, docs: map[string]*fakeDoc{}}
}

func (h *fakeHost) doc(path string) *fakeDoc {
	if h.docs[path] == nil {
		h.docs[path] = &fakeDoc{id: "id-" + path, path: path, typ: "File", props: map[string]any{
			"dc:title": "Title of " + path, "dc:created": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "dc:subjects": []any{"a", "b"}, "n:number": int64(7),
			"file:content": &fakeFile{"a.txt", "some text"},
		}}
	}
	return h.docs[path]
}

func (h *fakeHost) call(op string, in any, params map[string]any, line int) (any, error) {
	h.calls = append(h.calls, op)
	switch op {
	case "Echo", "Document.Save", "Proxy.Source", "Document.Routing.Resume.Step", "Log In-Out (X)":
		if in == nil && params != nil {
			return params, nil
		}
		return in, nil
	case "Document.Create":
		d := h.doc(in.(*fakeDoc).path + "/" + params["name"].(string))
		d.typ = params["type"].(string)
		return d, nil
	case "Document.Get", "Repository.GetDocument":
		p, _ := params["value"].(string)
		if !strings.HasPrefix(p, "/") {
			return nil, fault.NotFound.Errorf("document %s", p)
		}
		return h.doc(p), nil
	case "Fail":
		return nil, fault.Conflict.Errorf("Fail: document %v", params["ref"]).WithCode(fault.CodePreconditionFailed).In("ref")
	case "List":
		out := list{}
		for i := range params["n"].(int64) {
			out = append(out, h.doc(fmt.Sprintf("/d%d", i)))
		}
		return out, nil
	case "Noop", "Test.Noop":
		return in, nil
	case "Value.Of":
		return map[string]any{"when": time.Unix(60, 0).UTC(), "n": 1.5, "deep": []any{map[string]any{"x": nil}}, "ok": true}, nil
	}
	return nil, fault.NotFound.Errorf("operation %s", op)
}

func (h *fakeHost) helper(name string, args []any) (any, error) {
	return fmt.Sprint(name, args), nil
}

func (h *fakeHost) variable(name string) (any, bool, error) {
	v, ok := h.vars[name]
	return v, ok, nil
}

func (h *fakeHost) variables() ([]string, error) {
	var names []string
	for k := range h.vars {
		names = append(names, k)
	}
	sort.Strings(names)
	return names, nil
}

func (h *fakeHost) setVariable(name string, v any) error {
	if _, ok := v.(absent); ok {
		delete(h.vars, name)
		return nil
	}
	h.vars[name] = v
	return nil
}

func (h *fakeHost) user() (map[string]any, error) {
	return map[string]any{"name": "bob", "groups": []any{"members"}}, nil
}

func (h *fakeHost) now() time.Time { return time.Date(2026, 11, 21, 15, 4, 5, 6e6, time.UTC) }

func (h *fakeHost) prepare(op string, in any, params map[string]any, line int) (any, engine.StepTrace, error) {
	v, err := h.call(op, in, params, line)
	return v, engine.StepTrace{}, err
}

func (h *fakeHost) unmade([]engine.StepTrace) {}

func (h *fakeHost) log(level, text string) { h.lines = append(h.lines, level+": "+text) }
