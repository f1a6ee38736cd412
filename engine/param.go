package engine

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"catena/storage/fault"
)

// table is how the parameters of an operation are decoded, made once.
type table struct {
	typ      reflect.Type // struct; nil for dynamic parameters
	fields   []field
	all      uint64 // a bit for each field
	required uint64
	proto    any // pointer to a struct with the defaults
	fresh    func(proto any) any
	blamed   map[string]string // what errors of the run name, by the name that the caller knows it by
}

// field is one parameter.
type field struct {
	Param
	kind  kind
	index []int // of the struct's field
}

const maxParams = 64

// find returns the field of a name, and whether it is its own name; -1 if there is none.
func (t *table) find(name []byte) (int, bool) {
	for i := range t.fields {
		if f := &t.fields[i]; len(f.Name) == len(name) && f.Name == string(name) {
			return i, true
		}
	}
	for i := range t.fields {
		for _, alias := range t.fields[i].Aliases {
			if alias == string(name) {
				return i, false
			}
		}
	}
	return -1, false
}

// names are the parameters in the order they are shown.
func (t *table) names() []string {
	list := t.ordered()
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// unknown is the error of a parameter that there is not, with what was probably meant.
func (t *table) unknown(name string) error {
	names := t.names()
	there := cmp.Or(fault.Perhaps(name, slices.Values(names)), "; the parameters are "+cmp.Or(strings.Join(names, ", "), "none"))
	return fault.Invalid.Errorf("unknown parameter %q%s", name, there).In(name)
}

// CheckNames returns an error for the first parameter, in the order of names, that the operation
// does not have.
func (d *Def) CheckNames(params map[string]any) error {
	if name, ok := d.table.strange(params); ok && !d.Open {
		return fault.Wrap(d.table.unknown(name), "%s", d.Name)
	}
	return nil
}

// tables are those of structs by type, which never change once made: sets have most
// operations in common.
var tables sync.Map

// tableOf returns how the parameters of a function are decoded.
func tableOf(f Func) (*table, error) {
	if f.params == nil {
		return compileTable(f)
	}
	if t, ok := tables.Load(f.params); ok {
		return t.(*table), nil
	}
	t, err := compileTable(f)
	if err == nil {
		tables.Store(f.params, t)
	}
	return t, err
}

// compileTable compiles the parameters of a function.
func compileTable(f Func) (*table, error) {
	t := &table{typ: f.params, fresh: f.fresh}
	var err error
	if f.params == nil {
		for _, p := range f.dynamic {
			f := field{Param: p, kind: kindOfWord(p.Type)}
			if p.Raw {
				f.kind = kAny
			}
			t.fields = append(t.fields, f)
		}
	} else if err = t.reflect(); err != nil {
		return nil, err
	}
	if len(t.fields) > maxParams {
		return nil, fmt.Errorf("more than %d parameters", maxParams)
	}
	seen := map[string]bool{}
	for i := range t.fields {
		p := &t.fields[i]
		if p.Name == "" || seen[p.Name] {
			return nil, fmt.Errorf("parameter %q: the name is missing or duplicate", p.Name)
		}
		seen[p.Name] = true
		t.all |= 1 << i
		t.blame(p.Param)
		if p.Required {
			t.required |= 1 << i
		}
		if f.params == nil && p.Default != nil {
			if p.Default, err = (&Ctx{}).convert(p.Default, p.kind); err != nil {
				return nil, fmt.Errorf("parameter %q: default: %w", p.Name, err)
			}
		}
	}
	return t, nil
}

// blame notes what errors call a parameter.
func (t *table) blame(p Param) {
	if p.Blamed == "" {
		return
	}
	if t.blamed == nil {
		t.blamed = map[string]string{}
	}
	for entry := range strings.SplitSeq(p.Blamed, ",") {
		inner, member, ok := strings.Cut(entry, "=")
		if !ok {
			member = p.Name
		}
		t.blamed[inner] = member
	}
}

// named gives an error that names a field of what the operation uses the name that the caller knows it by. The error
// may be shared, so it is copied.
func (t *table) named(err error, params any) error {
	e, ok := err.(*fault.Error) //nolint:errorlint // errors of operations within name fields of these
	if !ok || e.Field == "" {
		return err
	}
	out := *e
	if blamed := t.blamed[e.Field]; blamed != "" {
		out.Field = blamed
		if rest, ok := strings.CutPrefix(e.Message, e.Field+": "); ok {
			out.Message = out.Field + ": " + rest
		}
		return &out
	}
	if out.Field = t.holder(e.Field, params); out.Field == "" {
		return err
	}
	return &out
}

// holder is the parameter that was given the name of something, such as a property, or of what that is a part of; "" if none
// was, or if the name is that of a parameter.
func (t *table) holder(name string, params any) string {
	v := reflect.Indirect(reflect.ValueOf(params))
	if i, _ := t.find([]byte(name)); i >= 0 || !v.IsValid() || v.Type() != t.typ {
		return ""
	}
	for i := range t.fields {
		f := &t.fields[i]
		if f.kind != kString {
			continue
		}
		given := v.FieldByIndex(f.index).String()
		rest, ok := strings.CutPrefix(name, given)
		if ok && rest != name && (rest == "" || rest[0] == '/') {
			return f.Name
		}
		if begin, long := strings.CutSuffix(name, "…"); long && strings.HasPrefix(given, begin) {
			return f.Name
		}
	}
	return ""
}

// reflect reads the fields of the struct, those of embedded structs included.
func (t *table) reflect() error {
	proto := reflect.New(t.typ)
	t.proto = proto.Interface()
	if t.typ.Kind() != reflect.Struct {
		return fmt.Errorf("parameters are %s, not a struct", t.typ)
	}
	d := decoder{c: &Ctx{}, t: t, to: proto.Elem()}
	for _, sf := range reflect.VisibleFields(t.typ) {
		if sf.Anonymous {
			continue
		}
		f, err := fieldOf(sf)
		if err != nil {
			return err
		}
		f.index = sf.Index
		if text, ok := sf.Tag.Lookup("default"); ok && text != "" {
			if sf.Type.Kind() == reflect.Pointer {
				return fmt.Errorf("%s: a pointer must not have a default, which all calls would share", sf.Name)
			}
			if err := d.put(&f, text); err != nil {
				return fmt.Errorf("%s: default: %w", sf.Name, err)
			}
			f.Default = proto.Elem().FieldByIndex(sf.Index).Interface()
		}
		t.fields = append(t.fields, f)
	}
	return nil
}

// fieldOf reads the tags of a field.
func fieldOf(sf reflect.StructField) (field, error) {
	var room [16]tag
	tags := tagsOf(sf.Tag, room[:0])
	jsonTag, ok := tags.find("json")
	if !ok || !sf.IsExported() {
		return field{}, fmt.Errorf("field %s: has no json tag, or is not exported", sf.Name)
	}
	name, options, _ := strings.Cut(jsonTag, ",")
	doc := tags.get("doc")
	if name == "" || doc == "" {
		return field{}, fmt.Errorf("field %s: has no name or no doc", sf.Name)
	}
	f := field{kind: kindOfType(sf.Type)}
	f.Name, f.Doc, f.Type = name, doc, words[f.kind]
	_, optional := tags.find("default")
	f.Required = !optional && !slices.Contains(strings.Split(options, ","), "omitzero")
	f.Aliases = tags.list("alias")
	if f.Values = tags.list("enum"); f.Values != nil {
		f.Enum = true
	} else {
		f.Values = tags.list("values")
	}
	if word := tags.get("type"); word != "" {
		f.Type = word
	}
	if err := tags.bounds(sf.Name, &f.Param); err != nil {
		return field{}, err
	}
	f.Secret, f.Unused = tags.get("secret") == "true", tags.get("unused") == "true"
	f.Widget, f.Names, f.Blamed = tags.get("widget"), tags.get("names"), tags.get("blamed")
	if order := tags.get("order"); order != "" {
		n, err := strconv.Atoi(order)
		if err != nil {
			return field{}, fmt.Errorf("field %s: order %q", sf.Name, order)
		}
		f.Order = n
	}
	return f, nil
}

// tag is an entry of a field's tag.
type tag struct{ name, value string }

// tags are all entries. They are read once, since to look up one of a reflect.StructTag is to read all before it, which took a quarter of
// the time that a start needs for the operations.
type tags []tag

// tagsOf appends the entries of what go vet accepts as a tag.
func tagsOf(text reflect.StructTag, all tags) tags {
	for rest := strings.TrimLeft(string(text), " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		name, after, _ := strings.Cut(rest, ":")
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			break
		}
		value, _ := strconv.Unquote(quoted)
		all = append(all, tag{name, value})
		rest = after[len(quoted):]
	}
	return all
}

func (t tags) find(name string) (value string, ok bool) {
	for i := range t {
		if t[i].name == name {
			return t[i].value, true
		}
	}
	return "", false
}

func (t tags) get(name string) string {
	value, _ := t.find(name)
	return value
}

// bounds reads the bounds of a number.
func (t tags) bounds(field string, p *Param) error {
	for name, at := range map[string]**float64{"min": &p.Min, "max": &p.Max} {
		text, ok := t.find(name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("field %s: %s %q", field, name, text)
		}
		*at = &n
	}
	return nil
}

// list reads a list, with commas between its items.
func (t tags) list(name string) []string {
	text := t.get(name)
	if text == "" {
		return nil
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// ordered returns the parameters as documentation lists them: by order where both have one,
// else the required first, else by name.
func (t *table) ordered() []Param {
	out := make([]Param, len(t.fields))
	for i := range t.fields {
		out[i] = t.fields[i].Param
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		switch {
		case a.Order != 0 && b.Order != 0 && a.Order != b.Order:
			return a.Order < b.Order
		case a.Required != b.Required:
			return a.Required
		}
		return a.Name < b.Name
	})
	return out
}

// maxOffset keeps page numbers from overflowing; storage limits more.
const maxOffset = 1 << 30

// Offset is where the page of a number begins in a list, for the parameter currentPageIndex. Pages of a size below 1
// all begin at 0.
func Offset(index, size int) (int, error) {
	switch {
	case index < 0:
		return 0, fault.Invalid.Errorf("currentPageIndex: must be at least 0").In("currentPageIndex")
	case size <= 0:
		return 0, nil
	case index > maxOffset/size:
		return 0, fault.Invalid.Errorf("currentPageIndex: page %d begins after entry %d", index, maxOffset).In("currentPageIndex")
	}
	return index * size, nil
}
