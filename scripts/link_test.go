package scripts

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// pair is both ends of a conversation within this process.
func pair() (server, worker *link, end func()) {
	mem := make([]byte, shareSize+64)
	mem = mem[-int(uintptr(unsafe.Pointer(&mem[0])))&63:] // words are on cache lines
	fromServer, toWorker := io.Pipe()
	fromWorker, toServer := io.Pipe()
	server = newLink(mem, true, fromWorker, deepPipe{toWorker})
	worker = newLink(mem, false, fromServer, deepPipe{toServer})
	return server, worker, func() { _, _ = toWorker.Close(), toServer.Close() }
}

// deepPipe is a pipe whose writer need not wait, like those of the system.
type deepPipe struct{ w *io.PipeWriter }

func (d deepPipe) Write(p []byte) (int, error) {
	go func() { _, _ = d.w.Write(bytes.Clone(p)) }()
	return len(p), nil
}

func (d deepPipe) Close() error { return d.w.Close() }

// TestLink sends texts of all lengths there and back, some of them longer than a ring, with
// pauses that put either side to sleep.
func TestLink(t *testing.T) {
	server, worker, end := pair()
	defer end()
	sizes := []int{1, 2, 63, 4096, ringSize - 1, ringSize, ringSize + 1, 3*ringSize + 7}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		sizes = append(sizes, 1+rnd.IntN(300))
	}
	go func() {
		buf := make([]byte, 5*ringSize)
		for i, n := range sizes {
			if _, err := io.ReadFull(worker, buf[:n]); err != nil {
				t.Error(err)
				return
			}
			if i%50 == 20 {
				time.Sleep(time.Millisecond)
			}
			if _, err := worker.Write(buf[:n]); err != nil {
				t.Error(err)
			}
		}
	}()
	text := make([]byte, 5*ringSize)
	for i := range text {
		text[i] = byte(rnd.Uint32())
	}
	got := make([]byte, len(text))
	for i, n := range sizes {
		if i%50 == 10 {
			time.Sleep(time.Millisecond)
		}
		if k, err := server.Write(text[i : i+n]); k != n || err != nil {
			t.Fatal(n, k, err)
		}
		if _, err := io.ReadFull(server, got[:n]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[:n], text[i:i+n]) {
			t.Fatalf("%d bytes came back changed", n)
		}
	}
}

// TestLinkEnds closes the pipes of a side that waits, to read and to write.
func TestLinkEnds(t *testing.T) {
	server, _, end := pair()
	time.AfterFunc(2*time.Millisecond, end)
	if n, err := server.Read(make([]byte, 8)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read: %d, %v", n, err)
	}
	server, _, end = pair()
	time.AfterFunc(2*time.Millisecond, end)
	if n, err := server.Write(make([]byte, 2*ringSize)); n != ringSize || !errors.Is(err, io.EOF) {
		t.Errorf("write: %d, %v", n, err)
	}
}

// TestLinkDisbelieves writes positions that cannot be where the worker has its own.
func TestLinkDisbelieves(t *testing.T) {
	for _, n := range []uint32{ringSize + 1, 1 << 31, ^uint32(ringSize)} {
		server, worker, end := pair()
		worker.own.written.Store(n)
		if k, err := server.Read(make([]byte, 1<<20)); k != 0 || !errors.Is(err, errWire) {
			t.Errorf("%d bytes written: read %d, %v", n, k, err)
		}
		worker.own.read.Store(n)
		if k, err := server.Write([]byte("x")); k != 0 || !errors.Is(err, errWire) {
			t.Errorf("%d bytes read: wrote %d, %v", n, k, err)
		}
		end()
	}
}

// FuzzLink lets a worker write anything at all into the shared memory: the server reads
// something or says no, within its own bounds.
func FuzzLink(f *testing.F) {
	f.Add(uint32(5), uint32(0), uint32(1), []byte("\x01\x00\x00\x00d"))
	f.Add(uint32(ringSize), uint32(1), uint32(7), []byte(strings.Repeat("\xff", 200)))
	f.Fuzz(func(t *testing.T, written, read, asleep uint32, text []byte) {
		server, worker, end := pair()
		copy(worker.out, text)
		worker.own.written.Store(written)
		worker.own.read.Store(read)
		worker.own.asleep.Store(asleep)
		end() // who waits is told at once
		in := &frames{in: server, max: 1 << 20}
		for total := 0; ; {
			frame, err := in.next()
			if err != nil {
				break
			}
			if total += len(frame); total > ringSize {
				t.Fatalf("%d bytes out of a ring of %d", total, ringSize)
			}
		}
		if n, err := server.Write(make([]byte, ringSize+1)); err == nil || n > ringSize {
			t.Errorf("wrote %d, %v", n, err)
		}
	})
}
