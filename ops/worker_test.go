package ops_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"catena/scripts"
)

// TestMain is a script worker when the tests start themselves as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(scripts.WorkerMain(os.Stdin, os.Stdout))
	}
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// built is the folder of a worker that was built for the tests.
var built string

// worker is the command line of a script worker: the tests themselves, or one built for them.
var worker = sync.OnceValues(func() ([]string, error) {
	if !underRace {
		exe, err := os.Executable()
		return []string{exe, "worker"}, err
	}
	dir, err := os.MkdirTemp("", "catena-worker")
	if err != nil {
		return nil, err
	}
	built = dir
	exe := filepath.Join(dir, "worker")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", exe, "../scripts/testdata/worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does
	build.Stderr = os.Stderr
	return []string{exe}, build.Run()
})
