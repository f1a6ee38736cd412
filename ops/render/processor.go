package render

import (
	"path"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

// Where a document that is a template says what it is.
const (
	templateName   = "tmpl:templateName"
	templateType   = "tmpl:templateType"
	templateFormat = "tmpl:outputFormat"
)

var processorRender = engine.Op{
	Name:     "TemplateProcessor.Render",
	Label:    "Render with template",
	Category: "Conversion",
	Doc: "Renders a document with a template that is bound to it, and returns the file. A template is a document with the facet Template, such as " +
		"a TemplateSource, whose file is text in FTL. With attach the template of the name is bound first if none is. With store the file becomes " +
		"that of the document. Without a bound template the result is the document's own file.",
	Callers: engine.Anyone,
	Run:     engine.On(processorRenderParams.run),
}

type processorRenderParams struct {
	Attach bool   `json:"attach" default:"false" doc:"Bind the template if none of the name is bound."`
	Save   bool   `json:"save" default:"true" values:"true" doc:"Save the document with the stored file."`
	Store  bool   `json:"store" default:"false" values:"false" doc:"Make the result the document's file."`
	Data   string `json:"templateData,omitzero" doc:"XML with the values of the template's parameters; it is stored with the binding."`
	Name   string `json:"templateName" default:"default" doc:"Name of the template; default is also the first that is bound."`
}

func (p processorRenderParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	all, err := bindingsOf(d)
	if err != nil {
		return nil, err
	}
	i := all.find(p.Name)
	if i < 0 && p.Attach {
		if all, err = all.attach(c, p.Name); err != nil {
			return nil, err
		}
		i = len(all) - 1
	}
	// As in the platform, a document without a template is rendered as its own file, which may be
	// none.
	if i < 0 {
		return d.MainBlob()
	}
	if p.Data != "" {
		all[i].data = p.Data
	}
	own, err := all[i].values(d)
	if err != nil {
		return nil, err
	}
	// The binding is stored with the document, so the caller needs the right to write it even
	// without store.
	if p.Data != "" || p.Attach {
		if err := all.keep(c, d); err != nil {
			return nil, err
		}
	}
	made, err := all[i].render(c, d, own)
	if err != nil || !p.Store {
		return made, err
	}
	if err := d.Set("file:content", made); err != nil {
		return nil, err
	}
	if p.Save {
		_, err = c.Tx.Save(d, storage.SaveOptions{})
	}
	return made, err
}

// render makes the file of a document with the template of the binding.
func (b *binding) render(c *engine.Ctx, d *storage.Doc, own map[string]any) (*storage.Blob, error) {
	// The template is read as the caller: a binding that somebody else made grants nothing.
	t, err := c.Tx.Doc(storage.Ref(b.id))
	if err != nil {
		return nil, err
	}
	source, err := t.MainBlob()
	if err != nil {
		return nil, err
	}
	kind, _ := textOf(t, templateType)
	switch {
	case source == nil:
		return nil, fault.Invalid.Errorf("template %s: has no file", b.name).In("templateName")
	case kind != "" && !strings.EqualFold(kind, "Freemarker") && !strings.EqualFold(kind, "ftl"):
		return nil, fault.Invalid.Errorf("template %s: type %s is not supported; must be Freemarker", b.name, kind).In("templateName")
	}
	// A template is bounded by the size that its result may have.
	text, err := source.Bytes(int64(c.TemplateOutput()))
	if err != nil {
		return nil, err
	}
	// Always FTL, never chain expressions: anyone who may write a document could otherwise have
	// other users evaluate them.
	parsed, err := c.ParseTemplate("ftl", b.name, string(text))
	if err != nil {
		return nil, err
	}
	out, err := over(c, d).Render(parsed, own)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(source.Name, ".ftl")
	typ := source.Type
	// invoice.html.ftl makes invoice.html, and the type is that of the ending which remains.
	if name != source.Name || typ == "" {
		typ, _ = blob.TypeOf("", path.Ext(name), nil)
	}
	made := file(name, typ, out)
	format, _ := textOf(t, templateFormat)
	if format == "" {
		return made, nil
	}
	converted, err := c.Call("Blob.Convert", made, map[string]any{"mimeType": format})
	if done, ok := converted.(*storage.Blob); ok && err == nil {
		return done, nil
	}
	return nil, err
}

func textOf(d *storage.Doc, xpath string) (string, error) {
	v, err := d.Get(xpath)
	s, _ := v.(string)
	return s, err
}

var processorDetach = engine.Op{
	Name:     "TemplateProcessor.Detach",
	Label:    "Detach a template",
	Category: "Conversion",
	Doc:      "Removes all templates that are bound to the document, and returns nothing.",
	Callers:  engine.Anyone,
	Run:      engine.On(processorDetachParams.run).As("document", "void"),
}

type processorDetachParams struct{}

func (processorDetachParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	if !d.HasFacet(boundFacet) {
		return nil, nil
	}
	if err := d.RemoveFacet(boundFacet); err != nil {
		return nil, err
	}
	_, err := c.Tx.Save(d, storage.SaveOptions{})
	return nil, err
}
