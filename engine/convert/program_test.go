package convert

import (
	"archive/zip"
	"bytes"
	"image"
	"os"
	"strings"
	"testing"

	"catena/engine/pdf"
	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/storage/blob"
	"catena/storage/fault"

	"github.com/pdfcpu/pdfcpu/pkg/api"
)

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }

// made converts a file by a converter's name.
func made(t testing.TB, tools Tools, name string, b *blob.Blob, params map[string]string) (*blob.Blob, error) {
	t.Helper()
	c, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return c.Convert(t.Context(), tools, b, params)
}

func content(t testing.TB, b *blob.Blob) []byte {
	t.Helper()
	data, err := b.Bytes(0)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const sample = "<html><body><h1>Budget</h1><p>Apples and <b>pears</b>.</p><table><tr><td>17</td></tr></table></body></html>"

// TestMissing names the program that is not there, for every converter that needs one.
func TestMissing(t *testing.T) {
	none := Tools{Programs: programtest.None()}
	for _, test := range []struct{ converter, typ, program string }{
		{"any2pdf", "application/msword", "LibreOffice"},
		{"any2pdf", ooxml + "wordprocessingml.document", "LibreOffice"},
		{"office2html", odf + "text", "LibreOffice"},
		{"any2odt", "application/pdf", "LibreOffice"},
		{"any2text", "application/vnd.ms-excel", "LibreOffice"},
		{"pdf2html", "application/pdf", "pdftohtml"},
		{"pdf2image", "application/pdf", "pdftoppm"},
		{"pictureResize", "image/vnd.adobe.photoshop", "ImageMagick"},
		{"pictureConvertToPDF", "image/heic", "ImageMagick"},
		{"toVideoWebM", "video/mp4", "FFmpeg"},
		{"convertToMP4", "video/x-msvideo", "FFmpeg"},
		{"videoScreenshot", "video/webm", "FFmpeg"},
	} {
		for _, tools := range []Tools{none, {}} {
			_, err := made(t, tools, test.converter, blob.FromBytes("a", test.typ, []byte("x")), nil)
			if !fault.Is(err, fault.Unavailable) || fault.CodeOf(err) != fault.CodeProgramUnavailable || !strings.Contains(err.Error(), test.program+" is not installed (Debian: ") {
				t.Errorf("%s of %s: %v", test.converter, test.typ, err)
			}
		}
	}
	// What needs no program works without one.
	for _, name := range []string{"any2html", "any2text", "any2pdf", "office2html"} {
		if _, err := made(t, none, name, blob.FromBytes("a.txt", "text/plain", []byte("x")), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := made(t, none, "any2pdf", blob.FromBytes("a", "video/mp4", nil), nil); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

// TestOffice makes office documents with LibreOffice, and converts them to what people need.
func TestOffice(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.LibreOffice)}
	html := blob.FromBytes("budget.html", "text/html", []byte(sample))
	csv := blob.FromBytes("numbers.csv", "text/csv", []byte("Budget,17\nApples,4\n"))
	var all []*blob.Blob
	for _, of := range []struct {
		from      *blob.Blob
		converter string
	}{{html, "any2odt"}, {html, "any2docx"}, {csv, "any2ods"}, {csv, "any2xlsx"}} {
		b, err := made(t, tools, of.converter, of.from, nil)
		if err != nil {
			t.Fatalf("%s: %v", of.converter, err)
		}
		all = append(all, b)
	}
	all = append(all, old(t, tools, html, "application/msword"), old(t, tools, all[2], "application/vnd.ms-excel"), old(t, tools, html, "application/rtf"))
	number := map[*blob.Blob]bool{}
	for _, b := range all {
		number[b] = true // slides have none
	}
	all = append(all, slides(t, tools)...)
	for _, b := range all {
		for _, name := range []string{"any2pdf", "office2html", "any2text", "office2text"} {
			got, err := made(t, tools, name, b, nil)
			if err != nil {
				t.Errorf("%s of %s: %v", name, b.Type, err)
				continue
			}
			text := string(content(t, got))
			if name == "any2pdf" {
				if n, err := api.PageCount(strings.NewReader(text), pdf.Settings()); err != nil || n != 1 || got.Name != strings.TrimSuffix(b.Name, extensions[b.Type])+".pdf" {
					t.Errorf("PDF of %s: %s, %d pages, %v", b.Type, got.Name, n, err)
				}
				if text, err = pdfTextOf(t, got); err != nil {
					t.Error(err)
				}
			}
			if !strings.Contains(text, "Budget") || number[b] && !strings.Contains(text, "17") {
				t.Errorf("%s of %s: %.300q", name, b.Type, text)
			}
		}
	}
}

func pdfTextOf(t testing.TB, b *blob.Blob) (string, error) {
	got, err := made(t, Tools{}, "pdf2text", b, nil)
	if err != nil {
		return "", err
	}
	return string(content(t, got)), nil
}

// old has LibreOffice make a document in a form for which there is no converter.
func old(t *testing.T, tools Tools, b *blob.Blob, typ string) *blob.Blob {
	t.Helper()
	s := &source{ctx: t.Context(), blob: b, tools: tools, params: map[string]string{"type": typ}}
	data, _, err := byLibreOffice(s)
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	return blob.FromBytes(renamed(b.Name, typ), typ, data)
}

// slides are presentations with one slide.
func slides(t *testing.T, tools Tools) []*blob.Blob {
	t.Helper()
	fodp := `<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation><draw:page draw:name="one"><draw:frame svg:width="20cm" svg:height="3cm" svg:x="1cm" svg:y="1cm"><draw:text-box><text:p>Budget</text:p></draw:text-box></draw:frame></draw:page></office:presentation></office:body></office:document>`
	b := blob.FromBytes("slides.fodp", odf+"presentation-flat-xml", []byte(fodp))
	return []*blob.Blob{old(t, tools, b, odf+"presentation"), old(t, tools, b, ooxml+"presentationml.presentation"), old(t, tools, b, "application/vnd.ms-powerpoint")}
}

// TestArchivedPDF reads PDF/A files, made by LibreOffice, as other PDF files: their text and pictures of their pages.
func TestArchivedPDF(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.LibreOffice, program.PDFToPPM, program.PDFToHTML)}
	html := blob.FromBytes("a.html", "text/html", []byte(sample))
	for _, version := range []string{"1", "2", "3"} {
		var data []byte
		e := program.Export{From: ".html", To: ".pdf", Import: "HTML (StarWriter)", Filter: `writer_pdf_Export:{"SelectPdfVersion":{"type":"long","value":"` + version + `"}}`}
		err := tools.Programs.Office(t.Context(), html, e, func(path string) (err error) {
			data, err = program.Read(path, maxMade)
			return err
		})
		if err != nil || !bytes.Contains(data, []byte("pdfaid:part>"+version+"<")) {
			t.Errorf("PDF/A-%s is not made: %v", version, err)
			continue
		}
		b := blob.FromBytes("a.pdf", PDF, data)
		for _, name := range []string{"pdf2text", "pdf2html"} {
			if got, err := made(t, tools, name, b, nil); err != nil || !bytes.Contains(content(t, got), []byte("Budget")) {
				t.Errorf("%s of PDF/A-%s: %v, %v", name, version, got, err)
			}
		}
		got, err := made(t, tools, Thumbnailer, b, map[string]string{"type": "image/png", "width": "100"})
		if err != nil {
			t.Errorf("picture of PDF/A-%s: %v", version, err)
			continue
		}
		if conf, format, err := image.DecodeConfig(bytes.NewReader(content(t, got))); err != nil || format != "png" || max(conf.Width, conf.Height) != 100 {
			t.Errorf("picture of PDF/A-%s: %s of %d × %d, %v", version, format, conf.Width, conf.Height, err)
		}
	}
}

// TestHostileDocuments checks that documents get nothing from the machine they are converted on.
func TestHostileDocuments(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.LibreOffice)}
	secret := t.TempDir() + "/secret.txt"
	if err := os.WriteFile(secret, []byte("Geheimnis"), 0o644); err != nil {
		t.Fatal(err)
	}
	fodt := func(body string) *blob.Blob {
		return blob.FromBytes("a.fodt", odf+"text-flat-xml", []byte(`<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0" xmlns:ooo="http://openoffice.org/2004/office" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">`+body+`</office:document>`))
	}
	linked := fodt(`<office:body><office:text><text:section text:name="s"><text:section-source xlink:href="file://` + secret + `"/><text:p>before</text:p></text:section></office:text></office:body>`)
	macro := fodt(`<office:scripts><office:script script:language="ooo:Basic"><ooo:libraries xmlns:ooo="http://openoffice.org/2004/office"><ooo:library-embedded ooo:name="Standard"><ooo:module ooo:name="M"><ooo:source-code>Sub Main
Open "/tmp/macro-of-a-test" For Output As #1
Print #1, "ran"
Close #1
ThisComponent.Text.String = "Geheimnis"
End Sub</ooo:source-code></ooo:module></ooo:library-embedded></ooo:libraries></office:script><office:event-listeners><script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:href="vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document"/></office:event-listeners></office:scripts><office:body><office:text><text:p>before</text:p></office:text></office:body>`)
	for name, b := range map[string]*blob.Blob{"link": linked, "macro": macro} {
		got, err := made(t, tools, "any2pdf", b, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text, err := pdfTextOf(t, got); err != nil || strings.Contains(text, "Geheimnis") || !strings.Contains(text, "before") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := os.Stat("/tmp/macro-of-a-test"); err == nil {
		t.Error("the macro has run")
	}
	// Afterwards all is as before.
	if _, err := made(t, tools, "any2docx", blob.FromBytes("a.html", "text/html", []byte(sample)), nil); err != nil {
		t.Error(err)
	}
}

// TestDamagedDocuments checks that documents that cannot be read are errors of the file, after which others are converted.
func TestDamagedDocuments(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.LibreOffice)}
	docx, err := made(t, tools, "any2docx", blob.FromBytes("a.html", "text/html", []byte(sample)), nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := content(t, docx)
	var bomb bytes.Buffer
	w := zip.NewWriter(&bomb)
	part, err := w.Create("content.xml")
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 64 {
		if _, err := part.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*blob.Blob{
		"truncated": blob.FromBytes("a.docx", docx.Type, whole[:len(whole)/2]),
		"bomb":      blob.FromBytes("a.odt", odf+"text", bomb.Bytes()),
		"encrypted": blob.FromBytes("a.doc", "application/msword", append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), zeros[:4096]...)),
	} {
		if got, err := made(t, tools, "any2pdf", b, nil); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if _, err := made(t, tools, "any2pdf", docx, nil); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// TestPages makes text, HTML and pictures of PDF files.
func TestPages(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.PDFToHTML, program.PDFToPPM)}
	b, err := made(t, tools, "any2pdf", blob.FromBytes("a.html", "text/html", []byte(sample)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pdf2text", "any2text", "pdf2html", "any2html"} {
		got, err := made(t, tools, name, b, nil)
		if err != nil || !bytes.Contains(content(t, got), []byte("Budget")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, test := range []struct {
		converter, format string
		params            map[string]string
		longest           int
	}{
		{"pdf2image", "jpeg", nil, 1600},
		{"pdf2image", "jpeg", map[string]string{"width": "300", "height": "200", "page": "1"}, 200},
		{"pictureToPNG", "png", map[string]string{"width": "350"}, 350},
	} {
		got, err := made(t, tools, test.converter, b, test.params)
		if err != nil {
			t.Errorf("%s: %v", test.converter, err)
			continue
		}
		conf, format, err := image.DecodeConfig(bytes.NewReader(content(t, got)))
		if err != nil || format != test.format || max(conf.Width, conf.Height) != test.longest {
			t.Errorf("%s %v: %s of %d × %d, %v", test.converter, test.params, format, conf.Width, conf.Height, err)
		}
	}
	for _, page := range []string{"0", "x", "7"} {
		if _, err := made(t, tools, "pdf2image", b, map[string]string{"page": page}); !fault.Is(err, fault.Invalid) {
			t.Errorf("page %s: %v", page, err)
		}
	}
	if _, err := made(t, tools, "pdf2image", blob.FromBytes("a.pdf", PDF, []byte("%PDF-1.4\nnothing")), nil); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}
