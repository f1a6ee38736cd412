package service

import (
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

const (
	parameterFacet = "SimpleConfiguration"
	parameterXPath = "sconf:simpleConfigurationParameters"
	// On one document: all are read for each look-up, on every folder up to the root.
	maxParameters = 1000
)

// parameters are those kept on a document itself.
func parameters(d *storage.Doc) (map[string]string, error) {
	out := map[string]string{}
	if !d.HasFacet(parameterFacet) {
		return out, nil
	}
	v, err := d.Get(parameterXPath)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			key, _ := m["key"].(string)
			value, _ := m["value"].(string)
			out[key] = value
		}
	}
	return out, nil
}

// keep adds parameters to those of a document and saves it. Save checks that the caller may write the
// document. They are stored in the order of their names, so that the same parameters always give the
// same value. Field is the parameter of the operation that errors name.
func keep(c *engine.Ctx, d *storage.Doc, added map[string]string, field string) (*storage.Doc, error) {
	all, err := parameters(d)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, added)
	if _, empty := all[""]; empty {
		return nil, fault.Invalid.Errorf("%s: a parameter must have a name", field).In(field)
	}
	if len(all) > maxParameters {
		return nil, tooManyParameters(field)
	}
	if err := d.AddFacet(parameterFacet); err != nil {
		return nil, err
	}
	list := make([]any, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, map[string]any{"key": key, "value": all[key]})
	}
	if err := d.Set(parameterXPath, list); err != nil {
		return nil, err
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

func tooManyParameters(field string) error {
	return fault.Limit.Errorf("%s: a document has at most %d parameters", field, maxParameters).In(field)
}

// parameter finds the value that holds for a document: its own, or that of the nearest folder above.
// Folders that the caller may not read do not take part.
func parameter(c *engine.Ctx, d *storage.Doc, key string) (string, bool, error) {
	above, err := c.Tx.Ancestors(d)
	if err != nil {
		return "", false, err
	}
	for _, at := range slices.Backward(append(slices.Clone(above), d)) {
		own, err := parameters(at)
		if err != nil {
			return "", false, err
		}
		if v, ok := own[key]; ok {
			return v, true, nil
		}
	}
	return "", false, nil
}
