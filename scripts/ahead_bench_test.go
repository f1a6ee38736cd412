package scripts

import (
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"catena/engine"
	"catena/storage"
)

// BenchmarkAlong is a deployed script that reads 100 documents of a list and looks at a property of each, by one caller and by 16;
// what it calls is recorded each time. The floor reads the same documents in the server, without a script.
//
//	go test -run '^$' -bench Along ./scripts
func BenchmarkAlong(b *testing.B) {
	w := newWorld(b, Options{Limits: Limits{Workers: 4, PerUser: 4, QueueWait: DefaultLimits.Wall}})
	w.must("RunScript", nil, map[string]any{"script": "for (let i = 0; i < 100; i++) Document.Create('/ws', {type: 'File', name: 'd' + i, properties: {'dc:title': 'T' + i, 'dc:description': 'lorem ipsum '.repeat(60)}})"})
	paths := make([]string, 100)
	for i := range paths {
		paths[i] = strconv.Quote("/ws/d" + strconv.Itoa(i))
	}
	w.scripted("Bench.Along", "let n = 0; for (const p of ["+strings.Join(paths, ",")+"]) n += Repository.GetDocument(null, {value: p})['dc:title'].length; return n")
	script := func() error {
		_, err := w.e.Run(b.Context(), engine.Call{Op: "Bench.Along", As: w.e.System(), EntryPoint: engine.REST, Trace: true})
		return err
	}
	floor := func() error {
		return w.e.Repo().View(b.Context(), w.e.System(), func(tx *storage.Tx) error {
			for i := range paths {
				if _, err := tx.Doc(storage.Ref("/ws/d" + strconv.Itoa(i))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, arm := range []struct {
		name string
		run  func() error
	}{{"floor", floor}, {"script", script}} {
		b.Run(arm.name+"/c1", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := arm.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(arm.name+"/c16", func(b *testing.B) {
			b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
			b.ReportAllocs()
			var failed atomic.Pointer[error]
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := arm.run(); err != nil {
						failed.Store(&err)
					}
				}
			})
			if err := failed.Load(); err != nil {
				b.Fatal(*err)
			}
		})
	}
}
