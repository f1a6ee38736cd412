package pdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"catena/engine/worker"
	"catena/storage/fault"
)

// WorkerMain is a worker process: it does the one task that comes in. The server calls it before anything else when it
// is started as such a worker; the result is the exit code.
func WorkerMain(in io.Reader, out io.Writer) int {
	// A stack that overflows ends the process in a way that the server recognises. The memory limit makes the
	// collector work harder before the hard limit of Confine is reached.
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(64 << 20)
	debug.SetMemoryLimit(maxMemory * 3 / 4)
	err := worker.Confine(maxMemory)
	if err == nil {
		err = serve(in, out)
	}
	if err != nil {
		_, _ = io.WriteString(os.Stderr, "worker: "+err.Error()+"\n")
		return 1
	}
	return 0
}

// serve does one task, and waits until the answer is read.
func serve(in io.Reader, out io.Writer) error {
	var t task
	if err := readJSON(in, &t); err != nil {
		return err
	}
	files := make([]io.ReadSeeker, len(t.Sizes))
	for i, size := range t.Sizes {
		b := make([]byte, size)
		if _, err := io.ReadFull(in, b); err != nil {
			return err
		}
		files[i] = bytes.NewReader(b)
	}
	var made bytes.Buffer
	r, err := t.do(files, &made)
	if err != nil {
		r.Kind, r.Why = fault.Of(err), err.Error()
		made.Reset()
	}
	if err := writeJSON(out, r); err != nil {
		return err
	}
	if err := binary.Write(out, binary.LittleEndian, int64(made.Len())); err != nil {
		return err
	}
	if _, err := made.WriteTo(out); err != nil {
		return err
	}
	_, err = in.Read(make([]byte, 1)) // the pipes are there as long as the process
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
