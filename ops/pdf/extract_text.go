package pdf

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
	Doc:      "Copies the text of a document's PDF file, or only the lines that contain a pattern, to a property and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(extractTextParams.run),
}

type extractTextParams struct {
	Password string `json:"password,omitzero" secret:"true" doc:"Password of the file, if it has one."`
	Pattern  string `json:"patterntofind,omitzero" doc:"Only lines that contain this text."`
	Source   string `json:"pdfxpath" blamed:"xpath" default:"file:content" doc:"Xpath of the file."`
	Cut      bool   `json:"removepatternfromresult" default:"false" doc:"Whether to remove each line's text up to the end of the pattern."`
	Save     bool   `json:"save" default:"false" doc:"Save the document immediately."`
	Target   string `json:"targetxpath" default:"dc:description" doc:"Xpath of the property."`
}

func (p extractTextParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	b, err := fileOf(d, p.Source)
	if err != nil {
		return nil, err
	}
	text, err := c.PDF().Text(c, b, p.Password)
	if err != nil {
		return nil, fault.Wrap(err, "property %s", p.Source).In("pdfxpath")
	}
	// Set checks that the property exists and takes the text, and Save checks the caller's right to
	// change the document.
	if err := d.Set(p.Target, p.lines(strings.TrimSpace(text))); err != nil {
		return nil, err
	}
	if !p.Save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

// lines are those that hold the pattern. The pattern is plain text and not a regular expression, despite
// its name, so no pattern costs more than another.
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
