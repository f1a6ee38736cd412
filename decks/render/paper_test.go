package render

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
)

// drawn are the pages of a deck's PDF file as pictures.
func drawn(t *testing.T, r Renderer, html string, o Options) []image.Image {
	t.Helper()
	d := deck
	d.HTML = html
	data, err := r.PDF(context.Background(), &d, o)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.pdf")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return show(t, file)
}

func alike(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}

// TestCodeSteps prints code whose lines are pointed at step by step. Without a page for each
// step nothing in it is dimmed: it looks as code does that has numbers only. With one, each
// page points at other lines. Lines pointed at from the start stay so.
func TestCodeSteps(t *testing.T) {
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("poppler-utils, which shows pages, is not installed")
	}
	b := needChromium(t)
	code := func(steps string) string {
		return `<section><pre><code class="language-go" data-line-numbers="` + steps + `">one()
two()
three()</code></pre></section>`
	}
	written := "<section data-markdown><script type=\"text/template\">```go [1|2|3]\none()\ntwo()\nthree()\n```</script></section>"
	plain, stepped := drawn(t, b, code(""), Options{}), drawn(t, b, code("1|2|3"), Options{})
	if len(stepped) != 1 || !alike(plain[0], stepped[0]) {
		t.Errorf("without a page for each step: %d pages, alike %t", len(stepped), alike(plain[0], stepped[0]))
	}
	if pages := drawn(t, b, written, Options{}); len(pages) != 1 || !alike(drawn(t, b, strings.Replace(written, "1|2|3", "", 1), Options{})[0], pages[0]) {
		t.Errorf("written as Markdown: %d pages, and some lines are dimmed", len(pages))
	}
	if still := drawn(t, b, code("2"), Options{}); alike(plain[0], still[0]) {
		t.Error("a line pointed at from the start is not any more")
	}
	pages := drawn(t, b, code("1|2|3"), Options{SeparateFragments: true})
	if len(pages) != 3 {
		t.Fatalf("%d pages for 3 steps", len(pages))
	}
	for i, page := range pages {
		if alike(page, plain[0]) || alike(page, pages[(i+1)%3]) {
			t.Errorf("page %d points at nothing of its own", i+1)
		}
	}
}

// TestPaper holds what every PDF file has, by whichever renderer: it is valid, says what it is,
// has the numbers and pages of notes, with their slides, that were asked for where they belong, and a picture that
// is on many slides only once.
func TestPaper(t *testing.T) {
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("poppler-utils, which reads text, is not installed")
	}
	for name, r := range renderers(t) {
		t.Run(name, func(t *testing.T) {
			d := deck
			picture := square(120)
			page := func(n int) string {
				return fmt.Sprintf(`<section><h2>Slide</h2><img src="%s" width="120"><aside class="notes">Whispered %d.</aside></section>`, picture, n)
			}
			d.HTML = page(1)
			one, err := r.PDF(t.Context(), &d, Options{})
			if err != nil {
				t.Fatal(err)
			}
			d.HTML = ""
			for i := range 20 {
				d.HTML += page(i + 1)
			}
			many, err := r.PDF(t.Context(), &d, Options{SlideNumber: true, SlideNotes: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := api.Validate(bytes.NewReader(many), settings()); err != nil {
				t.Errorf("not valid: %v", err)
			}
			about, err := api.PDFInfo(bytes.NewReader(many), "x.pdf", nil, false, settings())
			if err != nil {
				t.Fatal(err)
			}
			if about.Title != d.Title || about.Author != d.Author || about.Subject != d.Description || about.PageCount != 40 || about.Encrypted {
				t.Errorf("says it is %q by %q about %q, %d pages", about.Title, about.Author, about.Subject, about.PageCount)
			}
			for i, text := range strings.Split(textIn(t, many), "\f")[:40] {
				n := fmt.Sprint(i/2 + 1)
				fields := " " + strings.Join(strings.Fields(text), " ") + " "
				notes := strings.Contains(fields, " Whispered "+n+". ")
				if !strings.Contains(fields, " Slide ") {
					t.Errorf("page %d does not show its slide: %q", i+1, fields)
				}
				if (i%2 == 1) != notes || i%2 == 0 && !strings.Contains(fields, " "+n+" ") {
					t.Errorf("page %d: %q", i+1, fields)
				}
			}
			images, err := api.ExtractImagesRaw(bytes.NewReader(many), nil, settings())
			if err != nil {
				t.Fatal(err)
			}
			objects := map[int]bool{}
			shown := 0
			for _, page := range images {
				for number := range page {
					objects[number] = true
					shown++
				}
			}
			if len(objects) > 2 || shown < 20 { // it may have a mask
				t.Errorf("%d objects for one picture, shown %d times", len(objects), shown)
			}
			if len(many) > len(one)+40*2000 {
				t.Errorf("%d bytes for 20 slides, %d for one", len(many), len(one))
			}
			if strings.Contains(textIn(t, one), "Whispered") || strings.TrimSpace(textIn(t, one)) != "Slide" {
				t.Errorf("nothing was asked for, and there is %q", textIn(t, one))
			}
		})
	}
}
