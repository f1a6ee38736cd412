package blob

import (
	"fmt"
	"io"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var extractPages = engine.Op{
	Name:     "PDF.ExtractPages",
	Label:    "PDF: Extract Pages",
	Category: "Conversion",
	Doc:      "Returns a PDF file of some pages of another one. Files that need a password are refused.",
	Effect:   engine.Reads,
	Run:      engine.Overload(engine.On(extractPagesParams.blob), engine.On(extractPagesParams.doc)),
}

type extractPagesParams struct {
	Last     int64  `json:"endPage" doc:"Number of the last page."`
	First    int64  `json:"startPage" doc:"Number of the first page, from 1."`
	Name     string `json:"fileName,omitzero" doc:"Name of the new file; without it that of the old with the numbers."`
	Password string `json:"password,omitzero" secret:"true" doc:"Accepted; files that need one are refused."`
	Author   string `json:"pdfAuthor,omitzero" doc:"Author of the new file."`
	Subject  string `json:"pdfSubject,omitzero" doc:"Subject of the new file."`
	Title    string `json:"pdfTitle,omitzero" doc:"Title of the new file."`
	Xpath    string `json:"xpath" default:"file:content" values:"file:content" doc:"Xpath of the file of a document."`
}

func (p extractPagesParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := d.Blob(p.Xpath)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

func (p extractPagesParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if err := checkPDFs(storage.Blobs{b}); err != nil {
		return nil, err
	}
	if p.First < 1 || p.Last < p.First {
		return nil, fault.Invalid.Errorf("startPage %d, endPage %d: not pages in order", p.First, p.Last).In("startPage")
	}
	name := p.Name
	if name == "" {
		base := strings.TrimSuffix(b.Name, ".pdf")
		name = fmt.Sprintf("%s-%d-%d.pdf", base, p.First, p.Last)
	}
	about := map[string]string{}
	for name, text := range map[string]string{"Author": p.Author, "Subject": p.Subject, "Title": p.Title} {
		if text != "" {
			about[name] = text
		}
	}
	var pages *storage.Blob
	err := c.Tx.Repo().PDF().Cut(c, b, p.First, p.Last, about, func(r io.Reader) (err error) {
		pages, err = c.Tx.NewBlob(name, "application/pdf", r)
		return err
	})
	if err != nil {
		return nil, fault.Wrap(err, "input: a PDF file that cannot be read").In("input")
	}
	return pages, nil
}
