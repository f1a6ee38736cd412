package render

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// thirty is a deck of thirty slides, some with pictures.
func thirty(pictures int) *Deck {
	d := deck
	d.HTML = ""
	for i := range 30 {
		d.HTML += fmt.Sprintf(`<section><h2>Slide %d</h2><ul><li>one</li><li>two <b>bold</b></li><li class="fragment">three</li></ul>`, i+1)
		if i < pictures {
			d.HTML += `<img src="` + square(100+i) + `" width="200">`
		}
		d.HTML += "</section>"
	}
	return &d
}

// BenchmarkPDF compares the renderers with a browser that prints the same page by itself,
// warm and started for it.
func BenchmarkPDF(b *testing.B) {
	d := thirty(0)
	ctx := context.Background()
	b.Run("embedded", func(b *testing.B) {
		for b.Loop() {
			must(b)(Embedded{}.PDF(ctx, d, Options{}))
		}
	})
	if FindChromium() == "" {
		return
	}
	c := chromium(b)
	b.Run("chromium", func(b *testing.B) {
		must(b)(c.PDF(ctx, d, Options{}))
		for b.Loop() {
			must(b)(c.PDF(ctx, d, Options{}))
		}
	})
	b.Run("chromium with pauses", func(b *testing.B) {
		for b.Loop() {
			must(b)(c.PDF(ctx, d, Options{}))
			b.StopTimer()
			time.Sleep(400 * time.Millisecond)
			b.StartTimer()
		}
	})
	file := onDisk(b, d)
	b.Run("floor", func(b *testing.B) {
		p, err := startBrowser(ctx, c)
		if err != nil {
			b.Fatal(err)
		}
		defer p.close()
		must(b)(alone(p, file))
		for b.Loop() {
			must(b)(alone(p, file))
		}
	})
	b.Run("cold floor", func(b *testing.B) {
		for b.Loop() {
			p, err := startBrowser(ctx, c)
			if err != nil {
				b.Fatal(err)
			}
			must(b)(alone(p, file))
			p.close()
		}
	})
}

func must(b *testing.B) func([]byte, error) {
	return func(data []byte, err error) {
		if err != nil || len(data) == 0 {
			b.Fatal(len(data), err)
		}
	}
}

// onDisk writes the page that is printed to a folder, and returns its address.
func onDisk(b testing.TB, d *Deck) string {
	p, err := d.page(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	p.files["deck.css"] = append(p.files["deck.css"], lastNotes...)
	config, err := json.Marshal(d.config(&Options{}))
	if err != nil {
		b.Fatal(err)
	}
	const mark = `<script type="application/json" id="deck">`
	head, rest, _ := strings.Cut(string(p.html), mark)
	_, rest, _ = strings.Cut(rest, "</script>")
	p.files["index.html"] = []byte(head + mark + string(config) + "</script>" + rest)
	folder, err := os.MkdirTemp("", "catena-page-") // which the browser may read
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(folder) })
	for name, data := range p.files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // to be readable
			b.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil { //nolint:gosec // to be readable
			b.Fatal(err)
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // to be readable
		b.Fatal(err)
	}
	return "file://" + folder + "/index.html"
}

// alone has a browser print a page without anything of ours around it.
func alone(p *process, address string) ([]byte, error) {
	tab, end := chromedp.NewContext(p.ctx)
	defer end()
	if err := chromedp.Do(tab, chromedp.Navigate(address)); err != nil {
		return nil, err
	}
	ready := chromedp.Poll[bool](`document.documentElement.dataset.printable === "yes"`, chromedp.WithPollingInterval(20*time.Millisecond))
	if _, err := chromedp.Run(tab, ready); err != nil {
		return nil, err
	}
	return chromedp.Run(tab, chromedp.PrintToPDF(chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize(), chromedp.PDFMargin(0)))
}

// BenchmarkZIP compares an archive with packing the same files.
func BenchmarkZIP(b *testing.B) {
	d := thirty(20)
	b.Run("deck", func(b *testing.B) {
		for b.Loop() {
			must(b)(ZIP(context.Background(), d))
		}
	})
	b.Run("floor", func(b *testing.B) {
		p, err := d.page(context.Background(), nil)
		if err != nil {
			b.Fatal(err)
		}
		p.files["index.html"] = p.html
		for b.Loop() {
			var out bytes.Buffer
			z := zip.NewWriter(&out)
			for name, data := range p.files {
				h := &zip.FileHeader{Name: name, Method: zip.Deflate}
				if packed(name) || strings.HasSuffix(name, ".woff2") {
					h.Method = zip.Store
				}
				w, err := z.CreateHeader(h)
				if err == nil {
					_, err = w.Write(data)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
