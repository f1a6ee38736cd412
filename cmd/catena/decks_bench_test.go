package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"catena/engine"
	"catena/rest"
)

// benchSlides are what the slides of a deck are made of, in turn: %[1]d is the slide's number, %[2]s
// eight digits of the deck's own, so that no two decks have the same HTML.
var benchSlides = []string{
	"<section data-background-color=\"#20304%[1]x\" data-transition=\"zoom\" id=\"s%[1]d-%[2]s\">\n\t<h1 class=\"r-fit-text\">Rivers &amp; roads, part %[1]d</h1>\n\t<p><small>by <a href=\"https://example.org/people/ann?from=deck&amp;slide=%[1]d\" target=\"_blank\">Ann Ä. Writer</a></small></p>\n",
	"<section data-auto-animate>\n\t<h2>What a river does all day</h2>\n\t<ul>\n\t\t<li class=\"fragment\">It carries water, sand and the odd shopping trolley to the sea</li>\n\t\t<li class=\"fragment fade-up\" data-fragment-index=\"2\">It takes <em>land</em> from one bank and gives it to the <strong>other</strong></li>\n\t\t<li class=\"fragment highlight-red\">It floods every %[1]d years &#8212; in the mean</li>\n\t</ul>\n",
	"<section>\n\t<h3>Measured upstream</h3>\n\t<pre><code class=\"language-go\" data-trim data-line-numbers=\"1-3|5|7-9\">\nfunc level(at time.Time, g *Gauge) (float64, error) {\n\tif at.Before(g.Since) &amp;&amp; !g.Open {\n\t\treturn 0, fmt.Errorf(\"gauge %%s: no level before %%s\", g.Name, g.Since)\n\t}\n\tfor i, v := range g.Levels {\n\t\tif v.At &gt;= at.Unix() {\n\t\t\treturn g.Levels[max(i-1, 0)].Metres, nil\n\t\t}\n\t}\n\treturn g.Last().Metres, nil // slide %[1]d\n}\n</code></pre>\n",
	"<section>\n\t<div class=\"sl-block\" data-block-type=\"image\" style=\"width: 640px; height: 360px; left: 160px; top: 120px;\">\n\t\t<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" preserveAspectRatio=\"none\" role=\"img\"><title>Levels of %[1]d gauges</title><g fill=\"none\" stroke=\"#17b2c3\" stroke-width=\"3\" stroke-linecap=\"round\"><path d=\"M0 320 L40 300 L80 310 L120 250 L160 262 L200 180 L240 199 L280 140 L320 121 L360 160 L400 90 L440 104 L480 60 L520 72 L560 33 L600 41 L640 12\"/><line x1=\"0\" y1=\"340\" x2=\"640\" y2=\"340\"/></g><text x=\"12\" y=\"24\" font-size=\"18\" fill=\"#283b95\">metres above the sea</text></svg>\n\t</div>\n",
	"<section data-background-image=\"https://example.org/pictures/delta.jpg\" data-background-size=\"cover\">\n\t<h2 style=\"color: white; text-shadow: 0 0 8px rgba(0, 0, 0, .6)\">The delta</h2>\n\t<table>\n\t\t<thead><tr><th>Arm</th><th>Length</th><th>Flow</th></tr></thead>\n\t\t<tbody>\n\t\t\t<tr><td>North</td><td>%[1]d km</td><td>31 %%</td></tr>\n\t\t\t<tr><td>Middle</td><td>44 km</td><td>57 %%</td></tr>\n\t\t\t<tr><td colspan=\"2\">Salt marsh</td><td>the rest</td></tr>\n\t\t</tbody>\n\t</table>\n\t<img data-src=\"https://example.org/pictures/boat.png\" alt=\"A boat\" width=\"320\" height=\"180\">\n",
}

// benchNotes end every slide.
const benchNotes = "\t<p>" + "Everything that can be said about it is on the next slide, in smaller letters; the source is a report of the water board, second edition, which nobody has read to its end. " +
	"Those who want to know more may ask afterwards, when there is coffee &mdash; and biscuits.</p>\n\t<p style=\"font-size: 60%%; text-align: left\">" +
	"Figures are of the last full year, rounded; gauges that stood still for more than a week are left out, and so are those on bridges that were being painted. " +
	"A <a href=\"https://example.org/data\">table of all of them</a> comes with the handout.</p>\n" +
	"\t<ol style=\"font-size: 60%%\">\n\t\t<li class=\"fragment fade-in-then-semi-out\">Rain in the <b>upper</b> valley</li>\n\t\t<li class=\"fragment fade-in-then-semi-out\">Snow that melts, <i>late</i></li>\n" +
	"\t\t<li class=\"fragment fade-in-then-semi-out\">Springs, see <a href=\"#/%[1]d\">there</a></li>\n\t</ol>\n" +
	"\t<aside class=\"notes\">Wait for the laugh on slide %[1]d.<p>Then ask who has seen the delta.</p></aside>\n</section>\n"

// deckSeed stands where a deck's own eight digits go.
const deckSeed = "00000000"

// deckHTML is a deck of thirty slides, 42 KB, as people write them: headings, lists that come
// step by step, code, drawings, tables, styles and speaker notes.
var deckHTML = func() string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, benchSlides[i%len(benchSlides)]+benchNotes, i+1, deckSeed)
	}
	return b.String()
}()

// seeded is a request whose deck has digits of its own each time; the copy of the body is part
// of what both sides are measured with.
func seeded(request []byte) func(int) []byte {
	var n atomic.Int64
	parts := bytes.Split(request, []byte(deckSeed))
	return func(int) []byte { return bytes.Join(parts, fmt.Appendf(nil, "%08d", n.Add(1))) }
}

// floorDecks is how many decks the floor has.
const floorDecks = 500

// patch gives the i-th deck a new title.
func patch(path string, i int) []byte {
	return bytes.Replace(post(path, fmt.Sprintf(`{"title":"title %08d"}`, i))(0), []byte("POST"), []byte("PATCH"), 1)
}

// BenchmarkDecks compares the deck service with the floor: a deck, one that the client has
// already, a page of 20 of 10,000 with the total, a new deck, a new title of one. The floor
// keeps a deck of the same size as one record, which it reads and writes whole for a new title,
// and its pages hold 50 records without HTML; listOfWhole compares the same page with 30 decks
// read whole, of which a server that does more than the floor reads 0.06 to 0.09 as many a second.
//
//	go test -run '^$' -bench Decks ./cmd/catena
func BenchmarkDecks(b *testing.B) {
	const decks = 10_000
	x := &bench{}
	f := newFloor(b, true)
	x.fillFloor(b, f, decks)
	x.floorAddr = listen(b, f.handler())
	html, err := json.Marshal(deckHTML)
	if err != nil {
		b.Fatal(err)
	}
	body := `{"title":"a title","properties":{"data":` + string(html) + `}}`
	for i := range floorDecks {
		d := floorDoc{ID: fmt.Sprintf("deck-%d", i), Title: "a title", Modified: decks + int64(i), Properties: []byte(`{"data":` + string(html) + `}`)}
		if err := f.put(d); err != nil {
			b.Fatal(err)
		}
	}
	deck := func(i int) []byte { return getRaw(fmt.Sprintf("/docs/deck-%d", spread(i, floorDecks))) }
	g := &global{data: b.TempDir(), logLevel: "error", logFormat: "text"}
	a, err := g.openWith(b.Context(), openOptions{adminPassword: adminPassword})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.close() })
	fillDecks(b, a, decks)
	x.catenaAddr = listen(b, a.handler(rest.Config{Limits: rest.Limits{Rate: -1}}))
	get := func(path string) func(int) []byte { return func(int) []byte { return getRaw(path) } }
	for _, w := range []struct {
		name          string
		floor, catena func(i int) []byte
	}{
		{"detail", deck, func(i int) []byte { return getRaw(fmt.Sprintf("/v1/decks/%d?revision=b", 1+spread(i, decks))) }},
		{"detailCopied", func(i int) []byte { return getRaw(fmt.Sprintf("/copied/deck-%d", spread(i, floorDecks))) }, func(i int) []byte { return getRaw(fmt.Sprintf("/v1/decks/%d?revision=b", 1+spread(i, floorDecks))) }},
		{"unchanged", deck, func(i int) []byte {
			return bytes.Replace(getRaw(fmt.Sprintf("/v1/decks/%d?revision=b", 1+spread(i, decks))), []byte("\r\n\r\n"), []byte("\r\nIf-None-Match: \"0-b\"\r\n\r\n"), 1)
		}},
		{"list", x.floorPage, get("/v1/decks?per_page=20&page=250")},
		{"firstPage", x.floorPage, get("/v1/decks?per_page=20")},
		{"listOfWhole", get(fmt.Sprintf("/page?from=%d&size=30", decks)), get("/v1/decks?per_page=20&page=250")},
		{"create", seeded(post("/docs", body)(0)), seeded(post("/v1/decks", `{"title":"a title `+deckSeed+`","data":`+string(html)+`}`)(0))},
		{
			"patchTitle",
			func(i int) []byte { return patch(fmt.Sprintf("/docs/deck-%d", spread(i, floorDecks)), i) },
			func(i int) []byte { return patch(fmt.Sprintf("/v1/decks/%d?revision=a", 1+spread(i, decks)), i) },
		},
	} {
		for _, conns := range []int{1, 16} {
			var base float64
			b.Run(fmt.Sprintf("%s/floor/c%d", w.name, conns), func(b *testing.B) { base = load(b, x.floorAddr, conns, w.floor) })
			b.Run(fmt.Sprintf("%s/catena/c%d", w.name, conns), func(b *testing.B) {
				got := load(b, x.catenaAddr, conns, w.catena)
				if base > 0 {
					b.ReportMetric(got/base, "ratio")
				}
			})
		}
	}
}

// fillDecks makes decks of Administrator, a hundred in a transaction.
func fillDecks(b *testing.B, a *app, decks int) {
	b.Helper()
	err := a.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{Name: "Bench.Decks", Doc: "Makes many decks.", Callers: engine.Anyone, Run: engine.On(fillOfDecks.run)}})
	})
	if err != nil {
		b.Fatal(err)
	}
	as, err := a.engine.PrincipalOf(b.Context(), "Administrator")
	if err != nil {
		b.Fatal(err)
	}
	for range decks / 100 {
		if _, err := a.engine.Run(b.Context(), engine.Call{Op: "Bench.Decks", As: as, EntryPoint: engine.REST}); err != nil {
			b.Fatal(err)
		}
	}
}

type fillOfDecks struct{}

func (fillOfDecks) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	for i := range 100 {
		if _, err := c.Call("Deck.Create", nil, map[string]any{"title": fmt.Sprintf("deck %s", c.NewID()[i%8:]), "data": deckHTML}); err != nil {
			return engine.Void{}, err
		}
	}
	return engine.Void{}, nil
}
