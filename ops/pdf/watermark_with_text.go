package pdf

import (
	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var watermarkWithText = engine.Op{
	Name:     "PDF.WatermarkWithText",
	Label:    "PDF: Watermark with Text",
	Category: "Conversion",
	Doc: "Adds a line of text as a watermark to all pages of PDF files and returns them. Properties, with their defaults: fontFamily (Helvetica), fontSize (72), " +
		"rotation (0; degrees counterclockwise), hex255Color (#000000), " + watermarkDoc + ".",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Each(watermarkTextParams.run),
}

type watermarkTextParams struct {
	Text       string        `json:"text" doc:"The text."`
	Properties storage.Props `json:"properties,omitzero" doc:"Appearance and position, for example rotation=45."`
}

func (p watermarkTextParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	// The standard fonts have no glyphs for most scripts; a text that could not be shown is refused
	// instead of being drawn as boxes.
	if err := pdf.CheckText(p.Text); err != nil {
		return nil, fault.Wrap(err, "text").In("text")
	}
	s, color := pdf.Stamp{Text: p.Text, Font: "Helvetica", Size: 72}, "#000000"
	err := watermark(p.Properties, &s, map[string]func(string) error{
		"fontFamily": word(&s.Font), "fontSize": number(&s.Size, 0, maxFont), "hex255Color": word(&color), "rotation": number(&s.Rotation, -360, 360),
	})
	if err != nil {
		return nil, err
	}
	if err := lettering(&s, "fontFamily", "fontSize", "hex255Color", color); err != nil {
		return nil, fault.Wrap(err, "properties").In("properties")
	}
	return marked(c, b, "", s, nil)
}
