package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dop251/goja"
	"github.com/julienschmidt/httprouter"

	"catena/engine"
	"catena/rest"
)

// scripted are the works of BenchmarkScripts: the statements of a script on the floor and on catena.
var scripted = []struct{ name, floor, catena string }{
	{"calls", `for (let i = 0; i < 100; i++) call("x", {n: i})`, `for (let i = 0; i < 100; i++) Bench.Call("x", {n: i})`},
	{"values", `let s = ""; for (let i = 0; i < 100; i++) s = call("x" + i, {n: s.length})`, `let s = ""; for (let i = 0; i < 100; i++) s = Bench.Call("x" + i, {n: s.length})`},
	{
		"read", `let n = 0; for (const id of IDS) n += get(id).properties["dc:title"].length`,
		`let n = 0; for (const id of IDS) n += Repository.GetDocument(null, {value: id})["dc:title"].length`,
	},
	{
		"given", `let n = 0; for (const id of params.ids) n += get(id).properties["dc:title"].length`,
		`let n = 0; for (const id of params.ids) n += Repository.GetDocument(null, {value: id})["dc:title"].length`,
	},
}

// BenchmarkScripts calls deployed scripts over 1 and 16 kept-alive connections: 100 calls of an operation that does
// nothing, whose values are not used or used, and 100 documents read by ids that are in the script or given with the
// request, of which one property each is looked at. The floor has the same scripts compiled, and runs them in its own
// process, without limits, in a fresh goja runtime with plain Go functions: one that takes what operations take, an
// input and parameters, and returns its input, and one that returns a map decoded from Badger. The isolated floor runs them
// in processes of their own, which can be ended and bounded, and asks through pipes for every call.
//
//	go test -run '^$' -bench Scripts ./cmd/catena
func BenchmarkScripts(b *testing.B) {
	x := &bench{}
	f := newFloor(b, false)
	x.fillFloor(b, f, 100)
	g := &global{data: b.TempDir(), logLevel: "error", logFormat: "text"}
	a, err := g.openWith(b.Context(), openOptions{adminPassword: adminPassword})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.close() })
	x.prepare(b, a)
	x.fillCatena(b, a, 100)
	err = a.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{Name: "Bench.Call", Doc: "Passes its input on.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(numberedNoop.run)}})
	})
	if err != nil {
		b.Fatal(err)
	}
	x.floorAddr, x.catenaAddr = listen(b, f.scripts(x.floorIDs)), listen(b, a.handler(rest.Config{}))
	isolatedAddr := listen(b, f.isolatedScripts(b, x.floorIDs))
	c, err := a.client(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	catenaIDs, _ := json.Marshal(x.catenaIDs)
	floorIDs, _ := json.Marshal(x.floorIDs)
	for _, w := range scripted {
		source := "/**\n * @operation Bench." + w.name + "\n * @description Works.\n * @param {list} [ids]\n * @effect reads\n */\n" +
			"function run(input, params) { " + strings.ReplaceAll(w.catena, "IDS", string(catenaIDs)) + "; return 1 }\n"
		if err := c.object(b.Context(), call{op: "Script.Save", params: map[string]any{"source": source}}, nil); err != nil {
			b.Fatal(err)
		}
		body := func(ids []byte) string {
			if w.name != "given" {
				return `{"params":{}}`
			}
			return `{"params":{"ids":` + string(ids) + `}}`
		}
		for _, conns := range []int{1, 16} {
			var base, apart float64
			b.Run(fmt.Sprintf("%s/floor/c%d", w.name, conns), func(b *testing.B) {
				base = load(b, x.floorAddr, conns, post("/"+w.name, body(floorIDs)))
			})
			b.Run(fmt.Sprintf("%s/isolated/c%d", w.name, conns), func(b *testing.B) {
				apart = load(b, isolatedAddr, conns, post("/"+w.name, body(floorIDs)))
			})
			b.Run(fmt.Sprintf("%s/catena/c%d", w.name, conns), func(b *testing.B) {
				before := childrenTime()
				got := load(b, x.catenaAddr, conns, post("/api/v1/automation/Bench."+w.name, body(catenaIDs)))
				b.ReportMetric(float64(childrenTime()-before)*1e4/float64(b.N), "workers-µs/op")
				if base > 0 {
					b.ReportMetric(got/base, "ratio")
				}
				if apart > 0 {
					b.ReportMetric(got/apart, "isolated-ratio")
				}
			})
		}
	}
}

// numberedNoop passes its input on.
type numberedNoop struct {
	N int64 `json:"n" doc:"A number."`
}

func (numberedNoop) run(_ *engine.Ctx, in string) (string, error) { return in, nil }

// childrenTime is the processor time of this process's children, in hundredths of a second.
func childrenTime() (total int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		raw, _ := os.ReadFile(file)
		_, after, _ := strings.Cut(string(raw), ") ")
		f := strings.Fields(after)
		if len(f) > 12 && f[1] == strconv.Itoa(os.Getpid()) {
			user, _ := strconv.ParseInt(f[11], 10, 64)
			system, _ := strconv.ParseInt(f[12], 10, 64)
			total += user + system
		}
	}
	return total
}

// scripts answers the requests of BenchmarkScripts.
func (f *floor) scripts(ids []string) http.Handler {
	list, _ := json.Marshal(ids)
	r := httprouter.New()
	for _, w := range scripted {
		p := goja.MustCompile("floor", "(function (params) { "+strings.ReplaceAll(w.floor, "IDS", string(list))+"; return 1 })(params)", true)
		r.POST("/"+w.name, func(rw http.ResponseWriter, r *http.Request, _ httprouter.Params) {
			var body struct {
				Params map[string]any `json:"params"`
			}
			if json.NewDecoder(r.Body).Decode(&body) != nil {
				rw.WriteHeader(http.StatusBadRequest)
				return
			}
			v, err := f.script(p, body.Params)
			if err != nil {
				rw.WriteHeader(http.StatusInternalServerError)
				return
			}
			floorAnswer(rw, map[string]any{"entity-type": "number", "value": v.Export()})
		})
	}
	return r
}

func (f *floor) script(p *goja.Program, params map[string]any) (v goja.Value, err error) {
	err = f.db.View(func(tx *badger.Txn) error {
		vm := goja.New()
		if err := vm.Set("params", params); err != nil {
			return err
		}
		if err := vm.Set("call", func(in any, _ map[string]any) (any, error) { return in, nil }); err != nil {
			return err
		}
		if err := vm.Set("get", func(id string) (map[string]any, error) {
			item, err := tx.Get([]byte("d" + id))
			if err != nil {
				return nil, err
			}
			var m map[string]any
			err = item.Value(func(raw []byte) error { return json.Unmarshal(raw, &m) })
			return m, err
		}); err != nil {
			return err
		}
		v, err = vm.RunProgram(p)
		return err
	})
	return v, err
}
