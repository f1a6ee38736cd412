package startup

import (
	"runtime/debug"
	"testing"
)

// The collector waits for 32 MB until Collect is called, and works as the environment sets it from then on.
func TestCollect(t *testing.T) {
	now := func() int {
		p := debug.SetGCPercent(-1)
		debug.SetGCPercent(p)
		return p
	}
	if got := now(); got != 800 {
		t.Errorf("at first: %d", got)
	}
	Collect()
	if got := now(); got != percent || got == 800 {
		t.Errorf("afterwards: %d, the environment says %d", got, percent)
	}
}
