package control

import (
	"reflect"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// each runs an operation on the call's input once for every item of the list in a
// variable; the item is a variable, too. The list is read before the first run: a run that changes the
// variable does not change how often the others happen.
func (r inner) each(c *engine.Ctx, list, item string) error {
	// That name belongs to the engine: a variable of the name would hide the parameters of the
	// chain.
	if item == "" || item == "ChainParameters" {
		return fault.Invalid.Errorf("item %q: not a valid variable name", item).In("item")
	}
	if err := r.timely(); err != nil {
		return err
	}
	items, err := itemsIn(c, list)
	if err != nil {
		return err
	}
	// A variable of the same name has its former value afterwards, also after a failure.
	shadowed, had := c.Vars[item]
	defer func() {
		if delete(c.Vars, item); had {
			c.SetVar(item, shadowed)
		}
	}()
	if r.apart {
		if len(items) > 0 {
			_, err = c.Apart(r.part(c.Input, items, item))
		}
		return r.overdue(c, err)
	}
	for _, v := range items {
		if err := c.Err(); err != nil {
			return err
		}
		c.SetVar(item, v)
		if _, err := r.run(c, c.Input); err != nil {
			return err
		}
	}
	return nil
}

// itemsIn returns the items of the list that a variable holds. No variable is an empty list. Lists in
// variables have many Go types (documents, files, texts), hence the reflection; a text is not a list.
func itemsIn(c *engine.Ctx, name string) ([]any, error) {
	v := c.Vars[name]
	switch list := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return list, nil
	case *storage.Page:
		if list == nil {
			return nil, nil
		}
		v = list.Docs
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		return nil, fault.Invalid.Errorf("variable %s: does not hold a list", name).In("list")
	}
	items := make([]any, r.Len())
	for i := range items {
		items[i] = r.Index(i).Interface()
	}
	return items, nil
}
