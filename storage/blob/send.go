package blob

import (
	"io"
	"os"
	"sync"
)

const (
	sendSize   = 1 << 20 // what is read of a long content at once
	senders    = 16      // contents that are read so at the same time
	remembered = 1024    // contents whose sendings are counted
)

type sendBlock [sendSize]byte

var sendPool = sync.Pool{New: func() any { return new(sendBlock) }}

// Send writes n bytes of the content, from at on, to w. They are read from r, which Open
// returned. A long content that nobody asked for before leaves nothing of itself in the
// system's memory: most are sent once, and memory that a system must first find costs more
// than the disk.
func (b *Blob) Send(w io.Writer, r io.ReadSeeker, at, n int64) error {
	if _, err := r.Seek(at, io.SeekStart); err != nil {
		return err
	}
	if o, ok := r.(*object); ok {
		o.Expect(n)
		if at == 0 && n == b.Size {
			_, err := io.Copy(w, check(o, b.Digest, n))
			return err
		}
	}
	f, isFile := r.(*os.File)
	c, isStored := b.source.(*stored)
	if !isFile || !isStored || b.Size <= window || n < sendSize || !c.store.sends.enter(b.Digest, at == 0) {
		_, err := io.Copy(w, io.LimitReader(r, n))
		return err
	}
	defer c.store.sends.leave()
	buf := sendPool.Get().(*sendBlock)
	defer sendPool.Put(buf)
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(passing{f}, n), buf[:])
	return err
}

// passing reads on in a file that nobody is expected to read soon again.
type passing struct{ f *os.File }

func (p passing) Read(b []byte) (int, error) { return readPassing(p.f, b) }

// sends knows which contents are being sent, and which were before.
type sends struct {
	mu    sync.Mutex
	now   int
	begun map[string]int // how often, by digest
}

// enter reports whether a part of a content is sent as what nobody asks for again, until leave.
// A content that was begun twice is not, nor one part more than senders.
func (s *sends) enter(digest string, begins bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if begins {
		s.count(digest)
	}
	if s.begun[digest] > 1 || s.now == senders {
		return false
	}
	s.now++
	return true
}

// count counts a content that is sent from its beginning. Of too many, any one is forgotten.
func (s *sends) count(digest string) {
	if s.begun == nil {
		s.begun = map[string]int{}
	}
	if len(s.begun) == remembered {
		for other := range s.begun {
			delete(s.begun, other)
			break
		}
	}
	s.begun[digest]++
}

func (s *sends) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}
