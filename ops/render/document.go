package render

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

func renderDocument(find resources) engine.Op {
	return engine.Op{
		Name:     "Render.Document",
		Label:    "Render Document",
		Category: "Conversion",
		Doc: "Renders each document to a file with a template in FTL, the language of FreeMarker, or with chain expressions marked with @. Document is the document; " +
			"the variables of the call are available by name. Unsupported FTL features are reported as errors with the line. " +
			"Templates of type mvel are accepted from administrators, the group scripters, chains, and the server's files.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run: engine.Overload(
			engine.On(func(p documentParams, c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
				files, err := p.run(c, storage.Docs{d}, find)
				if err != nil {
					return nil, err
				}
				return files[0], nil
			}),
			engine.On(func(p documentParams, c *engine.Ctx, docs storage.Docs) (storage.Blobs, error) {
				return p.run(c, docs, find)
			}),
		),
	}
}

type documentParams struct {
	source
	Filename string `json:"filename" default:"output.ftl" values:"output.ftl" doc:"Name of the file."`
	Mimetype string `json:"mimetype" default:"text/xml" values:"text/xml" doc:"Type of the file."`
}

// run makes a file of each document; together they are no larger than one may be.
func (p documentParams) run(c *engine.Ctx, docs storage.Docs, find resources) (storage.Blobs, error) {
	t, err := p.parse(c, find)
	if err != nil {
		return nil, err
	}
	files, size := storage.Blobs{}, 0
	for _, d := range docs {
		// Each document has variables of its own, so nothing that one template sets is seen by the
		// next.
		text, err := over(c, d).Render(t, nil)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > c.TemplateOutput() {
			return nil, fault.Limit.Errorf("template %s: the results of all documents have more than %d bytes", t.Name, c.TemplateOutput()).WithCode(fault.CodeExpression)
		}
		files = append(files, file(p.Filename, p.Mimetype, text))
	}
	return files, nil
}
