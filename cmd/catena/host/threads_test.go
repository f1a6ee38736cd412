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
		remote            bool
		before, want      int
	}{
		{"the whole machine", "", false, few, max(few, fewThreads)},
		{"rows in a database", "", true, few, few},
		{"the environment says how many", "2", false, few, few},
		{"part of the machine", "", false, few + 1, few + 1},
	} {
		t.Setenv("GOMAXPROCS", c.environment)
		runtime.GOMAXPROCS(c.before)
		if TuneThreads(c.remote); runtime.GOMAXPROCS(0) != c.want {
			t.Errorf("%s: %d threads, want %d", c.name, runtime.GOMAXPROCS(0), c.want)
		}
	}
}
