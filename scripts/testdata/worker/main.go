// Command worker is a script worker and nothing else. Tests under the race detector,
// which needs more memory than a worker may have, start it instead of themselves.
package main

import (
	"os"

	"catena/scripts"
)

func main() { os.Exit(scripts.WorkerMain(os.Stdin, os.Stdout)) }
