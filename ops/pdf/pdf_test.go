package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/fault"
)

// letter is a PDF file whose pages say what number they have.
func letter(t *testing.T, word string, pages int) *storage.Blob {
	t.Helper()
	f := fpdf.New("P", "mm", "A4", "")
	f.SetCompression(false)
	f.SetFont("Helvetica", "", 12)
	for i := range pages {
		f.AddPage()
		f.Cell(40, 10, fmt.Sprint(word, i+1))
	}
	var out bytes.Buffer
	if err := f.Output(&out); err != nil {
		t.Fatal(err)
	}
	return engine.NewBlob(word+".pdf", "application/pdf", out.Bytes())
}

// words are the words of a file, and the number of its pages before them; or the error that the call ended with.
func words(c *engine.Ctx, b *storage.Blob, err error) string {
	if err != nil {
		return told(err)
	}
	info, err := c.PDF().About(c, b)
	if err != nil {
		return told(err)
	}
	text, err := c.PDF().Text(c, b, "")
	if err != nil {
		return told(err)
	}
	return fmt.Sprintf("%s %d: %s", b.Name, info.Pages, strings.Join(strings.Fields(text), " "))
}

func told(err error) string {
	field, e := "", (*fault.Error)(nil)
	if errors.As(err, &e) {
		field = e.Field
	}
	return fmt.Sprintf("! %s %s: %v", fault.Of(err), field, err)
}

func TestExtractedPages(t *testing.T) {
	w, b := opstest.New(t), letter(t, "p", 3)
	w.Do("bob", func(c *engine.Ctx) error {
		for _, x := range []struct {
			p    extractPagesParams
			want string
		}{
			{extractPagesParams{First: 1, Last: 1, Name: "x.pdf"}, "x.pdf 1: p1"},
			{extractPagesParams{First: 3, Last: 3, Name: "x.pdf"}, "x.pdf 1: p3"},
			{extractPagesParams{First: 1, Last: 3, Name: "x.pdf"}, "x.pdf 3: p1 p2 p3"},
			{extractPagesParams{First: 2, Last: 3}, "p-2-3.pdf 2: p2 p3"},
			{extractPagesParams{First: 2, Last: 2, Name: "ü 日.pdf"}, "ü 日.pdf 1: p2"},
			{extractPagesParams{First: 0, Last: 1}, "! invalid startPage: startPage 0, endPage 1: not a valid page range"},
			{extractPagesParams{First: -1, Last: -1}, "! invalid startPage: startPage -1, endPage -1: not a valid page range"},
			{extractPagesParams{First: 2, Last: 1}, "! invalid startPage: startPage 2, endPage 1: not a valid page range"},
			{extractPagesParams{First: 1, Last: 4}, "p-1-3.pdf 3: p1 p2 p3"}, // as many as there are
			{extractPagesParams{First: 4, Last: 4}, "! invalid : …"},
			{extractPagesParams{First: 3, Last: 1 << 62, Name: "x.pdf"}, "x.pdf 1: p3"},
		} {
			made, err := x.p.blob(c, b)
			same(t, x.p, words(c, made, err), x.want)
		}
		return nil
	})
}

func TestMergedFiles(t *testing.T) {
	w := opstest.New(t)
	one, two := letter(t, "a", 1), letter(t, "b", 2)
	broken := engine.NewBlob("broken.pdf", "application/pdf", []byte("%PDF-1.4\nnothing"))
	text := engine.NewBlob("a.txt", "text/plain", []byte("a"))
	w.Do("bob", func(c *engine.Ctx) error {
		c.Vars["one"], c.Vars["list"], c.Vars["empty"], c.Vars["text"] = one, storage.Blobs{two, one}, storage.Blobs{}, "x"
		for _, x := range []struct {
			p    mergeParams
			in   storage.Blobs
			want string
		}{
			{mergeParams{}, storage.Blobs{one}, "a.pdf 1: a1"},
			{mergeParams{}, storage.Blobs{two, one}, "b.pdf 3: b1 b2 a1"},
			{mergeParams{Name: "n.pdf"}, storage.Blobs{one, one}, "n.pdf 2: a1 a1"},
			{mergeParams{One: "one"}, storage.Blobs{two}, "b.pdf 3: b1 b2 a1"},
			{mergeParams{List: "list"}, storage.Blobs{one}, "a.pdf 4: a1 b1 b2 a1"},
			{mergeParams{One: "one", List: "list"}, nil, "a.pdf 4: a1 b1 b2 a1"}, // the single one first
			{mergeParams{List: "empty"}, storage.Blobs{one}, "a.pdf 1: a1"},
			{mergeParams{List: "empty"}, nil, "! invalid input: input: contains no PDF file to join"},
			{mergeParams{}, storage.Blobs{}, "! invalid input: input: contains no PDF file to join"},
			{mergeParams{One: "list"}, nil, "! invalid toAppendVarName: variable list: does not hold a file"},
			{mergeParams{One: "text"}, nil, "! invalid toAppendVarName: variable text: does not hold a file"},
			{mergeParams{List: "one"}, nil, "! invalid toAppendListVarName: variable one: does not hold a list of files"},
			{mergeParams{}, storage.Blobs{one, text}, "! invalid input: input: must be PDF files"},
			{mergeParams{}, storage.Blobs{one, broken}, "! invalid : file broken.pdf: cannot be read as PDF: …"},
			{mergeParams{}, storage.Blobs{broken}, "! invalid : file broken.pdf: cannot be read as PDF: …"},
		} {
			made, err := x.p.blobs(c, x.in)
			same(t, x.p, words(c, made, err), x.want)
		}
		return nil
	})
}

// same compares a result; "…" at the end of what is wanted stands for any text.
func same(t *testing.T, of any, got, want string) {
	t.Helper()
	if front, any := strings.CutSuffix(want, "…"); got != want && (!any || !strings.HasPrefix(got, front)) {
		t.Errorf("%+v:\n got %s\nwant %s", of, got, want)
	}
}

// A merge does not write into the list of the caller, which a variable may hold too.
func TestMergeLeavesListAlone(t *testing.T) {
	w := opstest.New(t)
	one, two, three := letter(t, "a", 1), letter(t, "b", 1), letter(t, "c", 1)
	w.Do("bob", func(c *engine.Ctx) error {
		all := storage.Blobs{one, two}
		c.Vars["more"] = three
		if _, err := (mergeParams{One: "more"}).blobs(c, all[:1]); err != nil {
			return err
		}
		if all[1] != two {
			t.Errorf("the second is %s", all[1].Name)
		}
		return nil
	})
}

func TestMergedTexts(t *testing.T) {
	w := opstest.New(t)
	w.Do("bob", func(c *engine.Ctx) error {
		for _, a := range []about{
			{}, {Title: "T"}, {Author: "Ünï 日本", Subject: "a (b) \\c"}, {Author: "a\nb", Subject: "s", Title: strings.Repeat("t", 3000)},
		} {
			made, err := mergeParams{about: a}.blob(c, letter(t, "a", 1))
			if err != nil {
				t.Errorf("%+v: %v", a, err)
				continue
			}
			info, err := c.PDF().About(c, made)
			if err != nil {
				return err
			}
			if got := (about{Author: info.Author, Subject: info.Subject, Title: info.Title}); got != a {
				t.Errorf("got %+v, want %+v", got, a)
			}
		}
		return nil
	})
}

func TestNumberedPages(t *testing.T) {
	w, b := opstest.New(t), letter(t, "p", 3)
	plain := addPageNumbersParams{Font: "Helvetica", Size: 16, Color: "0xffffff", Position: "Bottom right", Number: 1, Page: 1}
	with := func(change func(p *addPageNumbersParams)) addPageNumbersParams {
		p := plain
		change(&p)
		return p
	}
	w.Do("bob", func(c *engine.Ctx) error {
		for _, x := range []struct {
			p    addPageNumbersParams
			want string
		}{
			{plain, "p.pdf 3: p1 1 p2 2 p3 3"},
			{with(func(p *addPageNumbersParams) { p.Number = 41 }), "p.pdf 3: p1 41 p2 42 p3 43"},
			{with(func(p *addPageNumbersParams) { p.Number = 0 }), "p.pdf 3: p1 1 p2 2 p3 3"},
			{with(func(p *addPageNumbersParams) { p.Number = -7 }), "p.pdf 3: p1 1 p2 2 p3 3"},
			{with(func(p *addPageNumbersParams) { p.Page = 2 }), "p.pdf 3: p1 p2 1 p3 2"},
			{with(func(p *addPageNumbersParams) { p.Page = 3 }), "p.pdf 3: p1 p2 p3 1"},
			{with(func(p *addPageNumbersParams) { p.Page = 4 }), "p.pdf 3: p1 1 p2 2 p3 3"}, // fewer pages: from the first
			{with(func(p *addPageNumbersParams) { p.Size = 1000 }), "p.pdf 3: …"},
			{with(func(p *addPageNumbersParams) { p.Size = 1001 }), "! invalid fontSize: fontSize: must be more than 0 and at most 1000"},
			{with(func(p *addPageNumbersParams) { p.Size = 0 }), "! invalid fontSize: fontSize: must be more than 0 and at most 1000"},
			{with(func(p *addPageNumbersParams) { p.Size = -1 }), "! invalid fontSize: fontSize: must be more than 0 and at most 1000"},
			{with(func(p *addPageNumbersParams) { p.Color = "#00ff00" }), "p.pdf 3: p1 1 p2 2 p3 3"},
			{with(func(p *addPageNumbersParams) { p.Color = "" }), "! invalid hex255Color: hex255Color: must be a color such as #ff0000"},
			{with(func(p *addPageNumbersParams) { p.Color = "#00ff0" }), "! invalid hex255Color: hex255Color: must be a color such as #ff0000"},
			{with(func(p *addPageNumbersParams) { p.Color = "#00ff000" }), "! invalid hex255Color: hex255Color: must be a color such as #ff0000"},
			{with(func(p *addPageNumbersParams) { p.Color = "#00ff00ff" }), "! invalid hex255Color: hex255Color: must be a color such as #ff0000"},
			{with(func(p *addPageNumbersParams) { p.Font = "" }), "! invalid fontName: fontName: unknown standard font …"},
			{with(func(p *addPageNumbersParams) { p.Position = "Top left" }), "p.pdf 3: …"},
		} {
			made, err := x.p.run(c, b)
			same(t, x.p, words(c, made, err), x.want)
		}
		return nil
	})
}

func TestStem(t *testing.T) {
	for name, want := range map[string]string{
		"a.pdf": "a", "a.PDF": "a", "a.Pdf": "a", "a.b.pdf": "a.b", "a": "a", "a.txt": "a.txt", ".pdf": "extracted", "": "extracted", "a.pdf.pdf": "a.pdf", "日本.pdf": "日本",
	} {
		if got := stem(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
