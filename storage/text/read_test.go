package text

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// pack makes an archive of n parts with the same content.
func pack(t *testing.T, n int, name func(i int) string, content string) []byte {
	t.Helper()
	var packed, out bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	check(t, err)
	_, err = io.WriteString(w, content)
	check(t, err)
	check(t, w.Close())
	z := zip.NewWriter(&out)
	sum := crc32.ChecksumIEEE([]byte(content))
	for i := range n {
		w, err := z.CreateRaw(&zip.FileHeader{
			Name: name(i), Method: zip.Deflate, CRC32: sum,
			CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(len(content)),
		})
		check(t, err)
		_, err = w.Write(packed.Bytes())
		check(t, err)
	}
	check(t, z.Close())
	return out.Bytes()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func slide(i int) string { return fmt.Sprintf("ppt/slides/slide%d.xml", i) }

func TestOffice(t *testing.T) {
	deck := pack(t, 300, slide, "<a><p>one</p><p>two</p></a>")
	for _, f := range []io.ReadSeeker{bytes.NewReader(deck), struct{ io.ReadSeeker }{bytes.NewReader(deck)}} { // stored content has no ReadAt
		got, err := Read(f, int64(len(deck)), "", "a.pptx")
		if words := strings.Fields(got); err != nil || len(words) != 600 || words[0] != "one" || words[599] != "two" {
			t.Errorf("%T: %d words, %v", f, len(words), err)
		}
	}
}

// TestSpreadsheets reads the words of a spreadsheet, then what stands in its cells: numbers, and what formulas gave, but
// neither formulas nor the numbers of words.
func TestSpreadsheets(t *testing.T) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, part := range []struct{ name, content string }{
		{"xl/worksheets/sheet1.xml", `<x:worksheet xmlns:x="x"><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c><x:c r="B1" s="1"><x:v>17.5</x:v></x:c><x:c t="n"><x:f>A1*90</x:f><x:v>-4</x:v></x:c></x:row>` +
			`<x:row><x:c t="str"><x:f>"x"&amp;A2</x:f><x:v>joined &amp; more</x:v></x:c><x:c t="b"><x:v>1</x:v></x:c><x:c t="e"><x:v>#N/A</x:v></x:c><x:c t="inlineStr"><x:is><x:r><x:t>in</x:t></x:r></x:is></x:c><x:c/><x:c t="d"><x:v>2026-11-26</x:v></x:c></x:row></x:sheetData></x:worksheet>`},
		{"xl/worksheets/_rels/sheet1.xml.rels", "<c><v>9</v></c>"},
		{"xl/styles.xml", "<c><v>8</v></c>"},
		{"xl/worksheets/sheet12.xml", "<c><v>12</v></c>"},
		{"xl/sharedStrings.xml", "<sst><si><t>Budget</t></si><si><t>pears</t></si></sst>"},
	} {
		w, err := z.Create(part.name)
		check(t, err)
		_, err = io.WriteString(w, part.content)
		check(t, err)
	}
	check(t, z.Close())
	got, err := Read(bytes.NewReader(out.Bytes()), int64(out.Len()), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "a.xlsx")
	if want := "Budget pears 17.5 -4 joined & more in 2026-11-26 12"; err != nil || strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// counted knows how much was read.
type counted struct {
	io.ReaderAt
	bytes int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.bytes += int64(n)
	return n, err
}
