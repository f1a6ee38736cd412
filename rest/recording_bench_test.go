package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest/resttest"
)

func addDot(_ none, _ *engine.Ctx, in string) (string, error) { return in + ".", nil }

// BenchmarkRecording runs a chain of ten steps without and with every run recorded: by the engine alone, and over HTTP.
func BenchmarkRecording(b *testing.B) {
	ops := append(testOps[:len(testOps):len(testOps)], engine.Op{Name: "Test.Dot", Doc: "Appends a full stop.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(addDot)})
	for _, c := range []struct {
		name   string
		sample int
	}{{"Off", -1}, {"On", 1}} {
		s := resttest.Start(b, resttest.Config{Ops: ops, Deployed: deployed, Single: true, Engine: func(e *engine.Config) {
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
			for b.Loop() {
				if _, err := s.Engine.Run(ctx, call); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/HTTP", func(b *testing.B) {
			const body = `{"input":"x","params":{}}`
			repeat(b, s.Listener.Addr().String(), fmt.Sprintf("POST /api/v1/automation/Bench.Ten HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				basic, len(body), body))
		})
		stop()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: %+v", c.name, s.Engine.RunCounts())
	}
}
