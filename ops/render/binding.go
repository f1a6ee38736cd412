package render

import (
	"encoding/xml"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// Where a document keeps the templates that are bound to it, and the facet that has the field.
const (
	boundField = "nxts:bindings"
	boundFacet = "TemplateBased"
)

// usualName is the name of a binding that stands for the first one.
const usualName = "default"

// maxData bounds, in bytes, the values of a template's parameters. The XML is parsed for each rendering,
// and its text is kept with the document.
const maxData = 1 << 20

// binding says that a template is bound to a document. The names in documents are those of the
// platform's template rendering.
type binding struct {
	name, id string
	data     string // XML with the values of parameters
}

type bindings []binding

// bindingsOf returns the templates that are bound to a document.
func bindingsOf(d *storage.Doc) (bindings, error) {
	if !d.HasFacet(boundFacet) {
		return nil, nil
	}
	v, err := d.Get(boundField)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	var all bindings
	for _, item := range list {
		m, _ := item.(map[string]any)
		var b binding
		b.name, _ = m["templateName"].(string)
		b.id, _ = m["templateId"].(string)
		b.data, _ = m["data"].(string)
		all = append(all, b)
	}
	return all, nil
}

// find returns the place of the binding of a name, -1 if there is none.
func (all bindings) find(name string) int {
	i := slices.IndexFunc(all, func(b binding) bool { return b.name == name })
	if i < 0 && name == usualName && len(all) > 0 {
		return 0
	}
	return i
}

// attach adds the template of a name that the caller may read. Several templates may have the same name;
// the oldest counts, so that a new one cannot take over by its name.
func (all bindings) attach(c *engine.Ctx, name string) (bindings, error) {
	page, err := search.Query(c.Tx, "SELECT * FROM Document WHERE ecm:mixinType = 'Template' AND "+templateName+
		" = :name AND ecm:isVersion = 0 AND ecm:isProxy = 0 AND ecm:isTrashed = 0 ORDER BY dc:created",
		search.Options{Named: map[string]any{"name": name}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1}})
	if err != nil {
		return nil, err
	}
	if len(page.Docs) == 0 {
		return nil, fault.NotFound.Errorf("template %s", name).In("templateName")
	}
	return append(all, binding{name: name, id: page.Docs[0].ID()}), nil
}

// keep stores the bindings on the document.
func (all bindings) keep(c *engine.Ctx, d *storage.Doc) error {
	if !d.HasFacet(boundFacet) {
		if err := d.AddFacet(boundFacet); err != nil {
			return err
		}
	}
	list := make([]any, len(all))
	for i, b := range all {
		list[i] = map[string]any{"templateName": b.name, "templateId": b.id, "data": b.data}
	}
	if err := d.Set(boundField, list); err != nil {
		return err
	}
	_, err := c.Tx.Save(d, storage.SaveOptions{})
	return err
}

// parameters is how the values of a template's parameters are written.
type parameters struct {
	Fields []struct {
		Name   string `xml:"name,attr"`
		Type   string `xml:"type,attr"`
		Value  string `xml:"value,attr"`
		Source string `xml:"source,attr"`
		Text   string `xml:",chardata"`
	} `xml:"field"`
}

// values are what the template sees besides the variables of the call: the document as doc, and its parameters.
func (b *binding) values(d *storage.Doc) (map[string]any, error) {
	own := map[string]any{"doc": d, "document": d, "templateName": b.name}
	if b.data == "" {
		return own, nil
	}
	if len(b.data) > maxData {
		return nil, fault.Limit.Errorf("templateData: %d bytes, at most %d are allowed", len(b.data), maxData).In("templateData")
	}
	var p parameters
	if err := xml.Unmarshal([]byte(b.data), &p); err != nil {
		return nil, fault.Invalid.Errorf("templateData: %w", err).In("templateData")
	}
	for _, f := range p.Fields {
		switch {
		// A parameter must not replace the document or another parameter: the template relies on
		// both.
		case f.Name == "" || own[f.Name] != nil:
			return nil, fault.Invalid.Errorf("templateData: the name %q is missing or taken", f.Name).In("templateData")
		// A field of the document by its xpath. The caller may read the document, and so all of its
		// fields.
		case f.Source != "":
			v, err := d.Get(f.Source)
			if err != nil {
				return nil, fault.Wrap(err, "templateData: %s", f.Name).In("templateData")
			}
			own[f.Name] = v
		case f.Type == "Boolean":
			own[f.Name] = f.Value == "true"
		case f.Value != "":
			own[f.Name] = f.Value
		default:
			own[f.Name] = f.Text
		}
	}
	return own, nil
}
