package document

import (
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var update = engine.Op{
	Name:     "Document.Update",
	Label:    "Update Properties",
	Category: "Document",
	Doc: "Sets properties by xpath and returns the document; empty text clears one. " +
		"The key ecm:acl adds to the local permissions entries written user:permission:true, separated by commas.",
	Callers: engine.Anyone,
	Run:     engine.Each(updateParams.run),
}

type updateParams struct {
	Properties  storage.Props `json:"properties" names:"xpath" doc:"New values by xpath: lists as comma-separated text, complex values as JSON text."`
	ChangeToken string        `json:"changeToken,omitzero" doc:"Change token of the version that the change is based on; an outdated token is refused."`
	Save        bool          `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
	Behaviors   storage.Props `json:"propertiesBehaviors,omitzero" doc:"What to do with lists, by xpath: replace, append or append_excluding_duplicates."`
}

func (p updateParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Sorted, because a list (files:files) has to be set before an item of it (files:files/0), and for errors
	// that do not vary.
	for _, xpath := range slices.Sorted(maps.Keys(p.Properties)) {
		value := p.Properties[xpath]
		var err error
		if xpath == "ecm:acl" {
			d, err = addEntries(c, d, value)
		} else {
			err = p.set(d, xpath, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if !p.Save {
		return d, nil
	}
	// The token is compared by storage, in the transaction of the save. An empty one compares
	// nothing, so that the last of two writers wins, as in the platform.
	return c.Tx.Save(d, storage.SaveOptions{ChangeToken: p.ChangeToken})
}

func (p updateParams) set(d *storage.Doc, xpath string, value any) error {
	// Forms send empty text for a field that was cleared.
	if s, ok := value.(string); ok && s == "" {
		value = nil
	}
	behavior, _ := p.Behaviors[xpath].(string)
	switch strings.ToLower(behavior) {
	case "", "replace":
		return d.Set(xpath, value)
	case "append", "append_excluding_duplicates":
		joined, err := appended(d, xpath, value, strings.EqualFold(behavior, "append"))
		if err != nil {
			return err
		}
		return d.Set(xpath, joined)
	}
	return fault.Invalid.Errorf("propertiesBehaviors: %s: must be replace, append or append_excluding_duplicates, not %q", xpath, behavior).In("propertiesBehaviors")
}

// appended returns the list at xpath with the items of value behind it. The result is a new list: the
// document compares old and new to find out what has changed.
func appended(d *storage.Doc, xpath string, value any, duplicates bool) ([]any, error) {
	field, err := d.FieldAt(xpath)
	if err != nil {
		return nil, err
	}
	if !field.List {
		return nil, fault.Invalid.Errorf("property %s: must be a list, not %s", xpath, field.TypeName()).In(xpath)
	}
	more, err := field.Coerce(value)
	if err != nil {
		return nil, err
	}
	old, err := d.Get(xpath)
	if err != nil {
		return nil, err
	}
	items, _ := old.([]any)
	items = slices.Clone(items)
	added, _ := more.([]any)
	for _, item := range added {
		if duplicates || !slices.ContainsFunc(items, func(have any) bool { return schema.Equal(have, item) }) {
			items = append(items, item)
		}
	}
	return items, nil
}

// addEntries adds entries written as text to the local permissions of a document. It returns the document
// that it was given, not the one that SetACL returns: that was read again and would lose the changes that are
// not saved yet.
func addEntries(c *engine.Ctx, d *storage.Doc, value any) (*storage.Doc, error) {
	text, _ := value.(string)
	entries, err := entriesOf(c, d, localACL)
	if err != nil {
		return nil, err
	}
	for _, item := range words(text) {
		user, permission, granted, err := parseEntry(item)
		if err != nil {
			return nil, err
		}
		entries = withEntry(entries, storage.ACE{User: user, Permission: permission, Granted: granted, Creator: c.As.Name})
	}
	if _, err := c.Tx.SetACL(d, localACL, entries); err != nil {
		return nil, err
	}
	return d, nil
}
