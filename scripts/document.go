package scripts

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"catena/storage/fault"
)

// docObject is a document in a script: its system fields by name, its properties by
// xpath. Setting a property changes the document in memory; Document.Save stores it.
type docObject struct {
	m *machine
	d document
}

// document returns the object of d; one document has one object in a run.
func (m *machine) document(d document) goja.Value {
	return m.handle(d.key(), func() *goja.Object {
		obj := m.vm.NewDynamicObject(&docObject{m, d})
		_ = obj.SetPrototype(m.documentShape())
		return obj
	})
}

// handle keeps the object of a key, so that == in a script compares what the handles are of.
func (m *machine) handle(key any, create func() *goja.Object) goja.Value {
	if obj := m.handles[key]; obj != nil {
		return obj
	}
	if m.handles == nil {
		m.handles = make(map[any]*goja.Object)
	}
	obj := create()
	m.handles[key] = obj
	return obj
}

// isXPath tells a property's name from a member's: bare names are never properties, so
// that asking a document for "then" or "length" is answered at once.
func isXPath(key string) bool { return strings.ContainsAny(key, ":/") }

// Get returns a field or a property; an unknown property is null.
func (o *docObject) Get(key string) goja.Value {
	if i, ok := fieldIndex[key]; ok {
		v, err := o.d.field(i)
		if err != nil {
			o.m.throw(err, "")
		}
		return o.m.enter(v)
	}
	if !isXPath(key) {
		return nil
	}
	return o.m.enter(o.property(key))
}

func (o *docObject) property(xpath string) any {
	v, err := o.d.get(xpath)
	if err == nil {
		return v
	}
	switch fault.Of(err) {
	case fault.Invalid, fault.NotFound:
		return nil
	}
	o.m.throw(err, "")
	return nil
}

// Set changes a property in memory. Fields are read-only: one that is set is an error in sloppy code too, which would go on with
// nothing changed.
func (o *docObject) Set(key string, v goja.Value) bool {
	if !isXPath(key) {
		panic(o.m.vm.NewTypeError(key + `: cannot be set; properties of a document have names such as doc["dc:title"]`))
	}
	o.change(key, v)
	return true
}

func (o *docObject) change(xpath string, v goja.Value) {
	if err := o.d.set(xpath, o.m.mustExport(v)); err != nil {
		o.m.throw(err, "")
	}
}

// Has reports whether the document has the field, or a value at the xpath.
func (o *docObject) Has(key string) bool {
	if _, ok := fieldIndex[key]; ok {
		return true
	}
	if !isXPath(key) {
		return false
	}
	v, err := o.d.get(key)
	return err == nil && v != nil
}

// Delete empties a property in memory.
func (o *docObject) Delete(key string) bool {
	if !isXPath(key) {
		return false
	}
	o.change(key, goja.Null())
	return true
}

// Keys lists the fields.
func (o *docObject) Keys() []string { return fields }

// toJSON is what JSON.stringify shows of a document.
func (o *docObject) toJSON() goja.Value {
	out := make(map[string]any, 9)
	for _, name := range []string{"id", "name", "path", "title", "type", "state", "facets"} {
		v, err := o.d.field(fieldIndex[name])
		if err != nil {
			o.m.throw(err, "")
		}
		out[name] = v
	}
	out["uid"] = out["id"]
	raw, err := o.d.json(nil)
	if err == nil {
		out["properties"], err = decodeJSON(raw)
	}
	if err != nil {
		o.m.throw(err, "")
	}
	return o.m.enter(out)
}

// contains reports whether a field that is a list has an item.
func (o *docObject) contains(field int, item string) goja.Value {
	v, err := o.d.field(field)
	if err != nil {
		o.m.throw(err, "")
	}
	items, _ := v.([]any)
	for _, x := range items {
		if x == item {
			return o.m.vm.ToValue(true)
		}
	}
	return o.m.vm.ToValue(false)
}

// shapes are the prototypes of handles, made on first use.
type shapes struct {
	document, file, list *goja.Object
}

// documentShape has the methods of documents.
func (m *machine) documentShape() *goja.Object {
	if m.shapes.document == nil {
		m.shapes.document = m.vm.NewDynamicObject(&documentShape{m: m})
	}
	return m.shapes.document
}

// documentShape makes the methods of documents on first use.
type documentShape struct {
	m    *machine
	made map[string]goja.Value
}

var documentMethods = map[string]func(*docObject, goja.FunctionCall) goja.Value{
	"getProperty":      (*docObject).getProperty,
	"getPropertyValue": (*docObject).getProperty,
	"hasFacet": func(o *docObject, call goja.FunctionCall) goja.Value {
		return o.contains(fieldFacets, call.Argument(0).String())
	},
	"hasSchema": func(o *docObject, call goja.FunctionCall) goja.Value {
		return o.contains(fieldSchemas, call.Argument(0).String())
	},
	"setProperty":      (*docObject).setProperty,
	"setPropertyValue": (*docObject).setProperty,
	"toJSON":           func(o *docObject, _ goja.FunctionCall) goja.Value { return o.toJSON() },
	"toString": func(o *docObject, _ goja.FunctionCall) goja.Value {
		path, _ := o.d.field(fieldIndex["path"])
		text, _ := path.(string)
		return o.m.vm.ToValue("document " + text)
	},
}

var documentMethodNames = slices.Sorted(maps.Keys(documentMethods))

func (o *docObject) getProperty(call goja.FunctionCall) goja.Value {
	return o.m.enter(o.property(call.Argument(0).String()))
}

func (o *docObject) setProperty(call goja.FunctionCall) goja.Value {
	o.change(call.Argument(0).String(), call.Argument(1))
	return goja.Undefined()
}

// Get returns a method.
func (s *documentShape) Get(name string) goja.Value {
	if fn := s.made[name]; fn != nil {
		return fn
	}
	f := documentMethods[name]
	if f == nil {
		return nil
	}
	fn := s.m.function(name, func(call goja.FunctionCall) goja.Value {
		if obj, ok := call.This.(*goja.Object); ok && obj.ExportType() == typeDocument {
			return f(obj.Export().(*docObject), call)
		}
		panic(s.m.vm.NewTypeError(name + ": not a document"))
	})
	if s.made == nil {
		s.made = make(map[string]goja.Value, 2)
	}
	s.made[name] = fn
	return fn
}

// Set refuses.
func (s *documentShape) Set(string, goja.Value) bool { return false }

// Has reports whether there is a method.
func (s *documentShape) Has(name string) bool { return documentMethods[name] != nil }

// Delete refuses.
func (s *documentShape) Delete(string) bool { return false }

// Keys lists the methods.
func (s *documentShape) Keys() []string { return documentMethodNames }

// listShape gives lists of handles the two methods of the older platform's lists.
func (m *machine) listShape() *goja.Object {
	if m.shapes.list != nil {
		return m.shapes.list
	}
	proto := m.vm.NewArray().Prototype()
	shape := m.vm.CreateObject(proto)
	m.shapes.list = shape
	_ = shape.DefineDataProperty("size", m.function("size", func(call goja.FunctionCall) goja.Value {
		return call.This.ToObject(m.vm).Get("length")
	}), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	_ = shape.DefineDataProperty("get", m.function("get", func(call goja.FunctionCall) goja.Value {
		if v := call.This.ToObject(m.vm).Get(strconv.FormatInt(call.Argument(0).ToInteger(), 10)); v != nil {
			return v
		}
		return goja.Undefined()
	}), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return shape
}

// fileObject is a file's content in a script.
type fileObject struct {
	m *machine
	f file
}

func (m *machine) file(f file) goja.Value {
	return m.handle(f.key(), func() *goja.Object {
		obj := m.vm.NewDynamicObject(&fileObject{m, f})
		_ = obj.SetPrototype(m.fileShape())
		return obj
	})
}

var fileFields = []string{"name", "type", "mimeType", "length", "size", "encoding", "digest"}

// Get returns what is said about the file.
func (o *fileObject) Get(key string) goja.Value {
	i := o.f.info()
	switch key {
	case "name", "filename":
		return o.m.vm.ToValue(i.name)
	case "type", "mimeType":
		return o.m.vm.ToValue(i.typ)
	case "length", "size":
		return o.m.vm.ToValue(i.size)
	case "encoding":
		return o.m.vm.ToValue(i.encoding)
	case "digest":
		return o.m.vm.ToValue(i.digest)
	}
	return nil
}

// Set refuses: a file does not change.
func (o *fileObject) Set(key string, _ goja.Value) bool {
	panic(o.m.vm.NewTypeError(key + ": cannot be set; a file does not change"))
}

// Has reports whether key is a field.
func (o *fileObject) Has(key string) bool { return o.Get(key) != nil }

// Delete refuses.
func (o *fileObject) Delete(string) bool { return false }

// Keys lists the fields.
func (o *fileObject) Keys() []string { return fileFields }

// fileShape has the methods of files.
func (m *machine) fileShape() *goja.Object {
	if m.shapes.file != nil {
		return m.shapes.file
	}
	shape := m.vm.NewObject()
	m.shapes.file = shape
	read := func(name string) *goja.Object {
		return m.function(name, func(call goja.FunctionCall) goja.Value {
			obj, ok := call.This.(*goja.Object)
			if !ok || obj.ExportType() != typeFile {
				panic(m.vm.NewTypeError(name + ": not a blob"))
			}
			return m.callOut("", func(int) (any, error) {
				return obj.Export().(*fileObject).f.text(m.limits.Output)
			})
		})
	}
	for _, name := range []string{"text", "getString"} {
		_ = shape.DefineDataProperty(name, read(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	return shape
}
