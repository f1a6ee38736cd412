package convert

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"catena/engine/pdf"
	"catena/engine/program"
	"catena/storage/blob"
	"catena/storage/fault"
	fulltext "catena/storage/text"
)

// maxMade bounds the bytes of a result that is in memory.
const maxMade = 256 << 20

// byLibreOffice has LibreOffice make a document of the type that is asked for.
func byLibreOffice(s *source) ([]byte, string, error) {
	typ := s.params["type"]
	e := exportOf(s.blob, typ)
	// The filter of presentations for XHTML leaves out much of what is on slides.
	if e.To == ".xhtml" && s.tools.Programs.Missing(program.PDFToHTML) == nil {
		data, err := s.export(exportOf(s.blob, PDF))
		if err != nil {
			return nil, "", err
		}
		return pageHTML(s.with(PDF, data))
	}
	data, err := s.export(e)
	return data, typ, err
}

// with is the source in another form.
func (s *source) with(typ string, data []byte) *source {
	return &source{ctx: s.ctx, blob: blob.FromBytes(s.blob.Name, typ, data), tools: s.tools, params: s.params}
}

// exportOf says how LibreOffice makes a type of a document.
func exportOf(b *blob.Blob, typ string) program.Export {
	e := program.Export{From: extensionOf(b), To: extensions[typ]}
	switch {
	case typ == "text/html":
		e.To, e.Filter = htmlFilter(e.From)
	case b.Type == "application/pdf":
		e.Import = "writer_pdf_import" // the usual one makes drawings of PDF files
	case b.Type == "text/html" || b.Type == "application/xhtml+xml":
		e.Import = "HTML (StarWriter)" // the usual one makes pages that only save as HTML
	}
	return e
}

// htmlFilter is what writes a document as one file of HTML, with its pictures in it. That of presentations makes many
// files, so these are written as XHTML.
func htmlFilter(extension string) (to, filter string) {
	switch extension {
	case ".xls", ".xlsx", ".xltx", ".xlsm", ".ods", ".ots", ".sxc", ".csv":
		return ".html", "HTML (StarCalc):EmbedImages"
	case ".ppt", ".pptx", ".ppsx", ".potx", ".odp", ".otp", ".sxi":
		return ".xhtml", "XHTML Impress File"
	case ".odg", ".sxd", ".vsd", ".vsdx":
		return ".xhtml", "XHTML Draw File"
	}
	return ".html", "HTML (StarWriter):EmbedImages"
}

// simple are extensions that can be part of a file's name anywhere.
var simple = regexp.MustCompile(`^\.[a-z0-9]{1,5}$`)

// extensionOf is the extension of a file for a program: that of its type, else its own.
func extensionOf(b *blob.Blob) string {
	if ext := extensions[b.Type]; ext != "" {
		return ext
	}
	if ext := strings.ToLower(filepath.Ext(b.Name)); simple.MatchString(ext) {
		return ext
	}
	return ".bin"
}

// about names the file in an error of what was made of it.
func (s *source) about(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(err, "file %s", s.blob.Name)
}

func (s *source) export(e program.Export) (data []byte, err error) {
	err = s.tools.Programs.Office(s.ctx, s.blob, e, func(path string) error {
		data, err = program.Read(path, maxMade)
		return s.about(err)
	})
	return data, err
}

// oldText has LibreOffice make a document of a form that can be read out of one that cannot.
func oldText(s *source) ([]byte, string, error) {
	typ := odf + "text"
	switch to, _ := htmlFilter(extensionOf(s.blob)); {
	case strings.Contains(s.blob.Type, "excel") || strings.Contains(s.blob.Type, "calc"):
		typ = odf + "spreadsheet"
	case to == ".xhtml":
		typ = odf + "presentation"
	}
	data, err := s.export(exportOf(s.blob, typ))
	if err != nil {
		return nil, "", err
	}
	text, err := fulltext.Read(bytes.NewReader(data), int64(len(data)), typ, "")
	if err != nil {
		return nil, "", fault.Invalid.Errorf("file %s: %w", s.blob.Name, err)
	}
	return []byte(strings.TrimSpace(text) + "\n"), "text/plain", nil
}

// pdfText is the text that the pages of a PDF file show.
func pdfText(s *source) ([]byte, string, error) {
	tool := s.tools.PDF
	if tool == nil {
		tool = pdf.New(nil, "", pdf.Limits{})
	}
	text, err := tool.PlainText(s.ctx, s.blob)
	return []byte(text), "text/plain", err
}

// pageHTML makes one page of HTML of all pages of a PDF file, with their text and without their pictures.
func pageHTML(s *source) (data []byte, typ string, err error) {
	const in, out = "document.pdf", "made.html"
	err = s.tools.Programs.Do(s.ctx, program.Task{
		Program: program.PDFToHTML, File: s.blob, As: in, Args: []string{"-q", "-s", "-i", "-noframes", "-enc", "UTF-8", in, out},
		Take: func(dir, _ string) error {
			data, err = program.Read(filepath.Join(dir, out), maxMade)
			return s.about(err)
		},
	})
	return data, "text/html", err
}

// pagePicture makes a picture of a page of a PDF file: of the first, or of that of the parameter page.
func pagePicture(s *source) (data []byte, typ string, err error) {
	page := s.params["page"]
	if page == "" {
		page = "1"
	}
	if n, err := strconv.Atoi(page); err != nil || n < 1 {
		return nil, "", fault.Invalid.Errorf("page %q: must be a number from 1", page)
	}
	scale, err := s.longestSide()
	if err != nil {
		return nil, "", err
	}
	const in, out = "document.pdf", "made"
	form, ext := "-jpeg", ".jpg"
	if typ = s.params["type"]; typ == "image/png" {
		form, ext = "-png", ".png"
	} else {
		typ = "image/jpeg"
	}
	err = s.tools.Programs.Do(s.ctx, program.Task{
		Program: program.PDFToPPM, File: s.blob, As: in, Args: []string{form, "-f", page, "-l", page, "-singlefile", "-scale-to", scale, in, out},
		Take: func(dir, _ string) error {
			data, err = program.Read(filepath.Join(dir, out+ext), maxMade)
			return s.about(err)
		},
	})
	return data, typ, err
}

// usualSide is the longest side of a picture of a page or a film, in pixels, unless another is asked for.
const usualSide = "1600"

// longestSide is the shorter of the sides that are asked for, so that the longest of the picture fits either way.
func (s *source) longestSide() (string, error) {
	width, err := side(s.params["width"])
	if err != nil {
		return "", err
	}
	height, err := side(s.params["height"])
	if err != nil {
		return "", err
	}
	if n := min(width, height); n < maxSide {
		return strconv.Itoa(n), nil
	}
	return usualSide, nil
}
