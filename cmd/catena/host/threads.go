package host

import (
	"os"
	"runtime"
)

// fewThreads is how many threads run Go code at least.
const fewThreads = 8

// Tune is TuneThreads and TuneMemory, for a server.
func Tune(remote bool) (started func()) {
	TuneThreads(remote)
	return TuneMemory(remote)
}

// TuneThreads has more threads than processors run Go code on a small machine. When the store merges its tables, ten goroutines
// compute for seconds. Go lets each go on for 10 ms, so that on two processors a request would wait 50 ms for its turn; the kernel
// gives a thread that has slept its turn at once. A thread also waits while it reads a page of a table from the disk, and nothing
// else runs in its place. Where rows are in a database, where a container may use only part of the machine, or the environment says how
// many there are, it stays so.
func TuneThreads(remote bool) {
	if n := runtime.GOMAXPROCS(0); !remote && os.Getenv("GOMAXPROCS") == "" && n == runtime.NumCPU() && n < fewThreads {
		runtime.GOMAXPROCS(fewThreads)
	}
}
