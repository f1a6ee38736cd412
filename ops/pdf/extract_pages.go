package pdf

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var extractPages = engine.Op{
	Name:     "PDF.ExtractPages",
	Label:    "PDF: Extract Pages",
	Category: "Conversion",
	Doc: "Returns a new, unprotected PDF file with some pages of another one. With a password other than the owner's, a protected file " +
		"must permit copying.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(extractPagesParams.blob), engine.On(extractPagesParams.doc)),
}

type extractPagesParams struct {
	Last     int64  `json:"endPage" doc:"Number of the last page; at most the file's last page."`
	First    int64  `json:"startPage" doc:"Number of the first page, starting at 1."`
	Name     string `json:"fileName,omitzero" doc:"Name of the new file; by default the old name with the page numbers."`
	Password string `json:"password,omitzero" secret:"true" doc:"Password of the file, if it has one."`
	about

	Xpath string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file of a document."`
}

func (p extractPagesParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := fileOf(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

func (p extractPagesParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if err := check(b); err != nil {
		return nil, err
	}
	// Whether the last page exists is only known once the file is open, so the worker checks that.
	if p.First < 1 || p.Last < p.First {
		return nil, fault.Invalid.Errorf("startPage %d, endPage %d: not a valid page range", p.First, p.Last).In("startPage")
	}
	name := p.Name
	if name == "" {
		name = p.named(c, b)
	}
	return newFile(c, name, func(tool *pdf.Tool, take pdf.Take) error {
		return tool.Cut(c, pdf.Protected{Blob: b, Password: p.Password}, pdf.Pages{First: p.First, Last: p.Last}, p.texts(), take)
	})
}

// named is the name of the new file if none is given: that of the old one with the pages that the new one has.
func (p extractPagesParams) named(c *engine.Ctx, b *storage.Blob) string {
	last := p.Last
	// What cannot be read fails where the pages are taken out.
	if info, err := c.PDF().About(c, b); err == nil && info.Pages > 0 {
		last = max(p.First, min(last, int64(info.Pages)))
	}
	return fmt.Sprintf("%s-%d-%d.pdf", stem(b.Name), p.First, last)
}

// stem is the name of a PDF file without its extension, in whatever case that is written.
func stem(name string) string {
	if ext := path.Ext(name); strings.EqualFold(ext, ".pdf") {
		name = strings.TrimSuffix(name, ext)
	}
	return cmp.Or(name, "extracted")
}
