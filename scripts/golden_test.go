package scripts

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/openapi"
)

var update = flag.Bool("update", false, "write the golden files")

type everyParams struct {
	Text   string         `json:"text" doc:"A text."`
	Choice string         `json:"choice" default:"a" enum:"a,b" doc:"One of two."`
	Flag   bool           `json:"is A Flag" default:"true" doc:"A flag."`
	Number int64          `json:"number,omitzero" doc:"A number."`
	Date   time.Time      `json:"date,omitzero" doc:"A date."`
	Doc    engine.Ref     `json:"doc,omitzero" doc:"A document."`
	Docs   engine.Refs    `json:"docs,omitzero" doc:"Documents."`
	Props  engine.Props   `json:"props,omitzero" doc:"Properties."`
	List   []string       `json:"list,omitzero" doc:"Texts. */ Not the end."`
	Map    map[string]any `json:"map,omitzero" doc:"A map."`
	Any    any            `json:"any,omitzero" doc:"Anything."`
	Blob   *engine.Blob   `json:"blob,omitzero" doc:"A file."`
}

func (everyParams) doc(_ *engine.Ctx, d *engine.Doc) (*engine.Doc, error) { return d, nil }
func (everyParams) void(*engine.Ctx, engine.Void) (engine.Void, error)    { return engine.Void{}, nil }

func (everyParams) blob(_ *engine.Ctx, b *engine.Blob) (string, error) { return b.Name, nil }

func (noParams) doc(_ *engine.Ctx, d *engine.Doc) (engine.Docs, error) { return engine.Docs{d}, nil }

func (noParams) page(*engine.Ctx, engine.Void) (*engine.Page, error) { return &engine.Page{}, nil }

// TestGoldenTypes holds the typings of a set with every type word.
func TestGoldenTypes(t *testing.T) {
	set, err := engine.NewSet([]engine.Op{
		{
			Name: "Test.Every", Aliases: []string{"Every"}, Doc: "Takes everything.", Callers: engine.Anyone, Since: "1.0",
			Run: engine.Overload(engine.Each(everyParams.doc), engine.On(everyParams.blob), engine.On(everyParams.void)),
		},
		{Name: "Test.Delete", Aliases: []string{"Test.delete"}, Doc: "Has a reserved word for a name.", Callers: engine.Anyone, Run: engine.On(noParams.doc)},
		{
			Name: "Test.Webhook", Doc: "Returns a map of which the definition tells.", Callers: engine.Anyone, Result: openapi.Ref("Webhook"),
			Run: engine.On(func(noParams, *engine.Ctx, engine.Void) (map[string]any, error) { return nil, nil }),
		},
		{
			Name: "Test.Outline", Doc: "Returns a Go type.", Callers: engine.Anyone,
			Run: engine.On(func(noParams, *engine.Ctx, engine.Void) ([]outline, error) { return nil, nil }),
		},
		{Name: "Test.Deep.Down-Here (X)", Doc: "Has a name that JavaScript cannot write.", Callers: engine.Anyone, Run: engine.On(noParams.page)},
		{Name: "Proxy.GetSourceDocument", Doc: "Has the name of a global of the language.", Callers: engine.Anyone, Run: engine.On(noParams.page)},
		{Name: "Test.Deep", Doc: "Is an operation and a space.", Callers: engine.Anyone, Run: engine.On(noParams.page)},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Types(set)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "catena.d.ts")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: run with -update and look at the difference", file)
	}
}
