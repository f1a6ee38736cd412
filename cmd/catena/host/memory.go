package host

import (
	"os"
	"runtime/debug"
)

// memoryGoal is what the Go heap is to stay below where that costs little; documents a
// request holds may take more.
const memoryGoal = 224 << 20

// TuneMemory has the garbage collector work harder near memoryGoal, unless the environment says otherwise, and not at all
// until the returned function is called, once the server has started: of what a start allocates much is kept, so that
// collecting it several times took a tenth of the start. That function also gives back what only the start needed.
func TuneMemory() (started func()) {
	if os.Getenv("GOMEMLIMIT") != "" { // it may permit more than the machine has, or be off
		return func() { go releaseProgram() }
	}
	debug.SetMemoryLimit(memoryGoal) // holds during the start as well, which may replay a long log
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		go func() {
			debug.FreeOSMemory()
			releaseProgram()
		}()
	}
}
