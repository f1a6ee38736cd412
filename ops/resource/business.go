package resource

import (
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// adapters are the views of documents as business objects: each names its fields and the
// properties behind them. Beside these every document type is a view of itself, whose
// fields are the xpaths of its properties.
var adapters = map[string]map[string]string{
	"BusinessBeanAdapter": {
		"description": "dc:description",
		"note":        "note:note",
		"title":       "dc:title",
	},
	"Document": {
		"created":         "dc:created",
		"creator":         "dc:creator",
		"description":     "dc:description",
		"lastContributor": "dc:lastContributor",
		"modified":        "dc:modified",
		"title":           "dc:title",
	},
}

// fieldsOf returns the fields of an adapter for a document: name and xpath.
// Fields of an adapter that the document's type does not have are left out, so one adapter fits
// several types.
func fieldsOf(adapter string, d *storage.Doc) (map[string]string, error) {
	if fields, ok := adapters[adapter]; ok {
		have := make(map[string]string, len(fields))
		for name, xpath := range fields {
			if _, err := d.FieldAt(xpath); err == nil {
				have[name] = xpath
			}
		}
		return have, nil
	}
	if d.Type().Name != adapter {
		return nil, fault.NotFound.Errorf("adapter %s: there is none for type %s", adapter, d.Type().Name)
	}
	fields := make(map[string]string)
	for _, s := range d.Schemas() {
		for _, f := range s.Fields {
			fields[f.Key] = f.Key
		}
	}
	return fields, nil
}

// object writes a document as a business object.
func object(adapter string, d *storage.Doc) (map[string]any, error) {
	fields, err := fieldsOf(adapter, d)
	if err != nil {
		return nil, err
	}
	value := map[string]any{"id": d.ID(), "type": d.Type().Name, "title": d.Title()}
	// Set after the common members, so that a field of the adapter takes precedence over them.
	for name, xpath := range fields {
		if value[name], err = d.Get(xpath); err != nil {
			return nil, err
		}
	}
	return map[string]any{"entity-type": adapter, "value": value}, nil
}

// fields returns the fields of a business object in a request.
// The object must say the adapter that the address names: otherwise its fields would be read as
// those of another view.
func fields(adapter string, body map[string]any) (map[string]any, error) {
	if kind, _ := body["entity-type"].(string); kind != adapter {
		return nil, fault.Invalid.Errorf("entity-type: must be %s, not %q", adapter, kind).In("entity-type")
	}
	value, ok := body["value"].(map[string]any)
	if !ok {
		return nil, fault.Invalid.Errorf("value: must be an object").In("value")
	}
	return value, nil
}

// setFields sets on a document what the fields of a business object hold. The fields
// id and type say which document it is and are not set.
func setFields(c *engine.Ctx, adapter string, d *storage.Doc, value map[string]any) error {
	known, err := fieldsOf(adapter, d)
	if err != nil {
		return err
	}
	given := make(map[string]any, len(value))
	for _, name := range slices.Sorted(maps.Keys(value)) {
		xpath, ok := known[name]
		switch {
		case ok:
			given[xpath] = value[name]
		// Every object shows a title, so one that is sent back unchanged has it even if the adapter
		// does not.
		case name == "title":
			given["dc:title"] = value[name]
		case name != "id" && name != "type":
			return fault.Invalid.Errorf("value: %s has no field %s%s", adapter, name, fault.Perhaps(name, maps.Keys(known))).In(name)
		}
	}
	return entity{c: c, d: d}.setAll(given)
}
