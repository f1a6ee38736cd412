package pdf

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"catena/storage/fault"
)

// dark are the pixels of a picture that are not white.
func dark(i image.Image) (n int) {
	for y := range i.Bounds().Dy() {
		for x := range i.Bounds().Dx() {
			if r, _, _, _ := i.At(x, y).RGBA(); r < 0x8000 {
				n++
			}
		}
	}
	return n
}

// small has two pages of 60 × 30 millimetres.
func small(t *testing.T) []byte {
	t.Helper()
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "mm", Size: fpdf.SizeType{Wd: 60, Ht: 30}})
	f.SetFont("Helvetica", "", 12)
	for _, text := range []string{"some text that is longer", "than this"} {
		f.AddPage()
		f.Text(5, 20, text)
	}
	var out bytes.Buffer
	if err := f.Output(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPictures makes pages into pictures, where the program for that is installed.
func TestPictures(t *testing.T) {
	program, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("pdftoppm is not installed")
	}
	tool := New(nil, program, Limits{})
	draw := func(pdf []byte, password string) (all []image.Image, err error) {
		err = tool.Pictures(t.Context(), file(pdf), password, func(page int, r io.Reader) error {
			i, err := png.Decode(r)
			if page != len(all)+1 {
				t.Errorf("page %d after %d", page, len(all))
			}
			all = append(all, i)
			return err
		})
		return all, err
	}
	page := small(t)
	var kept []byte
	if err := tool.Protect(t.Context(), file(page), "", Protection{Owner: "owner", User: "reader", Bits: 128, May: MayPrint}, made(&kept)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file     []byte
		password string
		kind     fault.Kind
	}{"plain": {page, "", 0}, "owner": {kept, "owner", 0}, "reader": {kept, "reader", fault.Denied}, "nobody": {kept, "", fault.Denied}, "broken": {[]byte("%PDF-1.4"), "", fault.Invalid}} {
		all, err := draw(c.file, c.password)
		if c.kind != 0 {
			if fault.Of(err) != c.kind || all != nil {
				t.Errorf("%s: %d pictures, %v", name, len(all), err)
			}
			continue
		}
		if err != nil || len(all) != 2 {
			t.Errorf("%s: %d pictures, %v", name, len(all), err)
			continue
		}
		first, second := dark(all[0]), dark(all[1])
		if all[0].Bounds() != image.Rect(0, 0, 709, 355) || second == 0 || first < second {
			t.Errorf("%s: %v with %d dark pixels, then %d", name, all[0].Bounds(), first, second)
		}
	}
	full := errors.New("no room")
	if err := tool.Pictures(t.Context(), file(page), "", func(int, io.Reader) error { return full }); !errors.Is(err, full) {
		t.Errorf("no room: %v", err)
	}
	for most, ok := range map[int]bool{1: false, 2: true} {
		err := New(nil, program, Limits{Pictures: most}).Pictures(t.Context(), file(page), "", func(int, io.Reader) error { return nil })
		if (err == nil) != ok || !ok && fault.Of(err) != fault.Limit {
			t.Errorf("%d pages at most: %v", most, err)
		}
	}
	huge := bytes.Replace(page, []byte("/MediaBox [0 0 170.08 85.04]"), []byte("/MediaBox [0 0 14400 14400] "), 1)
	if bytes.Equal(huge, page) {
		t.Fatal("the size of the pages is said otherwise")
	}
	if all, err := draw(huge, ""); all != nil || fault.Of(err) != fault.Limit {
		t.Errorf("a page of five metres: %d pictures, %v", len(all), err)
	}
}

// TestPicturesWithout has no program that draws, or one that does not.
func TestPicturesWithout(t *testing.T) {
	page := file(printed(t, "text", false))
	none := func(int, io.Reader) error { t.Error("a picture"); return nil }
	for program, kind := range map[string]fault.Kind{"": fault.Unavailable, filepath.Join(t.TempDir(), "nothing"): fault.Unavailable, "false": fault.Invalid, "true": fault.Invalid} {
		if path, err := exec.LookPath(program); err == nil {
			program = path
		}
		if err := New(nil, program, Limits{}).Pictures(t.Context(), page, "", none); fault.Of(err) != kind {
			t.Errorf("%q: %v", program, err)
		}
	}
}
