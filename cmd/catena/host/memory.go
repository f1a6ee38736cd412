package host

import (
	"os"
	"runtime/debug"
	"time"
)

// memoryGoal is what the Go heap is to stay below where that costs little; documents a
// request holds may take more.
const memoryGoal = 224 << 20

// settling is how long after its start a server collects what only that needed: the first requests, which a start is there for, would
// wait for it, and would then read again the pages of the program that were given back.
const settling = time.Second

// remoteGarbage is how much garbage a server on a database may gather before it is collected, in percent of what it keeps. It keeps
// little, and would collect some ten times a second; memoryGoal bounds it as well.
const remoteGarbage = 400

// TuneMemory has the garbage collector work harder near memoryGoal, unless the environment says otherwise, and not below that
// until settling after the returned function was called, once the server has started: of what a start allocates much is kept, so that
// collecting it several times took a tenth of the start. Then it also gives back what only the start needed. Remote says that
// the rows are in a database.
func TuneMemory(remote bool) (started func()) {
	if os.Getenv("GOMEMLIMIT") != "" { // it may permit more than the machine has, or be off
		return func() { time.AfterFunc(settling, func() { releaseProgram() }) }
	}
	debug.SetMemoryLimit(memoryGoal) // holds during the start as well, which may replay a long log
	percent := debug.SetGCPercent(-1)
	if remote && os.Getenv("GOGC") == "" {
		percent = remoteGarbage
	}
	return func() {
		time.AfterFunc(settling, func() {
			debug.SetGCPercent(percent)
			debug.FreeOSMemory()
			releaseProgram()
		})
	}
}
