package pdf

import (
	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var watermarkWithImage = engine.Op{
	Name:     "PDF.WatermarkWithImage",
	Label:    "PDF: Watermark with Image",
	Category: "Conversion",
	Doc: "Adds a JPEG or PNG picture as a watermark to all pages of PDF files and returns them. Properties, with their defaults: scale (1; points per pixel), " +
		watermarkDoc + ".",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Each(watermarkImageParams.run),
}

type watermarkImageParams struct {
	Image      *storage.Blob `json:"image" doc:"The picture."`
	Properties storage.Props `json:"properties,omitzero" doc:"Appearance and position, for example scale=0.5."`
}

func (p watermarkImageParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if p.Image == nil {
		return nil, fault.Invalid.Errorf("image: must be a JPEG or PNG file").In("image")
	}
	s := pdf.Stamp{Scale: 1}
	if err := watermark(p.Properties, &s, map[string]func(string) error{"scale": number(&s.Scale, 0.001, 1000)}); err != nil {
		return nil, err
	}
	// The operation has no parameter for a password, so a protected file must be unprotected first
	// or be one that opens without a password and permits changes.
	return marked(c, b, "", s, p.Image)
}
