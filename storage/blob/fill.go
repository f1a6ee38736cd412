package blob

import (
	"hash"
	"io"
	"sync"
	"sync/atomic"

	"catena/storage/disk"
)

const (
	blockSize = 256 << 10 // what is read, written and hashed at once
	blocks    = 4         // of one file that comes in
)

// window is how much of a long file stays in memory while it comes in. It is a number of blocks.
const window = 32 * blockSize

type block [blockSize]byte

var blockPool = sync.Pool{New: func() any { return new(block) }}

// fill writes what comes in to f, from at on, and to h if that is not nil, and returns the
// number of bytes. Four work at once: this one reads, others write and hash, and the disk
// stores what was written before.
func fill(f disk.File, at int64, in *input, h hash.Hash) (n int64, err error) {
	p := startPipe(f, at, h)
	defer func() {
		if failed := p.stop(); failed != nil {
			err = unavailable(failed)
		}
	}()
	for p.failed.Load() == nil {
		b := <-p.free
		m, err := io.ReadFull(in, b.data[:])
		n += int64(m)
		p.pass(b, m)
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF: // the input's own are marked
			return n, nil
		case err != nil:
			return n, err
		}
	}
	return n, nil
}

// pipe writes and hashes blocks while others are read.
type pipe struct {
	f      disk.File
	at, n  int64
	h      hash.Hash
	free   chan *passed
	write  chan *passed
	hash   chan *passed
	ends   sync.WaitGroup
	all    [blocks]passed
	failed atomic.Pointer[error] // what became of a write
}

// passed is a block on its way.
type passed struct {
	data *block
	n    int
	uses atomic.Int32
}

func startPipe(f disk.File, at int64, h hash.Hash) *pipe {
	p := &pipe{
		f: f, at: at, h: h,
		free: make(chan *passed, blocks), write: make(chan *passed, blocks), hash: make(chan *passed, blocks),
	}
	for i := range p.all {
		p.all[i].data = blockPool.Get().(*block)
		p.free <- &p.all[i]
	}
	p.ends.Go(p.writeAll)
	if h != nil {
		p.ends.Go(p.hashAll)
	}
	return p
}

// pass has the first n bytes of a block written and hashed.
func (p *pipe) pass(b *passed, n int) {
	b.n = n
	b.uses.Store(1)
	if p.h != nil {
		b.uses.Store(2)
		p.hash <- b
	}
	p.write <- b
}

func (p *pipe) done(b *passed) {
	if b.uses.Add(-1) == 0 {
		p.free <- b
	}
}

func (p *pipe) hashAll() {
	for b := range p.hash {
		p.h.Write(b.data[:b.n])
		p.done(b)
	}
}

func (p *pipe) writeAll() {
	for b := range p.write {
		if b.n > 0 && p.failed.Load() == nil {
			if _, err := p.f.WriteAt(b.data[:b.n], p.at); err != nil {
				p.failed.Store(&err)
			}
			ahead(p.f, p.at, int64(b.n))
			if p.h != nil && p.n >= window {
				behind(p.f, p.at-window, int64(b.n))
			}
			p.at += int64(b.n)
			p.n += int64(b.n)
		}
		p.done(b)
	}
}

// stop returns once everything is written and hashed, or why it is not written.
func (p *pipe) stop() error {
	close(p.write)
	close(p.hash)
	p.ends.Wait()
	for i := range p.all {
		blockPool.Put(p.all[i].data)
	}
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}
