package pdf

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // forms of pictures
	_ "image/png"  // that are put on pages
	"io"
	"math"
	"strconv"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/font"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"golang.org/x/text/encoding/charmap"

	"catena/storage/fault"
)

// Stamp is what is put on pages: a text, their numbers, or a picture.
type Stamp struct {
	Text    string
	Numbers bool  // in place of Text: the pages' numbers
	First   int64 // the first of those
	From    int64 // the page that gets the first stamp, from 1; 1 if there are fewer

	Font  string   // one of the standard fonts
	Size  float64  // of the text, in points
	Color [3]uint8 // of the text: red, green and blue

	Scale float64 // of a picture: points of one pixel

	Opacity  float64 // from 0 to 1
	Rotation float64 // in degrees, against the clock
	Right    Offset  // of the box around the stamp, from the left
	Up       Offset  // and from below
}

// Offset is where a stamp is along one side of a page.
type Offset struct {
	At    float64 // points from the edge
	Far   bool    // from the other edge
	Share bool    // At is the part of the free room that is before the stamp, from 0 to 1
}

// from is the distance of a box from an edge of the page.
func (p Offset) from(page, box float64) float64 {
	switch {
	case p.Share:
		return (page - box) * p.At
	case p.Far:
		return page - box - p.At
	}
	return p.At
}

// MaxPixels is how many pixels a picture has at most that is put on pages.
const MaxPixels = 50_000_000

// CheckFont returns an error of kind Invalid for what is none of the fonts that every reader of files has.
func CheckFont(name string) error {
	if !font.IsCoreFont(name) || name == "Symbol" || name == "ZapfDingbats" {
		return fault.Invalid.Errorf("unknown standard font %q; use Helvetica, Times-Roman, Courier or their Bold and Oblique or Italic variants", name)
	}
	return nil
}

// CheckText returns an error of kind Invalid for a text that the standard fonts cannot show.
func CheckText(text string) error {
	_, err := encoded(text)
	return err
}

func encoded(text string) (string, error) {
	out, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		return "", fault.Invalid.Errorf("contains characters that the standard fonts do not have")
	}
	for _, c := range []byte(out) {
		if c < ' ' {
			return "", fault.Invalid.Errorf("must be one line without control characters")
		}
	}
	return out, nil
}

// stamp writes a file with something put on its pages. A protected file stays as it is protected.
func stamp(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	read, err := t.open(files[0], 0, MayModify)
	if err != nil {
		return result{}, err
	}
	m := &marker{file: read, Stamp: t.Stamp}
	if len(files) > 1 {
		err = m.takePicture(t.Names[1], files[1])
	} else {
		m.what, err = m.newFont()
	}
	if err != nil {
		return result{}, err
	}
	from := t.Stamp.From
	if from < 1 || from > int64(read.PageCount) {
		from = 1
	}
	for n := from; n <= int64(read.PageCount); n++ {
		if err := m.page(int(n), t.Stamp.First+n-from); err != nil {
			return result{}, fault.Invalid.Errorf("file %s, page %d: %w", t.Names[0], n, err)
		}
	}
	read.EnsureVersionForWriting()
	return result{}, api.WriteContext(read, out)
}

// marker puts a stamp on the pages of a file.
type marker struct {
	*Stamp

	file          *model.Context
	what          *types.IndirectRef // font or picture
	width, height float64            // of the picture in points; 0 if it is a text
}

func (m *marker) newFont() (*types.IndirectRef, error) {
	return m.file.IndRefForNewObject(types.Dict{
		"Type": types.Name("Font"), "Subtype": types.Name("Type1"), "BaseFont": types.Name(m.Font), "Encoding": types.Name("WinAnsiEncoding"),
	})
}

// takePicture puts a picture into the file.
func (m *marker) takePicture(name string, f io.ReadSeeker) error {
	head, form, err := image.DecodeConfig(f)
	switch {
	case err != nil || form != "jpeg" && form != "png":
		return fault.Invalid.Errorf("file %s: must be a JPEG or PNG picture", name)
	case head.Width <= 0 || head.Height <= 0 || head.Width > MaxPixels/head.Height:
		return fault.Limit.Errorf("file %s: %d × %d pixels, at most %d are allowed", name, head.Width, head.Height, MaxPixels)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	ref, width, height, err := model.CreateImageResource(m.file.XRefTable, f)
	if err != nil {
		return fault.Invalid.Errorf("file %s: %w", name, err)
	}
	m.what, m.width, m.height = ref, float64(width)*m.Scale, float64(height)*m.Scale
	return nil
}

// page puts the stamp on one page.
func (m *marker) page(n int, number int64) error {
	d, _, inherited, err := m.file.PageDict(n, false)
	if err != nil {
		return err
	}
	box := inherited.CropBox
	if box == nil {
		box = inherited.MediaBox
	}
	if box == nil {
		return fault.Invalid.Errorf("has no size")
	}
	text := m.Text
	if m.Numbers {
		text = strconv.FormatInt(number, 10)
	}
	state, err := m.file.IndRefForNewObject(types.Dict{"Type": types.Name("ExtGState"), "ca": types.Float(m.Opacity), "CA": types.Float(m.Opacity)})
	if err != nil {
		return err
	}
	kind := "Font"
	if m.width > 0 {
		kind = "XObject"
	}
	// Resources may be shared by many pages, or inherited; the page gets copies, so that no other page changes.
	names, err := m.name(d, inherited.Resources, map[string]*types.IndirectRef{"ExtGState": state, kind: m.what})
	if err != nil {
		return err
	}
	drawn, err := m.draw(text, box, inherited.Rotate, names["ExtGState"], names[kind])
	if err != nil {
		return err
	}
	return m.append(d, drawn)
}

// name gives objects names on a page, each among those of its kind.
func (m *marker) name(page, resources types.Dict, objects map[string]*types.IndirectRef) (map[string]string, error) {
	all := types.Dict{}
	if resources != nil {
		all = resources.Clone().(types.Dict)
	}
	names := map[string]string{}
	for kind, ref := range objects {
		named, err := m.file.DereferenceDict(all[kind])
		if err != nil {
			return nil, err
		}
		own := types.Dict{}
		if named != nil {
			own = named.Clone().(types.Dict)
		}
		name := "Stamp"
		for i := 1; own[name] != nil; i++ {
			name = "Stamp" + strconv.Itoa(i)
		}
		own[name], all[kind], names[kind] = *ref, own, name
	}
	page["Resources"] = all
	return names, nil
}

// draw returns the content that shows the stamp on a page that is turned by so many degrees.
func (m *marker) draw(text string, box *types.Rectangle, turned int, state, what string) ([]byte, error) {
	text, err := encoded(text)
	if err != nil {
		return nil, err
	}
	width, height := m.width, m.height
	if width == 0 {
		if width, err = font.TextWidthFloat(text, m.Font, m.Size); err != nil {
			return nil, err
		}
		// The height of a line of text, as the box around it; the letters reach a little below their baseline.
		height = m.Size
	}
	sin, cos := math.Sincos(m.Rotation * math.Pi / 180)
	// the box around the turned stamp, as seen from its lower left corner
	left, low := min(0, width*cos)+min(0, -height*sin), min(0, width*sin)+min(0, height*cos)
	wide, high := math.Abs(width*cos)+math.Abs(height*sin), math.Abs(width*sin)+math.Abs(height*cos)
	view, pageWidth, pageHeight := viewOf(box, turned)
	x, y := m.Right.from(pageWidth, wide)-left, m.Up.from(pageHeight, high)-low
	var out bytes.Buffer
	// An artifact is no part of the content: screen readers and searches pass over it.
	fmt.Fprintf(&out, "/Artifact BMC q %s cm %s cm /%s gs ", numbersOf(view[:]...), numbersOf(cos, sin, -sin, cos, x, y), state)
	if m.width > 0 {
		fmt.Fprintf(&out, "%s cm /%s Do", numbersOf(width, 0, 0, height, 0, 0), what)
	} else {
		c := m.Color
		literal, err := types.Escape(text)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s rg BT /%s %s Tf (%s) Tj ET", numbersOf(float64(c[0])/255, float64(c[1])/255, float64(c[2])/255), what, numbersOf(m.Size), *literal)
	}
	out.WriteString(" Q EMC\n")
	return out.Bytes(), nil
}

// viewOf is the matrix from what is seen of a page to the page, and how large that is.
func viewOf(box *types.Rectangle, turned int) (view [6]float64, width, height float64) {
	ll, ur := box.LL, box.UR
	switch (turned%360 + 360) % 360 {
	case 90:
		return [6]float64{0, 1, -1, 0, ur.X, ll.Y}, box.Height(), box.Width()
	case 180:
		return [6]float64{-1, 0, 0, -1, ur.X, ur.Y}, box.Width(), box.Height()
	case 270:
		return [6]float64{0, -1, 1, 0, ll.X, ur.Y}, box.Height(), box.Width()
	}
	return [6]float64{1, 0, 0, 1, ll.X, ll.Y}, box.Width(), box.Height()
}

// numbersOf writes four digits behind the point and never an exponent, which PDF does not have.
func numbersOf(all ...float64) string {
	var out []byte
	for i, n := range all {
		if i > 0 {
			out = append(out, ' ')
		}
		out = strconv.AppendFloat(out, n, 'f', 4, 64)
	}
	return string(out)
}

// append puts content behind that of a page, whatever that has left behind.
func (m *marker) append(page types.Dict, content []byte) error {
	parts := types.Array{}
	switch old := page["Contents"].(type) {
	case nil:
	case types.Array:
		parts = append(parts, old...)
	case types.IndirectRef:
		found, err := m.file.Dereference(old)
		if err != nil {
			return err
		}
		if list, ok := found.(types.Array); ok {
			parts = append(parts, list...)
		} else if found != nil {
			parts = append(parts, old)
		}
	}
	if len(parts) > 0 {
		// The page's own content is put between q and Q: whatever it leaves behind (colour, place, clipping) would
		// otherwise count for the stamp.
		begin, err := m.stream([]byte("q\n"))
		if err != nil {
			return err
		}
		parts = append(types.Array{*begin}, parts...)
		content = append([]byte("\nQ\n"), content...)
	}
	end, err := m.stream(content)
	if err != nil {
		return err
	}
	page["Contents"] = append(parts, *end)
	return nil
}

func (m *marker) stream(content []byte) (*types.IndirectRef, error) {
	s, err := m.file.NewStreamDictForBuf(content)
	if err == nil {
		err = s.Encode()
	}
	if err != nil {
		return nil, err
	}
	return m.file.IndRefForNewObject(*s)
}

// underlay writes a file with the pages of another one behind its own, from the first one again when they have ended.
func underlay(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	read, err := t.open(files[0], 0, MayModify)
	if err != nil {
		return result{}, err
	}
	under, err := t.open(files[1], 1, MayCopy)
	if err != nil {
		return result{}, err
	}
	switch {
	case under.Encrypt != nil:
		return result{}, locked("file %s: is protected; remove the encryption first", t.Names[1])
	case under.PageCount == 0:
		return result{}, fault.Invalid.Errorf("file %s: has no pages", t.Names[1])
	}
	// One pass for each page of the other file, as the library puts one page behind any number of others.
	for source := 1; source <= min(under.PageCount, read.PageCount); source++ {
		pages := types.IntSet{}
		for n := source; n <= read.PageCount; n += under.PageCount {
			pages[n] = true
		}
		behind, err := api.PDFWatermarkForReadSeeker(files[1], source, "pos:c, scale:1 abs, rot:0, op:1", false, false, types.POINTS)
		if err == nil {
			err = pdfcpu.AddWatermarks(read, pages, behind)
		}
		if err != nil {
			return result{}, fault.Invalid.Errorf("file %s, page %d: %w", t.Names[1], source, err)
		}
	}
	return result{}, api.WriteContext(read, out)
}
