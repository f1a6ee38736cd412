package main

import (
	"slices"
	"testing"

	"catena/engine/entity"
	"catena/engine/openapi"
)

// anyResults are the operations that return whatever a text, a file or another server says.
var anyResults = []string{
	"Chain.Run", "Data.Read", "Data.Select", "Data.Value", "Http.Request", "Script.Run", "WebUI.RunOperationInSeam",
}

// TestResultTypes finds the operations of the built server whose result has no type, and the references that lead nowhere. The
// scenarios compare the types with what the operations return.
func TestResultTypes(t *testing.T) {
	a := freshApp(t)
	set, forms, typed := a.engine.Set(), openapi.Forms(), 0
	for _, name := range set.Names() {
		d, _ := set.Op(name)
		f := entity.FormOf(d, false)
		if f.Any {
			t.Errorf("%s returns any value: its function returns one of no type, and it has no Result", name)
		}
		if is := d.Result["$ref"] == openapi.Ref("Value")["$ref"]; is != slices.Contains(anyResults, name) {
			t.Errorf("%s: it declares that it may return anything: %v", name, is)
		}
		if len(f.Schemas) > 0 {
			typed++
		}
		for _, s := range f.Schemas {
			openapi.Refs(s, func(ref string) {
				if forms[ref] == nil && f.Definitions[ref] == nil {
					t.Errorf("%s: no form %s", name, ref)
				}
			})
		}
	}
	if typed < 400 {
		t.Errorf("only %d operations return JSON", typed)
	}
	t.Logf("%d of %d operations return JSON, %d of them anything", typed, len(set.Names()), len(anyResults))
}
