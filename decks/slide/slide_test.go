package slide

import (
	"fmt"
	"strings"
	"testing"

	"catena/decks/html"
)

const five = `<!-- begin -->
<section><h1>One</h1><p>x</p></section>
<section class="stack">
  <section>Two <b>words</b><aside class="notes">secret</aside></section>
  <section data-markdown><script type="text/template">
## Three **bold**
<section>no slide</section>
</script></section>
</section>
<section><section><h2>Four <i>f</i></h2></section></section>
<section><style>p{}</style><svg><title>t</title></svg></section>
`

func names(src string) string {
	var out []string
	for _, s := range Read(src).Slides {
		name := s.Title()
		if name == "" {
			name = "-"
		}
		out = append(out, fmt.Sprintf("%d.%d %s", s.Column, s.Row, strings.Fields(name)[0]))
	}
	return strings.Join(out, ", ")
}

func TestRead(t *testing.T) {
	if got, want := names(five), "1.1 One, 2.1 Two, 2.2 Three, 3.1 Four, 4.1 -"; got != want {
		t.Errorf("slides %s, want %s", got, want)
	}
	d := Read(five)
	for i, want := range []string{"One", "Two words", "Three bold", "Four f", ""} {
		if got := d.Slides[i].Title(); got != want {
			t.Errorf("slide %d: title %q, want %q", i+1, got, want)
		}
	}
	for _, n := range []int64{0, 6, -1} {
		if _, err := d.Slide(n); err == nil {
			t.Errorf("there is a slide %d", n)
		}
	}
}

// TestEdit changes slides in every way, and reads what comes of it.
func TestEdit(t *testing.T) {
	const new = `<section>New</section>`
	at := func(d *Deck, n int) *Slide {
		if n == 0 {
			return nil
		}
		return &d.Slides[n-1]
	}
	for _, c := range []struct {
		what         string
		slide, after int
		below        bool
		want         string
		number       int
	}{
		{"replace", 2, 0, false, "1.1 One, 2.1 New, 2.2 Three, 3.1 Four, 4.1 -", 0},
		{"remove", 1, 0, false, "1.1 Two, 1.2 Three, 2.1 Four, 3.1 -", 0},
		{"remove", 3, 0, false, "1.1 One, 2.1 Two, 3.1 Four, 4.1 -", 0},
		{"remove", 4, 0, false, "1.1 One, 2.1 Two, 2.2 Three, 3.1 -", 0},
		{"insert", 0, 0, false, "1.1 New, 2.1 One, 3.1 Two, 3.2 Three, 4.1 Four, 5.1 -", 1},
		{"insert", 0, 0, true, "1.1 New, 2.1 One, 3.1 Two, 3.2 Three, 4.1 Four, 5.1 -", 1},
		{"insert", 0, 2, false, "1.1 One, 2.1 Two, 2.2 Three, 3.1 New, 4.1 Four, 5.1 -", 4},
		{"insert", 0, 2, true, "1.1 One, 2.1 Two, 2.2 New, 2.3 Three, 3.1 Four, 4.1 -", 3},
		{"insert", 0, 1, true, "1.1 One, 1.2 New, 2.1 Two, 2.2 Three, 3.1 Four, 4.1 -", 2},
		{"insert", 0, 5, false, "1.1 One, 2.1 Two, 2.2 Three, 3.1 Four, 4.1 -, 5.1 New", 6},
		{"move", 1, 5, false, "1.1 Two, 1.2 Three, 2.1 Four, 3.1 -, 4.1 One", 5},
		{"move", 1, 2, true, "1.1 Two, 1.2 One, 1.3 Three, 2.1 Four, 3.1 -", 2},
		{"move", 3, 0, false, "1.1 Three, 2.1 One, 3.1 Two, 4.1 Four, 5.1 -", 1},
		{"move", 3, 3, false, "1.1 One, 2.1 Two, 3.1 Three, 4.1 Four, 5.1 -", 3},
		{"move", 4, 4, false, "1.1 One, 2.1 Two, 2.2 Three, 3.1 Four, 4.1 -", 4},
		{"move", 1, 1, false, "1.1 One, 2.1 Two, 2.2 Three, 3.1 Four, 4.1 -", 1},
		{"move", 3, 1, true, "1.1 One, 1.2 Three, 2.1 Two, 3.1 Four, 4.1 -", 2},
		{"move", 5, 4, true, "1.1 One, 2.1 Two, 2.2 Three, 3.1 Four, 3.2 -", 5},
		{"move", 2, 1, false, "1.1 One, 2.1 Two, 3.1 Three, 4.1 Four, 5.1 -", 2},
	} {
		d := Read(five)
		got, number := "", 0
		switch c.what {
		case "replace":
			got = d.Replace(at(d, c.slide), new)
		case "remove":
			got = d.Remove(at(d, c.slide))
		case "insert":
			got, number = d.Insert(at(d, c.after), c.below, new)
		case "move":
			var err error
			if got, number, err = d.Move(at(d, c.slide), at(d, c.after), c.below); err != nil {
				t.Errorf("%v: %v", c, err)
			}
		}
		if names(got) != c.want || number != c.number {
			t.Errorf("%s slide %d after %d, below %t: %s, number %d\nwant %s, number %d", c.what, c.slide, c.after, c.below, names(got), number, c.want, c.number)
		}
		if _, err := html.Clean(t.Context(), got); err != nil {
			t.Errorf("%v: %v\n%s", c, err, got)
		}
	}
	d := Read(five)
	if _, _, err := d.Move(&d.Slides[0], &d.Slides[0], true); err == nil {
		t.Error("a slide is below itself")
	}
	if src, number := Read("").Insert(nil, false, new); strings.TrimSpace(src) != new || number != 1 {
		t.Errorf("in an empty deck: %q, %d", src, number)
	}
}
