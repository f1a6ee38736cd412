package blob

import (
	"hash"
	"io"
	"os"
	"sync"
)

const (
	blockSize = 256 << 10 // what is read, written and hashed at once
	blocks    = 3         // of one file that comes in
)

type block [blockSize]byte

var blockPool = sync.Pool{New: func() any { return new(block) }}

// fill writes what comes in to f, from at on, and to h if that is not nil, and returns the
// number of bytes. Three work at once: this one reads and writes, another hashes, and the
// disk stores what was written before.
func fill(f *os.File, at int64, in *input, h hash.Hash) (int64, error) {
	p := startHasher(h)
	defer p.stop()
	var n int64
	for {
		b := p.block()
		m, err := io.ReadFull(in, b[:])
		p.hash(b, m)
		if m > 0 {
			if _, err := f.WriteAt(b[:m], at+n); err != nil {
				return n, unavailable(err)
			}
			ahead(f, at+n, int64(m))
			n += int64(m)
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF: // the input's own are marked
			return n, nil
		case err != nil:
			return n, err
		}
	}
}

// hasher hashes blocks while others are read and written.
type hasher struct {
	h    hash.Hash
	all  [blocks]*block
	free chan *block
	work chan part
	done chan struct{}
}

type part struct {
	b *block
	n int
}

func startHasher(h hash.Hash) *hasher {
	p := &hasher{h: h, free: make(chan *block, blocks), work: make(chan part, blocks), done: make(chan struct{})}
	for i := range p.all {
		p.all[i] = blockPool.Get().(*block)
		p.free <- p.all[i]
	}
	go p.run()
	return p
}

func (p *hasher) run() {
	defer close(p.done)
	for w := range p.work {
		if p.h != nil {
			p.h.Write(w.b[:w.n])
		}
		p.free <- w.b
	}
}

// block returns a block that nobody uses.
func (p *hasher) block() *block { return <-p.free }

// hash hashes the first n bytes of a block, which are not to be changed until block returns
// it again.
func (p *hasher) hash(b *block, n int) { p.work <- part{b, n} }

// stop returns once everything is hashed.
func (p *hasher) stop() {
	close(p.work)
	<-p.done
	for _, b := range p.all {
		blockPool.Put(b)
	}
}
