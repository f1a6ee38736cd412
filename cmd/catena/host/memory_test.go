package host

import (
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// Nothing is collected from the beginning of a start until settling after it, however soon a server answers.
func TestTuneMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	now := func() int {
		p := debug.SetGCPercent(-1)
		debug.SetGCPercent(p)
		return p
	}
	limit, usual := debug.SetMemoryLimit(-1), now()
	t.Cleanup(func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(usual)
	})
	synctest.Test(t, func(t *testing.T) {
		started := TuneMemory(false)
		time.Sleep(time.Minute)
		started()
		time.Sleep(settling - time.Millisecond)
		if got := now(); got != -1 || debug.SetMemoryLimit(-1) != memoryGoal {
			t.Errorf("before the server has settled: %d percent, limit %d", got, debug.SetMemoryLimit(-1))
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if got := now(); got != usual {
			t.Errorf("afterwards: %d percent, not %d", got, usual)
		}
	})
}
