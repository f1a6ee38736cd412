package host

import (
	"os"
	"runtime/debug"
)

// memoryGoal is what the Go heap is to stay below where that costs little; documents a
// request holds may take more.
const memoryGoal = 224 << 20

// TuneMemory has the garbage collector work harder near memoryGoal, unless the
// environment says otherwise.
func TuneMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
}
