package pdf

import (
	"strings"

	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
)

var addPageNumbers = engine.Op{
	Name:     "PDF.AddPageNumbers",
	Label:    "PDF: Add Page Numbers",
	Category: "Conversion",
	Doc:      "Adds page numbers to PDF files and returns them. A protected file stays protected; it must permit modification, or the owner's password is required.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(addPageNumbersParams.run),
}

type addPageNumbersParams struct {
	Font     string `json:"fontName" default:"Helvetica" values:"Helvetica" doc:"Name of a standard font."`
	Size     int64  `json:"fontSize" default:"16" values:"16" doc:"Font size in points."`
	Color    string `json:"hex255Color" default:"0xffffff" values:"0xffffff" doc:"Color as 0xrrggbb or #rrggbb; white by default."`
	Password string `json:"password,omitzero" secret:"true" doc:"Password of the file, if it has one."`
	Position string `json:"position" default:"Bottom right" enum:"Bottom right,Bottom center,Bottom left,Top right,Top center,Top left" widget:"Option" doc:"Position on the page."`
	Number   int64  `json:"startAtNumber" default:"1" values:"1" doc:"First number; at least 1."`
	Page     int64  `json:"startAtPage" default:"1" values:"1" doc:"Page that gets the first number; page 1 if the file has fewer pages."`
}

// pageMargin is how far numbers are from the edges of a page, in points.
const pageMargin = 10

func (p addPageNumbersParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	s := pdf.Stamp{Numbers: true, First: max(1, p.Number), From: p.Page, Opacity: 1, Font: p.Font, Size: float64(p.Size)}
	if err := lettering(&s, "fontName", "fontSize", "hex255Color", p.Color); err != nil {
		return nil, err
	}
	// The enum of the parameter lets no other words through, so what is neither center nor right is
	// left.
	up, across, _ := strings.Cut(p.Position, " ")
	s.Up = pdf.Offset{At: pageMargin, Far: up == "Top"}
	switch across {
	case "center":
		s.Right = pdf.Offset{At: 0.5, Share: true}
	default:
		s.Right = pdf.Offset{At: pageMargin, Far: across == "right"}
	}
	return marked(c, b, p.Password, s, nil)
}

// marked returns a file with something put on its pages. A protected file is written protected again,
// with its own passwords (pdf.Tool.Mark). The name is kept, so that the result can replace the file.
func marked(c *engine.Ctx, b *storage.Blob, password string, s pdf.Stamp, picture *storage.Blob) (*storage.Blob, error) {
	if err := check(b); err != nil {
		return nil, err
	}
	return newFile(c, b.Name, func(tool *pdf.Tool, take pdf.Take) error {
		return tool.Mark(c, pdf.Protected{Blob: b, Password: password}, s, picture, take)
	})
}
