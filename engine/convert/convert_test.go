package convert

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/engine/pdf"
	"catena/storage/blob"
	"catena/storage/fault"
)

func convert(t testing.TB, name, file, typ, content string, params map[string]string) (*blob.Blob, string, error) {
	t.Helper()
	c, err := Named(name)
	if err != nil {
		return nil, "", err
	}
	b, err := c.Convert(t.Context(), Tools{}, blob.FromBytes(file, typ, []byte(content)), params)
	if err != nil {
		return nil, "", err
	}
	data, err := b.Bytes(0)
	return b, string(data), err
}

func TestTexts(t *testing.T) {
	tests := []struct{ converter, file, typ, content, want string }{
		{"office2html", "a.txt", "text/plain", "x < y", "<pre>x &lt; y</pre>"},
		{"any2html", "a.md", "text/markdown", "# Title\n\n<script>alert(1)</script>\n\n* one", "<h1>Title</h1>"},
		{"md2html", "a.md", "text/markdown", "| a |\n|---|\n| b |", "<td>b</td>"},
		{"any2html", "a.html", "text/html", "<p>part</p>", "<body>\n<p>part</p>"},
		{"any2html", "a.html", "text/html", "<HTML>whole</HTML>", "<HTML>whole</HTML>"},
		{"any2html", "a.txt", "text/plain", "caf\xe9", "café"},
		{"any2html", "a.txt", "text/plain", "c\x00a\x00f\x00\xe9\x00", "café"},
		{"any2html", "a.eml", "message/rfc822", "From: ada@example.org\r\nSubject: Plan\r\n\r\n1 < 2", "<pre>Plan\nada@example.org\n\n\n1 &lt; 2"},
		{"any2text", "a.eml", "message/rfc822", "From: ada@example.org\r\nSubject: Plan\r\n\r\nwords", "Plan\nada@example.org\n\n\nwords\n"},
		{"html2text", "a.html", "text/html", "<h1>T</h1><p>a <b>b</b>\n c<br>d</p><ul><li>x<li>y</ul><script>z</script>", "T\n\na b c\nd\n\n• x\n• y\n"},
		{"any2text", "a.md", "text/markdown", "1. a\n2. b", "1. a\n2. b\n"},
		{"any2text", "a.csv", "text/csv", "a,b", "a,b"},
	}
	for _, test := range tests {
		b, got, err := convert(t, test.converter, test.file, test.typ, test.content, nil)
		if err != nil || !strings.Contains(got, test.want) || strings.Contains(got, "<script>") {
			t.Errorf("%s of %q: %q, %v", test.converter, test.content, got, err)
			continue
		}
		if strings.HasSuffix(test.converter, "html") && (b.Type != "text/html" || b.Name != "a.html") {
			t.Errorf("%s: %s %s", test.converter, b.Name, b.Type)
		}
	}
	if _, _, err := convert(t, "any2nothing", "a", "text/plain", "", nil); err == nil || err.Error() != "Converter any2nothing is not registered" {
		t.Error(err)
	}
	if _, _, err := convert(t, "office2html", "a", "image/png", "x", nil); err == nil || !strings.Contains(err.Error(), "is not available") {
		t.Error(err)
	}
	if Find("text/plain", "text/html") == nil || Find("image/png", "application/pdf") == nil || Find("video/mp4", "application/pdf") != nil {
		t.Error("Find")
	}
	for format, want := range map[string]string{"html": "text/html", ".PDF": "application/pdf", "nope": "", "": ""} {
		if got := TypeOf(format); got != want {
			t.Errorf("type of %q: %q", format, got)
		}
	}
}

func TestPDF(t *testing.T) {
	long := strings.Repeat("A line of text that goes on for a while. Привет Ελλάδα 😀\n", 200)
	fonts := map[string]int{"a.txt": 1, "empty.txt": 0, "a.md": 4, "a.html": 1} // of those that the text is printed in
	for name, content := range map[string]string{
		"a.txt": long, "empty.txt": "",
		"a.md":   "# Title\n\nSome *text* and **more** with `code`.\n\n> quoted\n\n- one\n- two\n  1. deep\n\n```\ncode\tblock\n```\n\n---\n\n| a | b |\n|---|---|\n| c | d |\n",
		"a.html": "<h1>" + strings.Repeat("<div>", 300) + "deep</h1><p>after",
	} {
		typ, _ := blob.TypeOf(name, "", nil)
		b, data, err := convert(t, "any2pdf", name, typ, content, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		pages, err := api.PageCount(strings.NewReader(data), pdf.Settings())
		if err != nil || b.Type != "application/pdf" || name == "a.txt" && pages < 4 || name != "a.txt" && pages != 1 {
			t.Errorf("%s: %s of %d pages, %v", name, b.Type, pages, err)
		}
		if n := strings.Count(data, "/FontFile2 "); n != fonts[name] {
			t.Errorf("%s: %d fonts are embedded, want %d", name, n, fonts[name])
		}
		if dir := os.Getenv("CATENA_LOOK"); dir != "" {
			file := filepath.Join(dir, name+".pdf")
			if err := os.WriteFile(file, []byte(data), 0o600); err == nil {
				_ = exec.Command("pdftoppm", "-r", "60", "-png", "-f", "1", "-l", "1", file, file).Run()
			}
		}
	}
	if _, _, err := convert(t, "any2pdf", "a.txt", "text/plain", strings.Repeat("x\n", 120_000), nil); !fault.Is(err, fault.Limit) {
		t.Errorf("too many pages: %v", err)
	}
}

func picture(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			img.Set(x, y, color.RGBA{uint8(x), uint8(y), 100, 255})
		}
	}
	return img
}

func TestPictures(t *testing.T) {
	var asPNG, asJPEG, asGIF bytes.Buffer
	for _, err := range []error{
		png.Encode(&asPNG, picture(400, 200)), jpeg.Encode(&asJPEG, picture(400, 200), nil), gif.Encode(&asGIF, picture(400, 200), nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		converter, typ string
		data           *bytes.Buffer
		width, height  string
		want           image.Point
		wantType       string
	}{
		{"pictureResize", "image/png", &asPNG, "100", "100", image.Pt(100, 50), "image/png"},
		{"pictureResize", "image/png", &asPNG, "", "20", image.Pt(40, 20), "image/png"},
		{"pictureResize", "image/jpeg", &asJPEG, "1000", "1000", image.Pt(400, 200), "image/jpeg"},
		{"pictureResize", "image/gif", &asGIF, "30", "", image.Pt(30, 15), "image/png"},
		{"pictureToJPEG", "image/png", &asPNG, "10", "10", image.Pt(10, 5), "image/jpeg"},
		{"pictureToPNG", "image/jpeg", &asJPEG, "1", "1", image.Pt(1, 1), "image/png"},
	}
	for _, test := range tests {
		b, data, err := convert(t, test.converter, "a.png", test.typ, test.data.String(), map[string]string{"width": test.width, "height": test.height})
		if err != nil {
			t.Errorf("%v: %v", test.converter, err)
			continue
		}
		conf, _, err := image.DecodeConfig(strings.NewReader(data))
		if got := image.Pt(conf.Width, conf.Height); err != nil || got != test.want || b.Type != test.wantType {
			t.Errorf("%s %s × %s: %s of %s, %v", test.converter, test.width, test.height, b.Type, got, err)
		}
	}
	if _, data, err := convert(t, "pictureConvertToPDF", "a.png", "image/png", asPNG.String(), nil); err != nil || !strings.HasPrefix(data, "%PDF") {
		t.Errorf("%.20q, %v", data, err)
	}
	for _, side := range []string{"0", "-1", "x", "999999"} {
		if _, _, err := convert(t, "pictureResize", "a.png", "image/png", asPNG.String(), map[string]string{"width": side}); !fault.Is(err, fault.Invalid) {
			t.Errorf("width %s: %v", side, err)
		}
	}
}

// head is the beginning of a picture that says it is so large.
func head(kind string, width, height uint32) string {
	var b bytes.Buffer
	put := func(v ...any) {
		for _, v := range v {
			_ = binary.Write(&b, binary.BigEndian, v) // a buffer takes everything
		}
	}
	w, h := uint16(width), uint16(height)
	switch kind {
	case "png", "png of 16 bits":
		bits := byte(8)
		if kind != "png" {
			bits = 16
		}
		put([]byte("\x89PNG\r\n\x1a\n"), uint32(13), []byte("IHDR"), width, height, bits, []byte("\x06\x00\x00\x00"))
		put(crc32.ChecksumIEEE(b.Bytes()[12:]), uint32(0), []byte("IDAT"))
	case "jpeg":
		put([]byte("\xff\xd8\xff\xc0\x00\x11\x08"), h, w, []byte("\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00\xff\xda\x00\x02"))
	case "progressive jpeg":
		put([]byte("\xff\xd8\xff\x00\xff\xff\xd0..\xff\xe0\x00\x04\xff\xc0\xff\xc2\x00\x11\x08"), h, w, []byte("\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00\xff\xda\x00\x02"))
	case "gif":
		put([]byte("GIF89a"), bits.ReverseBytes16(w), bits.ReverseBytes16(h), []byte("\x00\x00\x00"))
	}
	return b.String()
}

// TestPixelBombs checks that pictures that would take more memory than they may are refused by what their heads say.
func TestPixelBombs(t *testing.T) {
	for _, test := range []struct {
		kind          string
		width, height uint32
		fits          bool
	}{
		{"png", 8192, 6400, true},
		{"png", 8192, 6401, false},
		{"png", 6400, 8193, false},
		{"png", 1, 52_428_801, false},
		{"png", 30_000, 30_000, false},
		{"png", 1<<31 - 1, 1<<31 - 1, false},
		{"png of 16 bits", 8192, 3200, true},
		{"png of 16 bits", 8192, 3201, false},
		{"jpeg", 8192, 6400, true},
		{"jpeg", 8192, 6401, false},
		{"jpeg", 65_535, 65_535, false},
		{"progressive jpeg", 4096, 3413, true},
		{"progressive jpeg", 4096, 3414, false},
		{"gif", 8192, 6400, true},
		{"gif", 8192, 6401, false},
	} {
		data := head(test.kind, test.width, test.height)
		if err := affordable(strings.NewReader(data)); (err == nil) != test.fits {
			t.Errorf("%s of %d × %d: %v", test.kind, test.width, test.height, err)
		}
		if test.fits {
			continue
		}
		typ := "image/" + strings.Fields(strings.ReplaceAll(test.kind, "progressive ", ""))[0]
		_, _, err := convert(t, "pictureResize", "a", typ, data, nil)
		if !fault.Is(err, fault.Limit) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s of %d × %d: %v", test.kind, test.width, test.height, err)
		}
	}
	for _, junk := range []string{"", "GIF89a", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0", "BM", "RIFF\x00\x00\x00\x00WEBPVP8 "} {
		if _, _, err := convert(t, "pictureResize", "a", "image/png", junk, nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", junk, err)
		}
	}
}

// TestPicturesOneByOne: a picture waits while another is in memory, and no longer than who asked for it.
func TestPicturesOneByOne(t *testing.T) {
	c, err := Named("pictureToPNG")
	if err != nil {
		t.Fatal(err)
	}
	drawing <- struct{}{}
	defer func() { <-drawing }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Convert(ctx, Tools{}, blob.FromBytes("a", "image/png", nil), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, _, err := convert(t, "any2text", "a.txt", "text/plain", "text goes on", nil); err != nil {
		t.Error(err)
	}
}

// FuzzPages converts whatever is thrown at it.
func FuzzPages(f *testing.F) {
	for _, seed := range []string{"# a\n* b", "<table><tr><td>x", "<li><li><ol><li>y", "\x00\xff", "<pre>\n\n</pre><br><hr>"} {
		f.Add(seed, "text/html")
		f.Add(seed, "text/markdown")
	}
	f.Fuzz(func(t *testing.T, content, typ string) {
		if len(content) > 10_000 {
			return
		}
		for _, name := range []string{"any2html", "any2text", "any2pdf"} {
			if _, _, err := convert(t, name, "a", typ, content, nil); err != nil && strings.Contains(err.Error(), "runtime error") {
				t.Fatal(err)
			}
		}
	})
}

// TestOfficeText takes the text out of an office document, and refuses one that is none.
func TestOfficeText(t *testing.T) {
	const typ = "application/vnd.oasis.opendocument.text"
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("content.xml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(`<o:document xmlns:o="o" xmlns:text="t"><text:p>Dear Ada,</text:p><text:p>yours</text:p></o:document>`)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	by := Find(typ, "text/plain")
	if by == nil {
		t.Fatal("no converter")
	}
	made, err := by.Convert(t.Context(), Tools{}, blob.FromBytes("a.odt", typ, b.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.Bytes(100)
	if err != nil || !strings.Contains(string(text), "Dear Ada,") || !strings.Contains(string(text), "yours") || made.Name != "a.txt" {
		t.Errorf("got %q as %s, %v", text, made.Name, err)
	}
	if _, err := by.Convert(t.Context(), Tools{}, blob.FromBytes("a.odt", typ, []byte("none")), nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("no document: %v", err)
	}
	b.Reset()
	w = zip.NewWriter(&b)
	if f, err = w.Create("META-INF/manifest.xml"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(`<m:file-entry xmlns:m="m"><m:encryption-data/></m:file-entry>`)); err != nil {
		t.Fatal(err)
	}
	if f, err = w.Create("content.xml"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("<\x8f\x01 is not XML")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := by.Convert(t.Context(), Tools{}, blob.FromBytes("a.odt", typ, b.Bytes()), nil); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "a.odt: is encrypted") {
		t.Error(err)
	}
}
