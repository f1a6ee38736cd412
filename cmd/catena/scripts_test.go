package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dop251/goja"
	"github.com/google/uuid"

	"catena/engine"
)

// readers is the work of BenchmarkScripts: read a hundred documents by id and look at one
// property of each.
const readers = 100

// BenchmarkScripts compares a script that reads documents, deployed (in process) and sent
// by a caller (in a worker), with the least a script engine over the same store can do:
// goja with a reflected function that returns maps decoded from Badger.
func BenchmarkScripts(b *testing.B) {
	var base float64
	b.Run("read/floor", func(b *testing.B) { base = perSecond(b, floorScript(b)) })
	g := &global{data: b.TempDir(), logLevel: "error", logFormat: "text"}
	a, err := g.openWith(b.Context(), openOptions{adminPassword: adminPassword})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.close() })
	x := &bench{}
	x.prepare(b, a)
	x.fillCatena(b, a, readers)
	ids, _ := json.Marshal(x.catenaIDs)
	body := fmt.Sprintf("let n = 0; for (const id of %s) n += Repository.GetDocument(null, {value: id})[\"dc:title\"].length;", ids)
	deployed := "/**\n * @operation Bench.Read\n * @description Reads documents.\n * @effect reads\n */\nfunction run() { " + body + " return n; }\n"
	c, err := a.client(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if err := c.object(b.Context(), call{op: "Script.Save", params: map[string]any{"source": deployed}}, nil); err != nil {
		b.Fatal(err)
	}
	run := func(op string, params map[string]any) func() error {
		return func() error {
			_, err := a.engine.Run(b.Context(), engine.Call{Op: op, As: a.repo.System(), Params: params})
			return err
		}
	}
	for name, work := range map[string]func() error{
		"read/process": run("Bench.Read", nil),
		"read/worker":  run("RunScript", map[string]any{"script": body}),
	} {
		b.Run(name, func(b *testing.B) {
			got := perSecond(b, work)
			if base > 0 {
				b.ReportMetric(got/base, "ratio")
			}
		})
	}
}

func perSecond(b *testing.B, work func() error) float64 {
	b.Helper()
	for range 3 { // compiled programs and warm workers
		if err := work(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := work(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(b.N) / b.Elapsed().Seconds()
}

// floorScript reads maps out of Badger from a script.
func floorScript(b *testing.B) func() error {
	f := newFloor(b, false)
	var ids []string
	for range readers {
		d := floorDoc{ID: uuid.NewString(), Title: "a title", Properties: []byte(`{"dc:title":"a title","dc:description":"` + filler + `"}`)}
		if err := f.put(d); err != nil {
			b.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	list, _ := json.Marshal(ids)
	p := goja.MustCompile("floor", fmt.Sprintf(`let n = 0; for (const id of %s) n += get(id).properties["dc:title"].length;`, list), true)
	return func() error {
		return f.db.View(func(tx *badger.Txn) error {
			vm := goja.New()
			err := vm.Set("get", func(id string) (map[string]any, error) {
				item, err := tx.Get([]byte("d" + id))
				if err != nil {
					return nil, err
				}
				var m map[string]any
				err = item.Value(func(raw []byte) error { return json.Unmarshal(raw, &m) })
				return m, err
			})
			if err != nil {
				return err
			}
			_, err = vm.RunProgram(p)
			return err
		})
	}
}
