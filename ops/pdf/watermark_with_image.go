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
	Doc: "Puts a JPEG or PNG picture over all pages of PDF files and returns them. Properties, with what they are if not given: scale (1; points of one pixel), " +
		watermarkDoc + ".",
	Effect: engine.Reads,
	Run:    engine.Each(watermarkImageParams.run),
}

type watermarkImageParams struct {
	Image      *storage.Blob `json:"image" doc:"The picture."`
	Properties storage.Props `json:"properties,omitzero" doc:"How and where: scale=0.5."`
}

func (p watermarkImageParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if p.Image == nil {
		return nil, fault.Invalid.Errorf("image: a JPEG or PNG file expected").In("image")
	}
	s := pdf.Stamp{Scale: 1}
	if err := watermark(p.Properties, &s, map[string]func(string) error{"scale": number(&s.Scale, 0.001, 1000)}); err != nil {
		return nil, err
	}
	return marked(c, b, "", s, p.Image)
}
