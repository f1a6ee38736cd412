package pdf

import (
	"fmt"
	"io"
	"strings"

	"catena/engine"
	"catena/storage"
)

var convertToPictures = engine.Op{
	Name:     "PDF.ConvertToPictures",
	Label:    "PDF: Convert to Pictures",
	Category: "Conversion",
	Doc: "Returns PNG pictures of the pages of a document's PDF file at 300 dots per inch, named after the file and the page numbers. " +
		"It requires the program pdftoppm on the server. With a password other than the owner's, a protected file must permit copying.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(convertToPicturesParams.run),
}

type convertToPicturesParams struct {
	Name     string `json:"fileName,omitzero" doc:"Base name of the pictures; by default the file's name."`
	Password string `json:"password,omitzero" secret:"true" doc:"Password of the file, if it has one."`
	Xpath    string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file."`
}

func (p convertToPicturesParams) run(c *engine.Ctx, d *storage.Doc) (storage.Blobs, error) {
	b, err := fileOf(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	name := p.Name
	if name == "" {
		name = strings.TrimSuffix(b.Name, ".pdf")
	}
	// A picture is stored as soon as its page is drawn. At 300 dots an inch one page of A4 takes 35
	// MB of memory before it is packed, so the pages of a document must not be gathered first.
	pictures := storage.Blobs{}
	err = c.PDF().Pictures(c, b, p.Password, func(page int, r io.Reader) error {
		picture, err := c.Tx.NewBlob(fmt.Sprintf("%s-%d.png", name, page), "image/png", r)
		pictures = append(pictures, picture)
		return err
	})
	if err != nil {
		return nil, err
	}
	return pictures, nil
}
