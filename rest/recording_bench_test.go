//go:build unix

package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"catena/engine"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/badger"
	"catena/storage/kv"
)

func addDot(_ none, _ *engine.Ctx, in string) (string, error) { return in + ".", nil }

// processorTime is what the process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRecording runs a chain of ten steps without and with every run recorded, in a data directory: by the engine alone, and over HTTP
// with 16 connections. The time of the processor is that of the caller and of what is written later.
func BenchmarkRecording(b *testing.B) {
	ops := append(testOps[:len(testOps):len(testOps)], engine.Op{Name: "Test.Dot", Doc: "Appends a full stop.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(addDot)})
	for _, c := range []struct {
		name   string
		sample int
	}{{"Off", -1}, {"On", 1}} {
		store, err := badger.Open(b.TempDir(), badger.Options{})
		if err != nil {
			b.Fatal(err)
		}
		db := kv.New(store, kv.Options{})
		b.Cleanup(func() { _ = db.Close() })
		s := resttest.Start(b, resttest.Config{Ops: ops, Deployed: deployed, Single: true, Storage: func(c *storage.Config) { c.DB = db }, Engine: func(e *engine.Config) {
			e.Limits.RunSample, e.Limits.RunRate, e.Limits.RunQueue = c.sample, 1<<40, 100_000
		}})
		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Engine.RecordRuns(ctx, nil) }()
		source, _ := json.Marshal("name: Bench.Ten\ninput: string\noutput: string\nsteps:\n" + strings.Repeat("  - op: Test.Dot\n", 10))
		if a := s.Do("POST", "/api/v1/automation/Chain.Save", fmt.Sprintf(`{"params":{"source":%s}}`, source)); a.StatusCode != http.StatusOK {
			b.Fatal(a.Text)
		}
		b.Run(c.name+"/Engine", func(b *testing.B) {
			call := engine.Call{
				Op: "Bench.Ten", Input: "x", RawParams: json.RawMessage(`{}`), As: s.Engine.System(), EntryPoint: engine.REST, RequestID: "0123456789abcdef",
				Asked: &engine.Asked{Input: json.RawMessage(`"x"`)},
			}
			b.ReportAllocs()
			before := processorTime(b)
			for b.Loop() {
				if _, err := s.Engine.Run(ctx, call); err != nil {
					b.Fatal(err)
				}
			}
			time.Sleep(500 * time.Millisecond) // until all is written
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
		b.Run(c.name+"/HTTP", func(b *testing.B) {
			const body = `{"input":"x","params":{}}`
			before := processorTime(b)
			repeat(b, s.Listener.Addr().String(), fmt.Sprintf("POST /api/v1/automation/Bench.Ten HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				basic, len(body), body))
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
		stop()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: %+v", c.name, s.Engine.RunCounts())
	}
}
