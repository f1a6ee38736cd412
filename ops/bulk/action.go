package bulk

import (
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// action is what a command does to a document: it changes something, or writes a line of a table. Check
// looks at the parameters when the command is submitted, so that a mistake reaches the caller and not
// only the status of the command. Exactly one of do and line is set: line makes the command a table
// (export.go), and such a command changes no document.
type action struct {
	check func(c *engine.Ctx, params map[string]any) error
	do    func(c *engine.Ctx, d *storage.Doc, params map[string]any) error
	line  func(c *engine.Ctx, d *storage.Doc, t csvTable) ([]string, error)
}

// actions are those that there are, by name. The names are the platform's; those with UI are what its
// web pages send for the same work.
var actions = map[string]action{
	"automation":      {check: checkOperation, do: runOperation},
	"automationUi":    {check: checkOperation, do: runOperation},
	"csvExport":       {check: checkTable, line: line},
	"deletion":        {check: none, do: deleteDoc},
	"removeProxy":     {check: none, do: removeProxy},
	"setProperties":   {check: checkProps, do: setProperties},
	"setPropertiesUI": {check: checkProps, do: setProperties},
	"trash":           {check: none, do: trashDoc},
}

func none(*engine.Ctx, map[string]any) error { return nil }

func checkOperation(c *engine.Ctx, params map[string]any) error {
	name, _ := params["operationId"].(string)
	// The operation is checked for the caller and the entry point of this call, as if it were
	// called directly; otherwise a command would be a way around the limits on who may run what.
	// The batches check it again (engine.Ctx.Call).
	if !c.Set().Allowed(name, c.As, c.EntryPoint) {
		return c.Set().Missing(name, c.As, c.EntryPoint).In("parameters")
	}
	_, err := operationParams(params)
	return err
}

// operationParams are what an operation is called with: the platform's name for them, or our former one.
func operationParams(params map[string]any) (with map[string]any, err error) {
	for _, name := range []string{"parameters", "operationParameters"} {
		if p := params[name]; p != nil {
			m, ok := p.(map[string]any)
			if !ok {
				return nil, fault.Invalid.Errorf("%s: must be an object", name).In("parameters")
			}
			return m, nil
		}
	}
	return nil, nil
}

// runOperation runs any operation on the document.
func runOperation(c *engine.Ctx, d *storage.Doc, params map[string]any) error {
	name, _ := params["operationId"].(string)
	with, err := operationParams(params)
	if err == nil {
		_, err = c.Call(name, d, with)
	}
	return err
}

func deleteDoc(c *engine.Ctx, d *storage.Doc, _ map[string]any) error { return c.Tx.Delete(d) }

// A query for proxies can also find what they show; the action must not delete that.
func removeProxy(c *engine.Ctx, d *storage.Doc, _ map[string]any) error {
	if !d.IsProxy() {
		return nil
	}
	return c.Tx.Delete(d)
}

// trashDoc puts the document into the trash, or with value false takes it out.
func trashDoc(c *engine.Ctx, d *storage.Doc, params map[string]any) error {
	value, given := params["value"].(bool)
	_, err := c.Tx.SetTrashed(d, value || !given)
	return err
}

func checkProps(_ *engine.Ctx, params map[string]any) error {
	if len(properties(params)) == 0 {
		return fault.Invalid.Errorf("parameters: properties are required").In("parameters")
	}
	return nil
}

// properties are the parameters without those that say how to save. The platform has clients send
// options of saving among the properties; they are accepted and have no effect.
func properties(params map[string]any) map[string]any {
	props := maps.Clone(params)
	for _, name := range []string{"VersioningOption", "disableAuditLogger", "param-disable"} {
		delete(props, name)
	}
	return props
}

func setProperties(c *engine.Ctx, d *storage.Doc, params map[string]any) error {
	props := properties(params)
	// In order, so that a list is set before one of its items, and the first error is always the
	// same one.
	for _, xpath := range slices.Sorted(maps.Keys(props)) {
		if err := d.Set(xpath, props[xpath]); err != nil {
			return err
		}
	}
	_, err := c.Tx.Save(d, storage.SaveOptions{})
	return err
}
