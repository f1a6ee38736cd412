package host

import (
	"runtime"
	"testing"
)

func TestTuneThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	few := runtime.NumCPU()
	for _, c := range []struct {
		name, environment string
		before, want      int
	}{
		{"the whole machine", "", few, max(few, fewThreads)},
		{"the environment says how many", "2", few, few},
		{"part of the machine", "", few + 1, few + 1},
	} {
		t.Setenv("GOMAXPROCS", c.environment)
		runtime.GOMAXPROCS(c.before)
		if TuneThreads(); runtime.GOMAXPROCS(0) != c.want {
			t.Errorf("%s: %d threads, want %d", c.name, runtime.GOMAXPROCS(0), c.want)
		}
	}
}
