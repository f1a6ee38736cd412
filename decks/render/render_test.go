package render

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/storage/fault"
)

// talk has what decks mostly have: stacks, fragments, notes, backgrounds, code, tables,
// blocks with places of their own, Markdown, a hidden slide and characters no font has.
const talk = `<section><h1>Title 🎉</h1><p>Grüße, Ελλάδα, Москва, 漢字</p><aside class="notes">Say hello.</aside></section>
<section data-background-color="#c81e1e">
  <section><ul><li>one<ul><li>inner</li></ul></li><li class="fragment">two</li><li class="fragment">three</li></ul></section>
  <section data-background="rgb(30, 60, 200)"><p style="position:absolute; left:40px; top:60px; width:200px; height:100px; background:#00ff00">placed</p></section>
</section>
<section data-visibility="hidden"><p>never</p></section>
<section><pre><code class="language-go" data-line-numbers="1|2">func main() {
	println("<hi>")
}</code></pre><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></section>
<section data-markdown data-separator="^---$"><script type="text/template">
# Marked

- down <!-- .element: class="fragment" -->
---
second [link](https://example.org)
Note: quietly
</script></section>
<section data-notes="by attribute"><div class="r-hstack"><p>left</p><p>right</p></div><blockquote>quoted</blockquote></section>`

// fresh is the deck without warnings of an earlier file.
func fresh() *Deck {
	d := deck
	return &d
}

var deck = Deck{Title: "Talk", Author: "Alice", Description: "About things", Language: "en", HTML: talk, Width: 960, Height: 700}

// renderers are all there are on this machine.
func renderers(t testing.TB) map[string]Renderer {
	out := map[string]Renderer{"embedded": Embedded{}}
	if b := chromium(t); b != nil {
		out["chromium"] = b
	}
	return out
}

// chromium is a browser that ends with the test; nil where none is installed.
func chromium(t testing.TB) *Chromium {
	t.Helper()
	path := FindChromium()
	if path == "" {
		return nil
	}
	c := &Chromium{Path: path, Log: quiet}
	t.Cleanup(c.Close)
	return c
}

func needChromium(t testing.TB) *Chromium {
	t.Helper()
	c := chromium(t)
	if c == nil {
		t.Skip("no browser is installed")
	}
	return c
}

func TestPages(t *testing.T) {
	tests := []struct {
		name          string
		o             Options
		pages         int
		width, height float64 // pt
	}{
		{"plain", Options{}, 7, 720, 525},
		{"margin", Options{Margin: 0.1, SlideNumber: true}, 7, 792, 577.5},
		{"notes", Options{SlideNotes: true}, 10, 720, 525},
		{"fragments", Options{SeparateFragments: true}, 11, 720, 525},
		{"everything", Options{Margin: 0.2, SeparateFragments: true, SlideNotes: true, SlideNumber: true}, 14, 864, 630},
	}
	for name, r := range renderers(t) {
		for _, test := range tests {
			t.Run(name+" "+test.name, func(t *testing.T) {
				data, err := r.PDF(context.Background(), fresh(), test.o)
				if err != nil {
					t.Fatal(err)
				}
				about, err := api.Properties(bytes.NewReader(data), settings())
				if err != nil || about["Slides"] != "7" || about["Renderer"] == "" {
					t.Errorf("properties: %v %v", about, err)
				}
				dims, err := api.PageDims(bytes.NewReader(data), settings())
				if err != nil {
					t.Fatal(err)
				}
				if len(dims) != test.pages {
					t.Errorf("%d pages, want %d", len(dims), test.pages)
				}
				for i, d := range dims {
					if d.Width < test.width-1 || d.Width > test.width+1 || d.Height < test.height-1 || d.Height > test.height+1 {
						t.Errorf("page %d: %v", i+1, d)
					}
				}
			})
		}
	}
}

// TestLooks compares pixels of pages: backgrounds reach the edges, blocks stand where they
// are placed, and text can be read back.
func TestLooks(t *testing.T) {
	for _, tool := range []string{"pdftoppm", "pdftotext"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("poppler-utils, which shows pages, is not installed")
		}
	}
	for name, r := range renderers(t) {
		t.Run(name, func(t *testing.T) {
			data, err := r.PDF(context.Background(), fresh(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "x.pdf")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			pages := show(t, file)
			white, red, blue, green := color.NRGBA{255, 255, 255, 255}, color.NRGBA{0xc8, 0x1e, 0x1e, 255}, color.NRGBA{30, 60, 200, 255}, color.NRGBA{0, 255, 0, 255}
			for _, p := range []struct {
				page, x, y int // of 96 dpi
				want       color.NRGBA
			}{
				{1, 5, 5, white},
				{1, 955, 695, white},
				{2, 2, 2, red},
				{2, 957, 697, red},
				{3, 2, 2, blue},
				{3, 957, 697, blue},
				{3, 200, 150, green},
				{3, 36, 100, blue},
				{3, 100, 56, blue},
				{4, 5, 695, white},
			} {
				if got := color.NRGBAModel.Convert(pages[p.page-1].At(p.x, p.y)); !near(got.(color.NRGBA), p.want) {
					t.Errorf("page %d at %d,%d: %v, want %v", p.page, p.x, p.y, got, p.want)
				}
			}
			text, err := exec.CommandContext(t.Context(), "pdftotext", file, "-").Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"Title", "Grüße, Ελλάδα, Москва", "one", "inner", "placed", "println", "Marked", "second link", "quoted"} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is missing in %s", want, text)
				}
			}
			if strings.Contains(string(text), "never") || strings.Contains(string(text), "quietly") {
				t.Errorf("shows what is hidden: %s", text)
			}
		})
	}
}

// show draws the pages of a file at 96 dots an inch.
func show(t *testing.T, file string) (pages []image.Image) {
	t.Helper()
	prefix := strings.TrimSuffix(file, ".pdf")
	if out, err := exec.CommandContext(t.Context(), "pdftoppm", "-r", "96", "-png", file, prefix).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names, err := filepath.Glob(prefix + "-*.png")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, img)
	}
	return pages
}

func near(a, b color.NRGBA) bool {
	far := func(x, y uint8) bool { return int(x)-int(y) > 3 || int(y)-int(x) > 3 }
	return !far(a.R, b.R) && !far(a.G, b.G) && !far(a.B, b.B)
}

// square is a picture as decks hold it.
func square(size int) string {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for i := range size * size {
		img.Set(i%size, i/size, color.NRGBA{uint8(i * 7), uint8(i * 13), uint8(i), 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestZIP(t *testing.T) {
	d := deck
	d.Title = `A <b>"deck"</b>`
	d.HTML += `<section><img src="x" onerror="document.documentElement.dataset.hit = 1"><script>document.documentElement.dataset.hit = 2</script><img src="` + square(40) + `"><img src="/files/1"><img src="https://elsewhere.example/a.png"></section>`
	d.File = func(_ context.Context, address string) ([]byte, string, error) {
		if address == "/files/1" {
			return []byte("JPEG"), "image/jpeg", nil
		}
		return nil, "", fault.NotFound.Errorf("file %s", address)
	}
	data, err := ZIP(context.Background(), &d)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ZIP(context.Background(), &d)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("the same deck makes another archive: %v", err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, z); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<title>A &lt;b&gt;&#34;deck&#34;&lt;/b&gt;</title>`, `src="assets/1.png"`, `src="assets/2.jpg"`, `src="https://elsewhere.example/a.png"`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%s is missing", want)
		}
	}
	if got := d.Warnings(); len(got) != 1 || got[0] != "1 from elsewhere.example: not fetched" {
		t.Errorf("missing: %q", got)
	}
	path := FindChromium()
	if path == "" {
		return
	}
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // the browser reads it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+t.TempDir(), "--virtual-time-budget=3000", "--dump-dom",
		"file://"+filepath.Join(folder, "index.html")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), `data-ready="yes"`) || !strings.Contains(string(out), "Marked</h1>") {
		t.Errorf("does not start from a folder: %.2000s", out)
	}
	if strings.Contains(string(out), `data-hit="`) {
		t.Error("a script of the deck runs")
	}
}

// TestMany holds a deck of a thousand slides in time and in bounds.
func TestMany(t *testing.T) {
	d := deck
	d.HTML = strings.Repeat(`<section><h2>Slide</h2><ul><li>one</li><li class="fragment">two</li></ul></section>`, 1000)
	data, err := Embedded{}.PDF(context.Background(), &d, Options{SeparateFragments: true})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := api.PageCount(bytes.NewReader(data), settings()); n != 2000 {
		t.Errorf("%d pages: %v", n, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	wantCode(t, fault.CodeRenderTimeout, func() error { _, err := Embedded{}.PDF(ctx, &d, Options{}); return err }())
	d.HTML = "<section>" + strings.Repeat(`<p class="fragment">x</p>`, maxPages) + "</section>"
	wantCode(t, fault.CodeTooLarge, func() error {
		_, err := Embedded{}.PDF(context.Background(), &d, Options{SeparateFragments: true})
		return err
	}())
}

func wantCode(t *testing.T, code fault.Code, err error) {
	t.Helper()
	if got, ok := err.(*fault.Error); !ok || got.Code != code { //nolint:errorlint // returned bare
		t.Errorf("got %v, want %s", err, code)
	}
}

// FuzzEmbedded has any HTML make a file or an error, in time.
func FuzzEmbedded(f *testing.F) {
	f.Add(talk, "h1 { width: calc(1px) } .a:hover > b { color: color-mix(in srgb, red 5%, transparent) }")
	f.Add(`<section><table><tr><td colspan="1000" rowspan="9999"><table><tr><td>`+strings.Repeat("<div style='display:inline-block'>", 40), "p{width:1e999px}")
	f.Add(`<section style="display:flex;--a:var(--b);--b:var(--a);color:var(--a)">`+strings.Repeat("<ul><li>", 30), "@media print{*{font-size:200%}}")
	f.Add(fmt.Sprintf(`<section><img src=%q style="object-fit:cover;width:0;height:-5px"><svg></svg>`, square(3)), "{}}{;:,(")
	f.Fuzz(func(t *testing.T, html, css string) {
		if len(html) > 20_000 || len(css) > 5_000 {
			return
		}
		d := Deck{HTML: html, CSS: css, Width: 960, Height: 700}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		data, err := Embedded{}.PDF(ctx, &d, Options{SeparateFragments: true, SlideNotes: true, SlideNumber: true})
		if fault.Is(err, fault.Internal) || ctx.Err() != nil {
			t.Fatalf("%v %v", err, ctx.Err())
		}
		if err == nil && !bytes.HasPrefix(data, []byte("%PDF-")) {
			t.Fatalf("%.20q", data)
		}
	})
}

// TestScripts reports letters that the built-in faces do not have.
func TestScripts(t *testing.T) {
	for text, want := range map[string]string{
		"Größe, Ελλάδα, Привет – “x” → é": "",
		"日本 שלום سلام 🎉 ok":               "characters (Arabic): not drawn without a browser (4)|characters (Han): not drawn without a browser (2)|characters (Hebrew): not drawn without a browser (4)|characters (emoji and signs): not drawn without a browser (1)",
	} {
		d := deck
		d.HTML = "<section><p>" + text + "</p><style>/* 日 */</style></section>"
		if _, err := (Embedded{}).PDF(context.Background(), &d, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.Warnings(), "|"); got != want {
			t.Errorf("%s: warnings %q, want %q", text, got, want)
		}
	}
}
