package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest"
)

// deckHTML is a deck of thirty slides, 6 KB.
var deckHTML = strings.Repeat(`<section><h2>A heading</h2><ul><li class="fragment">lorem ipsum dolor sit amet</li><li>consectetur adipiscing elit</li></ul><aside class="notes">say it</aside></section>`, 30)

// BenchmarkDecks compares the deck service with the floor: a deck, a page of 20 of 10,000 with
// the total, a new deck, a new title of one. The floor keeps a deck of the same size as one
// record, and its pages hold 50 records without HTML.
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
	if err := f.put(floorDoc{ID: "deck", Title: "a title", Properties: []byte(`{"data":` + string(html) + `}`)}); err != nil {
		b.Fatal(err)
	}
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
		{"detail", get("/docs/deck"), func(i int) []byte { return getRaw(fmt.Sprintf("/v1/decks/%d?revision=b", 1+spread(i, decks))) }},
		{"list", x.floorPage, get("/v1/decks?per_page=20&page=250")},
		{"firstPage", x.floorPage, get("/v1/decks?per_page=20")},
		{"create", post("/docs", body), post("/v1/decks", `{"title":"a title","data":`+string(html)+`}`)},
		{"patchTitle", post("/docs", floorBody), func(i int) []byte {
			return []byte(strings.Replace(string(post(fmt.Sprintf("/v1/decks/%d?revision=a", 1+spread(i, decks)), fmt.Sprintf(`{"title":"title %08d"}`, i))(0)), "POST", "PATCH", 1))
		}},
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
		return s.With([]engine.Op{{Name: "Bench.Decks", Doc: "Makes many decks.", Run: engine.On(fillOfDecks.run)}})
	})
	if err != nil {
		b.Fatal(err)
	}
	as, err := a.engine.PrincipalOf(b.Context(), "Administrator")
	if err != nil {
		b.Fatal(err)
	}
	for range decks / 100 {
		if _, err := a.engine.Run(b.Context(), engine.Call{Op: "Bench.Decks", As: as, Door: engine.REST}); err != nil {
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
