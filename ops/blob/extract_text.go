package blob

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var extractText = engine.Op{
	Name:     "PDF.ExtractText",
	Label:    "PDF: Extract Text",
	Category: "Document",
	Doc: "Puts the text of a document's PDF file into a property and returns the document: all of it, or the lines that hold a pattern. " +
		"Files that need a password have none.",
	Run: engine.Each(extractTextParams.run),
}

type extractTextParams struct {
	Password string `json:"password,omitzero" secret:"true" doc:"Accepted; files that need one are not read."`
	Pattern  string `json:"patterntofind,omitzero" doc:"Only lines that hold this text."`
	Source   string `json:"pdfxpath" default:"file:content" doc:"Xpath of the file."`
	Cut      bool   `json:"removepatternfromresult" default:"false" doc:"Leave the lines out up to the end of the pattern."`
	Save     bool   `json:"save" default:"false" doc:"Store the change at once."`
	Target   string `json:"targetxpath" default:"dc:description" doc:"Xpath of the property."`
}

func (p extractTextParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	b, err := d.Blob(p.Source)
	if err != nil {
		return nil, err
	}
	if err := checkPDF(b); err != nil {
		return nil, fault.Invalid.Errorf("property %s: no PDF file", p.Source).In("pdfxpath")
	}
	text, err := c.Tx.Repo().TextIn(c, b)
	if err != nil {
		return nil, fault.Wrap(err, "property %s", p.Source).In("pdfxpath")
	}
	if err := d.Set(p.Target, p.lines(strings.TrimSpace(text))); err != nil {
		return nil, err
	}
	if !p.Save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

// lines are those that hold the pattern.
func (p extractTextParams) lines(text string) string {
	if p.Pattern == "" {
		return text
	}
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		_, after, ok := strings.Cut(line, p.Pattern)
		if !ok {
			continue
		}
		if p.Cut {
			line = strings.TrimSpace(after)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
