package render

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// plainPicture is a picture of one colour, as decks hold it.
func plainPicture(w, h int, c color.NRGBA) string {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// TestPicturesOfStyleSheets: the embedded renderer draws the picture that a style sheet puts behind a box.
func TestPicturesOfStyleSheets(t *testing.T) {
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("poppler-utils, which shows pages, is not installed")
	}
	white, blue, green := color.NRGBA{255, 255, 255, 255}, color.NRGBA{0, 0, 255, 255}, color.NRGBA{0, 200, 0, 255}
	url := "url(" + plainPicture(20, 10, blue) + ")"
	tests := []struct {
		css               string
		corner, next, far color.NRGBA // at 5,5; at 30,5; at 190,90 of a box of 200 by 100
	}{
		{"background-image: none", white, white, white},
		{"background-image: " + url, blue, blue, blue},
		{"background: " + url, blue, blue, blue},
		{"background-image: " + url + "; background-repeat: no-repeat", blue, white, white},
		{"background: " + url + " no-repeat", blue, white, white},
		{"background: #00c800 " + url + " no-repeat", blue, green, green},
		{"background-color: #00c800; background-image: " + url + "; background-repeat: no-repeat", blue, green, green},
		{"background: " + url + "; background-image: none; background-color: #00c800", green, green, green},
		{"background-color: #00c800; background-image: none", green, green, green},
		{"background-image: " + url + "; background-size: cover", blue, blue, blue},
		{"background: " + url + " center / cover no-repeat", blue, blue, blue},
		{"background-image: " + url + "; background-size: contain; background-repeat: no-repeat", blue, blue, blue}, // of the same shape
		{"background-image: url(" + plainPicture(1, 1, blue) + ")", blue, blue, blue},                               // too many to repeat
		{"background-image: url(nowhere.png); background-color: #00c800", green, green, green},
	}
	for _, test := range tests {
		d := Deck{HTML: `<section data-background-color="#ffffff"><div style='position: absolute; left: 0; top: 0; width: 200px; height: 100px; ` + test.css + `'></div></section>`, Width: 960, Height: 700}
		data, err := Embedded{}.PDF(context.Background(), &d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "x.pdf")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		page := show(t, file)[0]
		for _, p := range []struct {
			x, y int
			want color.NRGBA
		}{{5, 5, test.corner}, {30, 5, test.next}, {190, 90, test.far}, {205, 5, white}, {5, 105, white}} {
			if got := color.NRGBAModel.Convert(page.At(p.x, p.y)).(color.NRGBA); !near(got, p.want) {
				t.Errorf("%.60s at %d,%d: got %v, want %v", test.css, p.x, p.y, got, p.want)
			}
		}
	}
}

// TestUnseenBackgrounds: what cannot be drawn behind a box is reported, once for each address.
func TestUnseenBackgrounds(t *testing.T) {
	const report = "backgrounds: not drawn without a browser"
	svg := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
	tests := []struct{ slides, want string }{
		{`<section><p style="background-image: url(` + plainPicture(2, 2, color.NRGBA{0, 0, 255, 255}) + `)">a</p></section>`, ""},
		{`<section><p style="background-image: url(a.png)">a</p></section>`, report + " (1)"},
		{`<section><p style="background-image: url(a.png)">a</p><p style="background: url(a.png)">b</p></section>`, report + " (1)"},
		{`<section><p style="background-image: url(a.png)">a</p><p style="background: url(b.png)">b</p></section>`, report + " (2)"},
		{`<section><p style="background-image: url(` + svg + `)">a</p></section>`, report + " (1)"},
		{`<section><p style="background-image: url(https://example.org/a.png)">a</p></section>`, report + " (1)"},
		{`<section style="background-image: url(a.png)"><h1>a</h1></section>`, report + " (1)"},
		{`<section><p style="display: none; background-image: url(a.png)">a</p></section>`, ""},
	}
	for _, test := range tests {
		d := Deck{HTML: test.slides, Width: 960, Height: 700}
		if _, err := (Embedded{}).PDF(context.Background(), &d, Options{}); err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(d.Warnings(), func(w string) bool { return len(w) < len(report) || w[:len(report)] != report })
		if len(got) != min(1, len(test.want)) || len(got) == 1 && got[0] != test.want {
			t.Errorf("%.90s: got %q, want %q", test.slides, got, test.want)
		}
	}
}

// TestUndrawn reports what is kept with a deck and cannot be drawn without a browser, once for each picture.
func TestUndrawn(t *testing.T) {
	const films, pictures = "films: not drawn without a browser", "pictures: not drawn without a browser"
	svg := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
	picture := plainPicture(2, 2, color.NRGBA{0, 0, 255, 255})
	damaged := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nno picture"))
	for slides, want := range map[string][]string{
		`<section><img src="` + picture + `"></section>`:                                                                     nil,
		`<section><img src="` + svg + `"><img src="` + svg + `"></section>`:                                                  {pictures + " (1)"},
		`<section><img src="` + svg + `"><img src="` + damaged + `"></section>`:                                              {pictures + " (2)"},
		`<section data-background-image="` + svg + `"></section>`:                                                            {pictures + " (1)"},
		`<section><video src="a.mp4"></video><video><source src="b.webm"></video></section>`:                                 {films + " (2)"},
		`<section><video src="a.mp4" poster="` + picture + `"></video><audio src="a.mp3"></audio></section>`:                 nil,
		`<section data-background-video="a.mp4">a</section>`:                                                                 {films + " (1)"},
		`<section><video src="https://example.org/a.mp4"></video></section>`:                                                 {"1 from example.org: not fetched"},
		`<section><video><source src="https://example.org/a.mp4"></video></section>`:                                         {"1 from example.org: not fetched"},
		`<section data-background-video="https://example.org/a.mp4"><p style="background: url(` + svg + `)">a</p></section>`: {"backgrounds: not drawn without a browser (1)", "1 from example.org: not fetched"},
	} {
		d := Deck{HTML: slides, Width: 960, Height: 700}
		if _, err := (Embedded{}).PDF(context.Background(), &d, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := d.Warnings(); !slices.Equal(got, want) {
			t.Errorf("%.120s: got %q, want %q", slides, got, want)
		}
	}
}
