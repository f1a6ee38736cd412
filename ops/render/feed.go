package render

import (
	"golang.org/x/text/encoding/ianaindex"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

func renderFeed(find resources) engine.Op {
	return engine.Op{
		Name:     "Render.DocumentFeed",
		Label:    "Render Document Feed",
		Category: "Conversion",
		Doc: "Renders all documents to one file with a template, as Render.Document does for each. Documents is the list, as is Document in FTL. " +
			"It fails if the charset lacks a character.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run: engine.On(func(p feedParams, c *engine.Ctx, docs storage.Docs) (*storage.Blob, error) {
			return p.run(c, docs, find)
		}),
	}
}

type feedParams struct {
	source
	Charset  string `json:"charset" default:"UTF-8" doc:"Character set of the file, such as UTF-8 or ISO-8859-1."`
	Filename string `json:"filename" default:"output.ftl" values:"output.ftl" doc:"Name of the file."`
	Mimetype string `json:"mimetype" default:"text/xml" values:"text/xml" doc:"Type of the file."`
}

func (p feedParams) run(c *engine.Ctx, docs storage.Docs, find resources) (*storage.Blob, error) {
	set, err := ianaindex.IANA.Encoding(p.Charset)
	if err != nil || set == nil {
		return nil, fault.Invalid.Errorf("charset: unknown character set %q", p.Charset).In("charset")
	}
	t, err := p.parse(c, find)
	if err != nil {
		return nil, err
	}
	own := map[string]any{"Documents": docs}
	// In FTL the platform calls the list Document, too, although it holds several.
	if p.Type != "mvel" {
		own["Document"] = docs
	}
	text, err := over(c, docs).Render(t, own)
	if err != nil {
		return nil, err
	}
	if text, err = set.NewEncoder().String(text); err != nil {
		return nil, fault.Invalid.Errorf("charset: %s does not have all characters of the text", p.Charset).In("charset")
	}
	b := file(p.Filename, p.Mimetype, text)
	b.Encoding = p.Charset
	return b, nil
}
