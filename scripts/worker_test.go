package scripts

import (
	"context"
	"os"
	"testing"
)

// TestMain is a worker when the tests start themselves as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(WorkerMain(os.Stdin, os.Stdout))
	}
	places["worker"] = inWorker
	os.Exit(m.Run())
}

func self() []string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []string{exe, "worker"}
}

// shared runs what needs no limits of its own.
var shared = New(Options{Worker: self()})

func inWorker(h host, l Limits, file, source string, strict bool, in any, params map[string]any) (any, error) {
	r := shared
	if l != (Limits{}) {
		l.Spares = 1
		r = New(Options{Worker: self(), Limits: l})
		defer r.Close()
	}
	return r.runInWorker(context.Background(), "bob", h, newNames(fakeOps), job{file: file, source: source, strict: strict}, in, params)
}
