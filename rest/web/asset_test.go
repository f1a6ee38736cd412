package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"

	"catena/decks/theme"
	"catena/storage/fault"
)

// TestAssetOf has built-in files of every kind, and names that are none.
func TestAssetOf(t *testing.T) {
	for name, mime := range map[string]string{
		"ui.css": "text/css; charset=utf-8", "view.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml", "deck.js": "text/javascript; charset=utf-8",
		"looks.css": "text/css; charset=utf-8", "theme/white-blue.montserrat.css": "text/css; charset=utf-8", theme.Reveal: "text/javascript; charset=utf-8",
		"fonts/lato-latin-400-normal.woff2": "font/woff2", "licenses/katex.txt": "text/plain; charset=utf-8",
	} {
		a, err := AssetOf(name)
		if err != nil || a.Mime != mime || len(a.Body) == 0 || len(a.Tag) != 16 {
			t.Errorf("%s: %+v, %v", name, a, err)
			continue
		}
		if again, _ := AssetOf(name); again != a {
			t.Errorf("%s: another the second time", name)
		}
		if strings.HasPrefix(mime, "text/") && len(a.Body) > 2000 && len(a.Encoded) != 2 {
			t.Errorf("%s: %d bytes are compressed in %d ways", name, len(a.Body), len(a.Encoded))
		}
		least := 0
		for _, e := range a.Encoded {
			var z io.Reader = brotli.NewReader(bytes.NewReader(e.Body))
			if e.Coding == "gzip" {
				if z, err = gzip.NewReader(bytes.NewReader(e.Body)); err != nil {
					t.Fatal(err)
				}
			}
			if body, err := io.ReadAll(z); err != nil || !bytes.Equal(body, a.Body) || len(e.Body) >= len(a.Body) || len(e.Body) < least || mime == "font/woff2" {
				t.Errorf("%s: %s has %d of %d bytes, %v", name, e.Coding, len(e.Body), len(a.Body), err)
			}
			least = len(e.Body)
		}
	}
	for _, name := range []string{
		"", ".", "/ui.css", "ui.css/", "UI.css", "../static/ui.css", "./ui.css", "a/../ui.css", "nope.js", "ui.html", "ui", ".css", "asset.go", "theme/.css", "theme/x.y.css",
		"theme/white-blue.css", "theme/white-blue.montserrat", "theme/white-blue.montserrat.asul.css", "theme/White-Blue.montserrat.css", "static/ui.css", "fonts/", "fonts/nope.woff2", "ui.css\x00",
	} {
		if a, err := AssetOf(name); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v, %v", name, a, err)
		}
	}
}

// TestAssetOnce has many ask for a file at the same time, as the frames of a page do: it is compressed once.
func TestAssetOnce(t *testing.T) {
	assets.Clear()
	var got [8]*Asset
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i], _ = AssetOf(theme.Reveal) })
	}
	all.Wait()
	for _, a := range got {
		if a == nil || a != got[0] {
			t.Errorf("got %p, want %p", a, got[0])
		}
	}
}

// TestThemeFile: every pair of colours and fonts has a style sheet, unknown names have that of the first.
func TestThemeFile(t *testing.T) {
	for _, color := range theme.ColorNames() {
		for _, font := range theme.FontNames() {
			if name := ThemeFile(color, font); name != "theme/"+color+"."+font+".css" {
				t.Errorf("%s, %s: %s", color, font, name)
			}
		}
	}
	for _, row := range [][3]string{
		{"", "", "theme/white-blue.montserrat.css"}, {"x", "asul", "theme/white-blue.asul.css"}, {"sea-yellow", "../x", "theme/sea-yellow.montserrat.css"},
	} {
		if got := ThemeFile(row[0], row[1]); got != row[2] {
			t.Errorf("%q, %q: %s", row[0], row[1], got)
		}
	}
}

// TestLooks: every theme has its class in the sheet with which pages show what decks look like.
func TestLooks(t *testing.T) {
	css := looksCSS()
	for _, name := range theme.ColorNames() {
		if strings.Count(css, ".c-"+name+" {") != 1 {
			t.Errorf("colour %s", name)
		}
	}
	for _, name := range theme.FontNames() {
		if strings.Count(css, ".f-"+name+" {") != 1 {
			t.Errorf("font %s", name)
		}
	}
}

// TestTurn has the addresses of the pages beside one.
func TestTurn(t *testing.T) {
	for _, row := range []struct {
		list       Listing
		prev, next string
	}{
		{Listing{Page: 1}, "?", "?page=2"},
		{Listing{Page: 2}, "?", "?page=3"},
		{Listing{Page: 3}, "?page=2", "?page=4"},
		{Listing{Page: 2, Trash: true}, "?trash=1", "?page=3&trash=1"},
		{Listing{Page: 2, Words: "a b&c=d"}, "?words=a+b%26c%3Dd", "?page=3&words=a+b%26c%3Dd"},
		{Listing{Page: 2, Words: "ü#?", Trash: true}, "?trash=1&words=%C3%BC%23%3F", "?page=3&trash=1&words=%C3%BC%23%3F"},
	} {
		if prev, next := row.list.Prev(), row.list.Next(); prev != row.prev || next != row.next {
			t.Errorf("%+v: %s and %s", row.list, prev, next)
		}
	}
}

// TestDay has instants as people read them.
func TestDay(t *testing.T) {
	for text, want := range map[string]string{
		"2026-01-02T03:04:05.678Z": "2 Jan 2026", "2026-12-31T23:59:59+02:00": "31 Dec 2026", "": "", "2026-01-02": "", "x": "", "2026-02-30T00:00:00Z": "",
	} {
		if got := day(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestIcons: every picture that a template draws is there.
func TestIcons(t *testing.T) {
	files, err := pageFiles.ReadDir("page")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d templates, %v", len(files), err)
	}
	used := []string{}
	for _, f := range files {
		text, err := pageFiles.ReadFile("page/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), `{{icon "`)[1:] {
			name, _, _ := strings.Cut(part, `"`)
			if used = append(used, name); icons[name] == "" {
				t.Errorf("%s: no picture %q", f.Name(), name)
			}
		}
	}
	if !slices.Contains(used, "print") {
		t.Errorf("pictures of templates: %q", used)
	}
}

// TestPageTag: pages that say the same have the same tag.
func TestPageTag(t *testing.T) {
	a, b, c := &Page{Body: []byte("a")}, &Page{Body: []byte("a"), Policy: "x"}, &Page{Body: []byte("b")}
	if a.Tag() != b.Tag() || a.Tag() == c.Tag() || len(a.Tag()) != 16 {
		t.Errorf("tags %s, %s, %s", a.Tag(), b.Tag(), c.Tag())
	}
}
