package limit

import "runtime"

// Processors is how many processors the process may use: those of the machine, or of the container if that has fewer. It is read
// before a server has more threads than processors.
var Processors = runtime.GOMAXPROCS(0)
