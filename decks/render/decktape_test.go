package render

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkDecktape compares a deck of thirty slides as a PDF file with decktape, which people
// print decks of reveal.js with. It is taken from PATH, or from where CATENA_DECKTAPE says it is
// (npm install decktape, with PUPPETEER_SKIP_DOWNLOAD=1), and prints with the same browser.
func BenchmarkDecktape(b *testing.B) {
	tool := os.Getenv("CATENA_DECKTAPE")
	if tool == "" {
		var err error
		if tool, err = exec.LookPath("decktape"); err != nil {
			b.Skip("decktape is not installed")
		}
	}
	browser := FindChromium()
	if browser == "" {
		b.Skip("no browser is installed")
	}
	d := thirty(0)
	p, err := d.page(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		data, ok := p.files[name]
		if name == "" {
			data, ok, name = p.html, true, "index.html"
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", typeOf(name))
		_, _ = w.Write(data)
	})}
	go func() { _ = server.Serve(l) }()
	b.Cleanup(func() { _ = server.Close() })
	c := chromium(b)
	for name, pause := range map[string]string{"decktape": "--pause=1000", "decktape without pauses": "--pause=0"} { // the first is its default
		b.Run(name, func(b *testing.B) {
			out := filepath.Join(b.TempDir(), "deck.pdf")
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), tool, "reveal", "--chrome-path="+browser, "--chrome-arg=--no-sandbox", pause, "--size=960x700",
					"http://"+l.Addr().String()+"/", out)
				if text, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, text)
				}
			}
		})
	}
	b.Run("chromium", func(b *testing.B) {
		must(b)(c.PDF(b.Context(), d, Options{SeparateFragments: true})) // as decktape does
		for b.Loop() {
			must(b)(c.PDF(b.Context(), d, Options{SeparateFragments: true}))
		}
	})
	b.Run("embedded", func(b *testing.B) {
		for b.Loop() {
			must(b)(Embedded{}.PDF(b.Context(), d, Options{SeparateFragments: true}))
		}
	})
}
