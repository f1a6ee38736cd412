package engine

import (
	"reflect"

	"catena/storage"
)

// Size is about what the result takes in memory as long as it is kept, in bytes. The content of files is not
// counted: that of large ones is not in memory.
func (r *Result) Size() int64 {
	return int64(len(r.Body)) + below(reflect.ValueOf(r.Value), maxLevels) + below(reflect.ValueOf(r.Input), maxLevels)
}

// maxLevels bounds how deep a value is looked into.
const maxLevels = 200

// below is about what a value leads to: texts, elements, and what is behind the pointers among them. Pointers in the
// fields of structs lead to what others hold too.
func below(v reflect.Value, levels int) (n int64) {
	if levels--; levels < 0 {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		n = int64(v.Len())
	case reflect.Interface:
		if !v.IsNil() {
			n = inline(v.Elem().Type()) + below(v.Elem(), levels)
		}
	case reflect.Pointer:
		n = behind(v, levels)
	case reflect.Slice, reflect.Array:
		n = elements(v, levels)
	case reflect.Map:
		each := inline(v.Type().Key()) + inline(v.Type().Elem())
		for key, item := range v.Seq2() {
			n += each + below(key, levels) + below(item, levels)
		}
	case reflect.Struct:
		for field, f := range v.Fields() {
			if field.IsExported() && f.Kind() != reflect.Pointer && leads(f.Kind()) {
				n += below(f, levels)
			}
		}
	}
	return n
}

func elements(v reflect.Value, levels int) int64 {
	n := inline(v.Type().Elem()) * int64(v.Len())
	for i := 0; i < v.Len() && leads(v.Type().Elem().Kind()); i++ {
		n += below(v.Index(i), levels)
	}
	return n
}

func behind(v reflect.Value, levels int) int64 {
	if v.IsNil() {
		return 0
	}
	if d, ok := v.Interface().(*storage.Doc); ok {
		return d.Held()
	}
	return inline(v.Type().Elem()) + below(v.Elem(), levels)
}

func inline(t reflect.Type) int64 { return int64(t.Size()) }

// leads reports whether values of a kind lead to others.
func leads(k reflect.Kind) bool { return k >= reflect.Array && k != reflect.Chan && k != reflect.Func }
