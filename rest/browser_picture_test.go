package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/decks/convert"
	"catena/decks/theme"
	"catena/rest"
	"catena/rest/resttest"
)

// samples are decks of other people.
var samples = []struct {
	file   string
	always bool // not only with CATENA_PICTURES
}{
	{file: "f1-slidescom-sqlpage-pgconf.html"},
	{file: "f2-18f-docker-talk.html"},
	{file: "f3-asciidoctor-code-rouge.html", always: true},
	{file: "n1-revealjs-6-demo.html"},
	{file: "n3-revealjs-3.9-markdown.html", always: true},
}

// plainPage is a page as somebody writes it who uses the framework alone, from its npm package, with the same style sheet as theme.
var plainPage = template.Must(template.New("plain").Parse(`<!doctype html>
<html lang="{{.Language}}">
<head>
<meta charset="utf-8">
<link rel="stylesheet" href="/npm/dist/reset.css">
<link rel="stylesheet" href="/npm/dist/reveal.css">
<link rel="stylesheet" href="/npm/dist/plugin/highlight/monokai.css">
<link rel="stylesheet" href="/theme.css">
</head>
<body>
<div class="reveal"><div class="slides">
{{.HTML}}
</div></div>
<script src="/npm/dist/reveal.js"></script>
<script src="/npm/dist/plugin/markdown.js"></script>
<script src="/npm/dist/plugin/highlight.js"></script>
<script>
Reveal.initialize({
  ...{{.Options}}, controlsTutorial: false, hash: true, transition: "none", backgroundTransition: "none", autoAnimate: false,
  plugins: [RevealMarkdown, RevealHighlight],
}).then(() => { document.documentElement.dataset.ready = "true"; });
</script>
</body>
</html>
`))

// plain serves the page of a source as the framework alone shows it. It may load no more than the viewer does.
func plain(t *testing.T, source string, deck map[string]any) *httptest.Server {
	t.Helper()
	read, err := convert.Read(t.Context(), convert.HTML, "", source)
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]any{}
	for _, name := range []string{"width", "height", "margin", "rtl", "loop"} {
		options[name] = deck[name]
	}
	built, err := theme.Files()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/npm/", http.StripPrefix("/npm/", http.FileServer(http.Dir("../decks/theme/npm/node_modules/reveal.js"))))
	mux.Handle("/built/", http.StripPrefix("/built/", http.FileServerFS(built)))
	mux.HandleFunc("/theme.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, theme.CSS(rest.Member[string](deck, "theme_color"), rest.Member[string](deck, "theme_font"), "/built/"))
	})
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; img-src data:; media-src data:; frame-src 'none'; connect-src 'none'; font-src 'self' data:")
		err := plainPage.Execute(w, map[string]any{"Language": deck["language"], "HTML": template.HTML(read.HTML), "Options": options}) //nolint:gosec // as it was written
		if err != nil {
			t.Error(err)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// stillMotion has pages not move.
func stillMotion(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	return chromedp.Void{}, err
}

const slideReady = `document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))).then(() => 1)`

// pictures are all slides of a page.
func (b *tab) pictures(address string) (out []image.Image) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(960, 700), stillMotion, chromedp.Navigate(address))
	b.wait(`document.documentElement.dataset.ready === "true"`)
	n := eval[int](b, `document.head.append(Object.assign(document.createElement("style"), { textContent: "* { transition: none !important; animation: none !important; }" })), Reveal.getSlides().length`)
	for i := range n {
		eval[int](b, fmt.Sprintf(`{ const at = Reveal.getIndices(Reveal.getSlides()[%d]); Reveal.slide(at.h, at.v); } `+slideReady, i))
		data, err := chromedp.Run(b, chromedp.CaptureScreenshot())
		if err != nil {
			b.t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, img)
	}
	return out
}

// TestPictures shows decks of other people in the viewer and by the framework alone: every slide has to look the same, that is,
// have a mean structural similarity of 0.98. Without CATENA_PICTURES=all (make pictures) only the short ones are shown.
func TestPictures(t *testing.T) {
	const want = 0.98
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) { c.Limits.Rate = -1 }})
	s.User("alice")
	for _, sample := range samples {
		if !sample.always && os.Getenv("CATENA_PICTURES") == "" {
			continue
		}
		t.Run(sample.file, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join("..", "decks", "export", "testdata", "real", sample.file))
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(map[string]any{"source": string(source), "format": "html", "visibility": "all"})
			if err != nil {
				t.Fatal(err)
			}
			deck, _ := s.Do("POST", "/v1/decks/import", string(body), "as", "alice").JSON(t)["data"].(map[string]any)
			got := browse(t, s).pictures(rest.Member[string](deck, "url") + "/fullscreen")
			wanted := browse(t, s).pictures(plain(t, string(source), deck).URL)
			if len(got) != len(wanted) || len(got) == 0 {
				t.Fatalf("%d slides, want %d", len(got), len(wanted))
			}
			lowest := 1.0
			for i := range got {
				like := similarity(got[i], wanted[i])
				lowest = min(lowest, like)
				if like < want {
					t.Errorf("slide %d: similarity %.4f, want %.2f", i+1, like, want)
					keepPair(t, fmt.Sprintf("%s-%d", strings.TrimSuffix(sample.file, ".html"), i+1), got[i], wanted[i])
				}
			}
			t.Logf("%d slides, lowest similarity %.4f", len(got), lowest)
		})
	}
}

// keepPair keeps two pictures in the folder CATENA_SHOTS names.
func keepPair(t *testing.T, name string, got, want image.Image) {
	t.Helper()
	dir := os.Getenv("CATENA_SHOTS")
	if dir == "" {
		return
	}
	for suffix, img := range map[string]image.Image{"viewer": got, "plain": want} {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+"-"+suffix+".png"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// similarity is the mean structural similarity of two pictures (Wang et al. 2004) in grey, over windows of 8 by 8 pixels every
// four pixels: 1 for the same.
func similarity(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 0
	}
	const window, step = 8, 4
	const c1, c2 = (0.01 * 255) * (0.01 * 255), (0.03 * 255) * (0.03 * 255)
	x, y := grey(a), grey(b)
	w, h := a.Bounds().Dx(), a.Bounds().Dy()
	sum, n := 0.0, 0
	for top := 0; top+window <= h; top += step {
		for left := 0; left+window <= w; left += step {
			var sx, sy, sxx, syy, sxy float64
			for v := top; v < top+window; v++ {
				for u := left; u < left+window; u++ {
					p, q := x[v*w+u], y[v*w+u]
					sx, sy, sxx, syy, sxy = sx+p, sy+q, sxx+p*p, syy+q*q, sxy+p*q
				}
			}
			const size = window * window
			mx, my := sx/size, sy/size
			vx, vy, cov := sxx/size-mx*mx, syy/size-my*my, sxy/size-mx*my
			sum += (2*mx*my + c1) * (2*cov + c2) / ((mx*mx + my*my + c1) * (vx + vy + c2))
			n++
		}
	}
	return sum / float64(n)
}

func grey(img image.Image) []float64 {
	b := img.Bounds()
	out := make([]float64, 0, b.Dx()*b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			out = append(out, (0.299*float64(r)+0.587*float64(g)+0.114*float64(bl))/257)
		}
	}
	return out
}

// TestSimilarity tells the same picture from another.
func TestSimilarity(t *testing.T) {
	a, b := image.NewGray(image.Rect(0, 0, 64, 64)), image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range a.Pix {
		a.Pix[i], b.Pix[i] = uint8(i*7), uint8(i*13) //nolint:gosec // wraps
	}
	if same, other := similarity(a, a), similarity(a, b); same < 0.9999 || other > 0.5 {
		t.Errorf("of the same %v, of another %v", same, other)
	}
}
