package pdf

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"catena/storage/blob"
	"catena/storage/fault"
)

// bottomRight is where the tests put stamps.
var bottomRight = Stamp{Scale: 1, Font: "Helvetica", Size: 16, Opacity: 1, Right: Offset{At: 10, Far: true}, Up: Offset{At: 10}}

// pagesOf are the texts of a file's pages.
func pagesOf(t *testing.T, pdf []byte) []string {
	t.Helper()
	if err := api.Validate(bytes.NewReader(pdf), Settings()); err != nil {
		t.Fatal(err)
	}
	text, err := textOf(t.Context(), pdf)
	if err != nil {
		t.Fatal(err)
	}
	n, err := api.PageCount(bytes.NewReader(pdf), Settings())
	if err != nil {
		t.Fatal(err)
	}
	pages := make([]string, n)
	for i := range pages {
		var one []byte
		if err := New(nil, "", Limits{}).Cut(t.Context(), Protected{file(pdf), ""}, Pages{int64(i + 1), int64(i + 1)}, nil, made(&one)); err != nil {
			t.Fatal(err)
		}
		if pages[i], err = textOf(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		if pages[i] = strings.Join(strings.Fields(pages[i]), " "); !strings.Contains(strings.Join(strings.Fields(text), " "), pages[i]) {
			t.Errorf("page %d shows %q, all show %q", i+1, pages[i], text)
		}
	}
	return pages
}

// TestMark puts texts and numbers on pages.
func TestMark(t *testing.T) {
	tool := New(nil, "", Limits{})
	page := printed(t, "some text", false)
	mark := func(s Stamp) (out []byte) {
		t.Helper()
		if err := tool.Mark(t.Context(), Protected{file(page), ""}, s, nil, made(&out)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	s := bottomRight
	s.Text = `Größe (5 €) \ %p`
	if got := pagesOf(t, mark(s)); got[0] != "some text "+s.Text || got[1] != "second page "+s.Text {
		t.Errorf("a text: %q", got)
	}
	s.Text, s.Numbers, s.First, s.From = "", true, 7, 2
	if got := pagesOf(t, mark(s)); got[0] != "some text" || got[1] != "second page 7" {
		t.Errorf("a number on the second page: %q", got)
	}
	s.From = 3
	if got := pagesOf(t, mark(s)); got[0] != "some text 7" || got[1] != "second page 8" {
		t.Errorf("beyond the last page: %q", got)
	}
	twice := page
	page = mark(s)
	if got := pagesOf(t, mark(s)); got[0] != "some text 7 7" {
		t.Errorf("twice: %q", got)
	}
	page = twice
	var out []byte
	if err := tool.Mark(t.Context(), Protected{file([]byte("%PDF-1.4 nothing")), ""}, s, nil, made(&out)); fault.Of(err) != fault.Invalid {
		t.Errorf("a broken file: %v", err)
	}
}

// TestMarkProtected marks a protected file, which it stays.
func TestMarkProtected(t *testing.T) {
	tool := New(nil, "", Limits{})
	for may, ok := range map[May]bool{0: false, MayCopy: false, MayModify: true} {
		var kept, out []byte
		p := Protection{Owner: "owner", User: "reader", Bits: 128, May: may}
		if err := tool.Protect(t.Context(), file(printed(t, "some text", false)), "", p, made(&kept)); err != nil {
			t.Fatal(err)
		}
		s := bottomRight
		s.Text = "mark"
		if err := tool.Mark(t.Context(), Protected{file(kept), "reader"}, s, nil, made(&out)); (err == nil) != ok || !ok && fault.Of(err) != fault.Denied {
			t.Errorf("%d: %v", may, err)
		}
		if err := tool.Mark(t.Context(), Protected{file(kept), "owner"}, s, nil, made(&out)); err != nil {
			t.Fatal(err)
		}
		if _, err := tool.Text(t.Context(), file(out), ""); fault.Of(err) != fault.Denied {
			t.Errorf("%d: afterwards it needs no password: %v", may, err)
		}
		if text, err := tool.Text(t.Context(), file(out), "reader"); err != nil || strings.Count(text, "mark") != 2 {
			t.Errorf("%d: %q, %v", may, text, err)
		}
		if info, err := tool.Unprotect(t.Context(), file(out), "reader", made(&kept)); info || fault.Of(err) != fault.Denied {
			t.Errorf("%d: afterwards the reader is the owner: %v", may, err)
		}
	}
}

func picture(t *testing.T, width, height int) *blob.Blob {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return blob.FromBytes("a.png", "image/png", out.Bytes())
}

// TestMarkPicture puts a picture on pages, from which it can be taken again.
func TestMarkPicture(t *testing.T) {
	tool := New(nil, "", Limits{})
	s := bottomRight
	s.Scale, s.Opacity = 2, 0.5
	var out []byte
	if err := tool.Mark(t.Context(), Protected{file(printed(t, "some text", false)), ""}, s, picture(t, 30, 20), made(&out)); err != nil {
		t.Fatal(err)
	}
	if got := pagesOf(t, out); got[0] != "some text" || got[1] != "second page" {
		t.Errorf("%q", got)
	}
	found, err := api.ExtractImagesRaw(bytes.NewReader(out), nil, Settings())
	if err != nil || len(found) != 2 {
		t.Fatalf("%d pages with pictures, %v", len(found), err)
	}
	for _, page := range found {
		for _, i := range page {
			if drawn, _, err := image.Decode(i); err != nil || drawn.Bounds() != image.Rect(0, 0, 30, 20) {
				t.Errorf("a picture that is none, or another: %v", err)
			}
		}
	}
	for _, bad := range []*blob.Blob{blob.FromBytes("a.png", "image/png", []byte("no picture")), file(printed(t, "x", false))} {
		if err := tool.Mark(t.Context(), Protected{file(printed(t, "x", false)), ""}, s, bad, made(&out)); fault.Of(err) != fault.Invalid {
			t.Errorf("%s: %v", bad.Name, err)
		}
	}
}

// TestUnderlay puts pages behind others.
func TestUnderlay(t *testing.T) {
	tool := New(nil, "", Limits{})
	f := fpdf.New("P", "mm", "A4", "")
	f.SetFont("Helvetica", "", 12)
	for _, text := range []string{"one", "two", "three"} {
		f.AddPage()
		f.Text(20, 20, text)
	}
	var three bytes.Buffer
	if err := f.Output(&three); err != nil {
		t.Fatal(err)
	}
	two := printed(t, "first page", false)
	var out []byte
	if err := tool.Underlay(t.Context(), file(three.Bytes()), file(two), made(&out)); err != nil {
		t.Fatal(err)
	}
	if got := pagesOf(t, out); strings.Join(got, ", ") != "first page one, second page two, first page three" {
		t.Errorf("%q", got)
	}
	if err := tool.Underlay(t.Context(), file(two), file(three.Bytes()), made(&out)); err != nil {
		t.Fatal(err)
	}
	if got := pagesOf(t, out); strings.Join(got, ", ") != "one first page, two second page" {
		t.Errorf("%q", got)
	}
}

// TestView finds the corners of pages that are turned as they are seen.
func TestView(t *testing.T) {
	box := types.NewRectangle(10, 20, 110, 220)
	for turned, want := range map[int][4]float64{ // the lower left and the upper right corner as seen, on the page
		0: {10, 20, 110, 220}, 90: {110, 20, 10, 220}, 180: {110, 220, 10, 20}, 270: {10, 220, 110, 20}, -90: {10, 220, 110, 20},
	} {
		v, width, height := viewOf(box, turned)
		at := func(x, y float64) [2]float64 { return [2]float64{v[0]*x + v[2]*y + v[4], v[1]*x + v[3]*y + v[5]} }
		low, high := at(0, 0), at(width, height)
		if got := [4]float64{low[0], low[1], high[0], high[1]}; got != want {
			t.Errorf("%d degrees: %v, want %v", turned, got, want)
		}
	}
}
