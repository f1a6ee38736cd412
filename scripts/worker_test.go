package scripts

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestMain is a worker when the tests start themselves as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(WorkerMain(os.Stdin, os.Stdout))
	}
	places["worker"] = inWorker
	shared = New(Options{Worker: self()})
	code := m.Run()
	_ = shared.Close()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// self is the command line of a worker: the tests themselves.
var self = sync.OnceValue(func() []string {
	if !underRace {
		exe, err := os.Executable()
		if err != nil {
			panic(err)
		}
		return []string{exe, "worker"}
	}
	dir, err := os.MkdirTemp("", "catena-worker")
	if err != nil {
		panic(err)
	}
	built = dir
	exe := filepath.Join(dir, "worker")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", exe, "./testdata/worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return []string{exe}
})

// built is the folder of a worker that was built for the tests.
var built string

// shared runs what needs no limits of its own.
var shared *Runner

func inWorker(h recorder, l Limits, file, source string, strict bool, in any, params map[string]any) (any, error) {
	r := shared
	if l != (Limits{}) {
		l.Spares = 1
		r = New(Options{Worker: self(), Limits: l})
		defer r.Close()
	}
	return r.submit(context.Background(), "bob", h, newNames(fakeOps, fakeReads...), newJob(file, source, strict), in, params)
}

// submit runs a job for user with a host of the tests.
func (r *Runner) submit(ctx context.Context, user string, h recorder, n *names, j job, in any, params map[string]any) (any, error) {
	t, end, err := r.begin(ctx, user)
	if err != nil {
		return nil, err
	}
	defer end()
	if j.owner == "" {
		j.owner = user
	}
	return r.runInWorker(ctx, &supervisor{turn: t, host: h, names: n, job: j}, in, params)
}
