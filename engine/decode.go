package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"catena/storage/fault"
	"catena/storage/jsontext"
)

// decoder fills the parameters of one call: a struct, or a map for dynamic operations. A parameter that is
// given by its own name wins over one that is given by an alias, wherever each stands in the object; hence
// two sets of bits. Operations have at most 64 parameters because of these (see compileTable).
type decoder struct {
	c   *Ctx
	t   *table
	to  reflect.Value // the struct; the zero Value for dynamic operations
	m   map[string]any
	set uint64 // fields given by their own name or found
	by  uint64 // fields given by another name
	// Programs send parameters in the order of the documentation, so the field after the last one is tried
	// first, which saves a search for nearly every name.
	next int // field that is likely next

	strange string // the first name given that no field has
}

// start allocates the parameters with their defaults.
func (t *table) start(c *Ctx) (p any, d decoder) {
	d = decoder{c: c, t: t}
	if t.typ == nil {
		d.m = make(map[string]any, len(t.fields))
		for i := range t.fields {
			if f := &t.fields[i]; f.Default != nil {
				d.m[f.Name] = f.Default
			}
		}
		return d.m, d
	}
	// Without fields there is nothing to change, so all calls share one value.
	if t.typ.Size() == 0 {
		return t.proto, d
	}
	// The prototype holds the defaults; what is decoded goes into a copy.
	p = t.fresh(t.proto)
	d.to = reflect.ValueOf(p).Elem()
	return p, d
}

// fromJSON reads parameters from a JSON object.
func (t *table) fromJSON(c *Ctx, raw []byte) (any, error) {
	p, d := t.start(c)
	s := jsontext.Scanner{Data: raw, Context: c.Context}
	if err := d.object(&s); err != nil {
		return nil, malformed(err)
	}
	return p, misspelt(d.finish(), d.strange)
}

func (d *decoder) object(s *jsontext.Scanner) error {
	if !s.Take('{') {
		return s.Fail("is not an object")
	}
	var others jsontext.Names
	for more := !s.Take('}'); more; {
		name, err := s.Name()
		if err != nil {
			return err
		}
		i, own := d.field(name)
		if own && d.set&(1<<i) != 0 || !own && !others.Add(name) {
			return s.Duplicate(name)
		}
		if err = d.member(s, i, own); err == nil {
			more, err = s.More('}')
		}
		if err != nil {
			return err
		}
	}
	return s.End()
}

// field returns the field that a name is of, negative if there is none, and whether that is its own name.
func (d *decoder) field(name []byte) (i int, own bool) {
	i, own = d.next, true
	if i >= len(d.t.fields) || d.t.fields[i].Name != string(name) {
		i, own = d.t.find(name)
	}
	d.next = i + 1
	switch {
	case i < 0:
		d.strange = cmp.Or(d.strange, string(name))
		d.c.Ignore(string(name))
	case d.t.fields[i].Unused:
		d.c.Ignore(string(name))
	}
	return i, own
}

// member takes the value of field i in, or passes over it.
func (d *decoder) member(s *jsontext.Scanner, i int, own bool) error {
	b := s.Peek()
	if i < 0 || b == 'n' {
		_, err := s.Skip(1)
		if i >= 0 && d.t.fields[i].kind == kProps {
			d.set |= 1 << i // to set no properties is not to leave them out
		}
		return err
	}
	bit := uint64(1) << i
	if !own && (d.set|d.by)&bit != 0 {
		_, err := s.Skip(1)
		return err
	}
	f := &d.t.fields[i]
	if own {
		d.set |= bit
	} else {
		d.by |= bit
	}
	if f.kind == kRaw {
		raw, err := s.Skip(1)
		if err != nil {
			return err
		}
		return d.assign(f, json.RawMessage(slices.Clone(raw)))
	}
	if done, err := d.direct(s, f, b); done {
		return err
	}
	v, err := s.Value(1)
	if err != nil {
		return err
	}
	return d.put(f, v)
}

// direct reads texts and booleans straight into the struct, without a conversion.
func (d *decoder) direct(s *jsontext.Scanner, f *field, b byte) (done bool, err error) {
	switch {
	case d.m != nil:
		return false, nil
	case b == '"' && f.kind == kString && !f.Enum:
		raw, err := s.Text()
		d.at(f).SetString(string(raw))
		return true, err
	case f.kind == kBool && (b == 't' && s.Word("true") || b == 'f' && s.Word("false")):
		d.at(f).SetBool(b == 't')
		return true, nil
	}
	return false, nil
}

// fromMap reads parameters from values.
func (t *table) fromMap(c *Ctx, m map[string]any) (any, error) {
	p, d := t.start(c)
	for i := range t.fields {
		f := &t.fields[i]
		v, ok := m[f.Name]
		if ok && v == nil && f.kind == kProps {
			d.set |= 1 << i
			continue
		}
		if ok && v != nil {
			d.set |= 1 << i
			if err := d.put(f, v); err != nil {
				return nil, err
			}
			continue
		}
		// The first alias that has a value wins; the others are older names of the same.
		for _, name := range f.Aliases {
			if v, ok := m[name]; ok && v != nil {
				d.by |= 1 << i
				if err := d.put(f, v); err != nil {
					return nil, err
				}
				break
			}
		}
	}
	err := d.finish()
	if err != nil {
		name, _ := t.strange(m)
		err = misspelt(err, name)
	}
	return p, err
}

// strange returns the first name, in their order, that no field has, if there is one.
func (t *table) strange(m map[string]any) (name string, ok bool) {
	if all := t.strangers(m); all != nil {
		return all[0], true
	}
	return "", false
}

// strangers returns the names, in their order, that no field has.
func (t *table) strangers(m map[string]any) (names []string) {
	for name := range m {
		if i, _ := t.find([]byte(name)); i < 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// misspelt adds to what is missing the name that was given perhaps instead.
func misspelt(err error, strange string) error {
	var e *fault.Error
	if strange != "" && errors.As(err, &e) && e.Code == fault.CodeMissingParameter {
		e.Message += fmt.Sprintf("; unknown parameter %q", cut(strange, 40))
	}
	return err
}

// put converts a value to the type of a field and stores it.
func (d *decoder) put(f *field, v any) error {
	if lazy, ok := v.(Lazy); ok {
		found, err := lazy(d.c)
		if err != nil || found == nil {
			return err
		}
		v = found
	}
	if f.kind == kOther {
		return d.other(f, v)
	}
	v, err := d.c.convert(v, f.kind)
	if err != nil {
		return paramError(f.Name, err)
	}
	if f.Enum && f.kind == kString {
		if s, _ := v.(string); !slices.Contains(f.Values, s) {
			return fault.Invalid.Errorf("parameter %q: %q is not one of %s", f.Name, cut(s, 40), strings.Join(f.Values, ", ")).In(f.Name)
		}
	}
	return d.assign(f, v)
}

func paramError(name string, err error) error {
	e := fault.Wrap(err, "parameter %q", name)
	if e.Field == "" {
		e.Field = name
	}
	return e
}

// assign stores a value of the field's kind.
func (d *decoder) assign(f *field, v any) error {
	if d.m != nil {
		d.m[f.Name] = v
		return nil
	}
	if v == nil {
		return nil
	}
	at := d.at(f)
	switch f.kind {
	case kString:
		at.SetString(v.(string))
	case kBool:
		at.SetBool(v.(bool))
	case kInt:
		n := v.(int)
		if at.Kind() == reflect.Pointer {
			at.Set(reflect.ValueOf(&n))
			return nil
		}
		at.SetInt(int64(n))
	case kLong:
		at.SetInt(v.(int64))
	case kFloat:
		at.SetFloat(v.(float64))
	case kRaw:
		switch raw := v.(type) {
		case json.RawMessage:
			at.SetBytes(raw)
		case []byte:
			at.SetBytes(raw)
		}
	default:
		at.Set(reflect.ValueOf(v))
	}
	return nil
}

// at returns the field of the struct.
func (d *decoder) at(f *field) reflect.Value {
	if len(f.index) == 1 {
		return d.to.Field(f.index[0])
	}
	return d.to.FieldByIndex(f.index)
}

// other fills a field of a type that only JSON knows how to fill.
func (d *decoder) other(f *field, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, d.at(f).Addr().Interface())
	}
	if err != nil {
		return fault.Invalid.Errorf("parameter %q: %s is out of range", f.Name, wordOf(v)).In(f.Name)
	}
	return nil
}

// finish looks up what the caller did not give, and complains about what is missing then.
func (d *decoder) finish() error {
	given := d.set | d.by
	if given == d.t.all {
		return nil
	}
	c := d.c
	// Parameters that the caller left out are inherited from the chain around, which is how the platform's
	// chains pass them on. Only what is left out is looked up, and it is converted like a given value.
	if len(c.Vars) > 0 || len(c.params) > 0 {
		for i := range d.t.fields {
			if given&(1<<i) != 0 {
				continue
			}
			f := &d.t.fields[i]
			v := c.lookup(f)
			if v == nil {
				continue
			}
			given |= 1 << i
			if err := d.put(f, v); err != nil {
				return err
			}
		}
	}
	return d.t.missing(given)
}

// missing names the first required parameter that is not given.
func (t *table) missing(given uint64) error {
	if t.required&^given == 0 {
		return nil
	}
	for i := range t.fields {
		if f := &t.fields[i]; f.Required && given&(1<<i) == 0 {
			return fault.Invalid.Errorf("parameter %q is missing", f.Name).In(f.Name).WithCode(fault.CodeMissingParameter)
		}
	}
	return nil
}

// lookup finds the value of a parameter that the caller did not give: a parameter of the
// chain, a variable of the context, then either by another name.
func (c *Ctx) lookup(f *field) any {
	if v := c.params[f.Name]; v != nil {
		return v
	}
	if v := c.Vars[f.Name]; v != nil {
		return v
	}
	for _, name := range f.Aliases {
		if v := c.params[name]; v != nil {
			return v
		}
		if v := c.Vars[name]; v != nil {
			return v
		}
	}
	return nil
}
