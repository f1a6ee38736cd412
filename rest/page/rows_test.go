package page

import (
	"net/url"
	"testing"

	"catena/rest"

	"catena/rest/web"
	"catena/storage/fault"
)

// TestAccepts has what clients say of the codings that they can read.
func TestAccepts(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, " gzip ": true, "br, gzip": true, "br,gzip;q=0.5": true, "gzip ; q = 1": true,
		"gzip;q=0": false, "gzip;q=0.0": false, "gzip;q=0.000": false, "gzip; Q=0": false, "gzip;q=0.001": true,
		"deflate": false, "gzipped": false, "x-gzip": false, "identity, *;q=0": false, "br;q=1, gzip;q=0": false, ",,gzip": true,
	} {
		if got := rest.Accepts(accept, "gzip"); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
	if !rest.Accepts("gzip, deflate, br;q=0.5", "br") || rest.Accepts("gzip, br;q=0", "br") || rest.Accepts("gzip, brotli", "br") {
		t.Error("br")
	}
}

// TestHolds: people look at pages, programs at everything else.
func TestHolds(t *testing.T) {
	for path, want := range map[string]bool{
		"/decks": true, "/decks/ann/talk": true, "/docs": true, "/docs/x": true, "/share/T": true, "/ui": true, "/ui/": true, "/ui/keys": true,
		"/": false, "/uix": false, "/decksx/a": false, "/v1/decks": false, "/oembed": false, "/assets/1/ui.css": false, "/api/v1/ui": false,
		"/decks/ann/talk/live": false, "/share/T/live": false, "/decks/ann/live/edit": true,
	} {
		if got := Holds(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// TestEmbedSize: a frame has the deck's size or the largest of its proportions that fits, and never none.
func TestEmbedSize(t *testing.T) {
	for _, row := range []struct {
		width, height int64
		query         string
		w, h          int64
		field         string
	}{
		{960, 700, "", 960, 700, ""},
		{960, 700, "maxwidth=960&maxheight=700", 960, 700, ""},
		{960, 700, "maxwidth=959", 959, 699, ""},
		{960, 700, "maxwidth=480", 480, 350, ""},
		{960, 700, "maxheight=350", 480, 350, ""},
		{960, 700, "maxwidth=480&maxheight=175", 240, 175, ""},
		{960, 700, "maxwidth=240&maxheight=350", 240, 175, ""},
		{960, 700, "maxwidth=1", 1, 1, ""},
		{1, 5000, "maxheight=1", 1, 1, ""},
		{5000, 1, "maxwidth=10", 10, 1, ""},
		{960, 700, "maxwidth=2147483647", 960, 700, ""},
		{960, 700, "maxwidth=2147483648", 0, 0, "maxwidth"},
		{960, 700, "maxwidth=", 0, 0, "maxwidth"},
		{960, 700, "maxwidth=0", 0, 0, "maxwidth"},
		{960, 700, "maxheight=-1", 0, 0, "maxheight"},
		{960, 700, "maxheight=1.5", 0, 0, "maxheight"},
		{960, 700, "maxheight=10px", 0, 0, "maxheight"},
		{960, 700, "maxwidth=10&maxwidth=x", 10, 7, ""},
		{960, 700, "MAXWIDTH=10", 960, 700, ""},
	} {
		q, err := url.ParseQuery(row.query)
		if err != nil {
			t.Fatal(err)
		}
		w, h, err := embedSize(&web.Deck{Width: row.width, Height: row.height}, q)
		field := ""
		if err != nil {
			e, ok := err.(*fault.Error) //nolint:errorlint // the error itself is looked at
			if !ok || e.Kind != fault.Invalid {
				t.Errorf("%s: %v", row.query, err)
				continue
			}
			field = e.Field
		}
		if w != row.w || h != row.h || field != row.field {
			t.Errorf("%d × %d, %s: %d × %d, field %q; want %d × %d, %q", row.width, row.height, row.query, w, h, field, row.w, row.h, row.field)
		}
	}
}

// TestExplained: every code is on the page about errors with what it means, what to do, and a status that HTTP has.
func TestExplained(t *testing.T) {
	codes := explained()
	if len(codes) < 20 {
		t.Fatalf("%d codes", len(codes))
	}
	seen := map[string]bool{}
	for _, c := range codes {
		if c.Name == "" || seen[c.Name] || c.When == "" || len(c.Kinds) == 0 || len(c.Statuses) == 0 {
			t.Errorf("%+v", c)
		}
		seen[c.Name] = true
		for i, s := range c.Statuses {
			if s.Text == "" || s.Number < 400 || i > 0 && s == c.Statuses[i-1] {
				t.Errorf("%s: %+v", c.Name, c.Statuses)
			}
		}
	}
}
