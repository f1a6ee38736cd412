package pdf

import (
	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var watermarkWithPDF = engine.Op{
	Name:     "PDF.WatermarkWithPDF",
	Label:    "PDF: Watermark with PDF",
	Category: "Conversion",
	Doc:      "Adds the pages of one PDF file as a background, centered, to the pages of others, starting over after the last one, and returns the files.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(watermarkPDFParams.run),
}

type watermarkPDFParams struct {
	Overlay *storage.Blob `json:"overlayPdf" doc:"The PDF file to use as the background."`
}

func (p watermarkPDFParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	// Both files are checked here, so that the error names the right parameter.
	if err := pdf.Check(p.Overlay); err != nil {
		return nil, fault.Wrap(err, "overlayPdf").In("overlayPdf")
	}
	if err := check(b); err != nil {
		return nil, err
	}
	return newFile(c, b.Name, func(tool *pdf.Tool, take pdf.Take) error { return tool.Underlay(c, b, p.Overlay, take) })
}
