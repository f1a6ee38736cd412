// Command panicframe ends with "found pointer to free object" although it does nothing unsafe. A fault of the Go
// runtime is the cause, in Go 1.22 to 1.26.8 and 1.27rc1, but not in 1.21.
//
// While a goroutine panics, runtime._panic.fp points to the argument area of the function whose deferred calls run. The
// parameters of run are too large for registers, so they begin just there, and since their address was taken they are
// a stack object: to the garbage collector they are live if something points to them. Nothing has since look returned,
// so a first collection frees what they point to. Then the panic's own pointer makes them live again, and the second
// collection marks an object that is free.
package main

import (
	"fmt"
	"runtime"
)

type params struct {
	p   *[2]*int
	pad [24]*int
}

//go:noinline
func look(p *params) int { return len(p.p) }

//go:noinline
func allocate() *[2]*int { return new([2]*int) }

//go:noinline
func run(p params) {
	defer func() {
		runtime.GC() // marks
		runtime.GC() // has swept
		_ = recover()
	}()
	look(&p)
	runtime.GC()
	runtime.GC()
	panic("any")
}

//go:noinline
func start() { run(params{p: allocate()}) }

func main() {
	for range 100 {
		start()
	}
	fmt.Println("survived")
}
