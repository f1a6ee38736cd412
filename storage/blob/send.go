package blob

import (
	"io"
	"sync"
	"time"

	"catena/storage/disk"
)

const (
	sendSize   = 4 * blockSize // what is verified of a content before it is sent
	senders    = 16            // contents that pass at the same time
	remembered = 1024          // contents whose sendings are counted

	trusted = 4 << 20 // what may be sent at once of a content that was verified lately; a slow client asks again meanwhile
)

type sendBlock [sendSize]byte

var sendPool = sync.Pool{New: func() any { return new(sendBlock) }}

// Begin prepares a Send of n bytes of the content, from at on: damage in the first block of it is found now.
func (b *Blob) Begin(r io.ReadSeeker, at, n int64) error {
	if v, ok := r.(*verified); ok && n > 0 {
		return v.begin(at, n)
	}
	return nil
}

// Send writes n bytes of the content, from at on, to w. They are read from r, which Open
// returned. A long content that nobody asked for before leaves nothing of itself in the
// system's memory: most are sent once, and memory that a system must first find costs more
// than the disk. Bytes are verified before they are sent; damage ends the sending before its block.
func (b *Blob) Send(w io.Writer, r io.ReadSeeker, at, n int64) error {
	v, ok := r.(*verified)
	if !ok {
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			return err
		}
		_, err := io.Copy(w, io.LimitReader(r, n))
		return err
	}
	if n == 0 {
		return nil
	}
	if err := v.begin(at, n); err != nil {
		return err
	}
	if b.Size > window && n >= sendSize && v.s.sends.enter(b.Digest, at == 0) {
		defer v.s.sends.leave()
		return v.pass(w, at, at+n)
	}
	return v.send(w, at, at+n)
}

// begin verifies the block in which at is, unless that was done.
func (v *verified) begin(at, n int64) error {
	start := at - at%blockSize
	if v.n > 0 && v.from == start {
		return nil
	}
	if o, ok := v.in.(*object); ok {
		o.expect(start, v.end(at+n))
	}
	if f, err := v.file(at, at+n); f != nil || err != nil {
		return err
	}
	return v.hold(start)
}

// end is where the block ends that has the last byte before a place.
func (v *verified) end(place int64) int64 {
	return min((place+blockSize-1)/blockSize*blockSize, v.size)
}

// file returns the file of the content once some blocks from at on, up to sure, are verified; nil if the content is not in
// a file of the system. The system then sends its own copy of these blocks: a slow client takes no memory of this process.
func (v *verified) file(at, end int64) (disk.File, error) {
	f, ok := v.in.(disk.File)
	if !ok || v.surely <= at && at < v.sure {
		return f, nil
	}
	start := at - at%blockSize
	sure, err := v.check(f, start, min(start+sendSize, v.end(end)))
	if sure > at {
		v.surely, v.sure = start, sure // what is before the damage is sent first
		return f, nil
	}
	if err == nil || v.other == nil {
		return nil, err
	}
	b := blockPool.Get().(*block)
	defer blockPool.Put(b)
	return nil, v.verify(b[:min(blockSize, v.size-start)], start, false) // which goes on elsewhere
}

// check verifies the blocks from start to end, except for those that were verified lately, and returns where the first one
// begins that is damaged or cannot be read; if none, end, or where what was verified lately ends behind it.
func (v *verified) check(f disk.File, start, end int64) (int64, error) {
	begin, lately := start, v.s.recent.of(v.digest, f, time.Now())
	var b *block
	for ; start < end; start += blockSize {
		if lately.has(start) {
			continue
		}
		if b == nil {
			b = blockPool.Get().(*block)
			defer blockPool.Put(b)
		}
		if err := v.load(b[:min(blockSize, v.size-start)], start, false); err != nil {
			return start, err
		}
		lately.add(start)
	}
	for end < min(begin+trusted, v.size) && lately.has(end) {
		end += blockSize
	}
	return min(end, v.size), nil
}

// send verifies and sends the bytes from at to end.
func (v *verified) send(w io.Writer, at, end int64) error {
	defer func() { v.surely, v.sure = 0, 0 }()
	defer v.release()
	for at < end {
		n, err := v.sendSome(w, at, end)
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

func (v *verified) sendSome(w io.Writer, at, end int64) (int64, error) {
	f, err := v.file(at, end)
	if err != nil {
		return 0, err
	}
	if f != nil {
		return v.sendFile(w, f, at, end)
	}
	if start := at - at%blockSize; v.n == 0 || v.from != start {
		if err := v.hold(start); err != nil {
			return 0, err
		}
	}
	n, err := w.Write(v.held[at-v.from : min(int64(v.n), end-v.from)])
	return int64(n), err
}

// sendFile sends the bytes from at on that are verified, up to end, while those after them are verified.
func (v *verified) sendFile(w io.Writer, f disk.File, at, end int64) (int64, error) {
	next, upTo := v.sure, min(v.sure+sendSize, v.end(end))
	var ahead sync.WaitGroup
	if next < upTo {
		ahead.Go(func() { next, _ = v.check(f, next, upTo) }) // damage is found again by who comes to it
	}
	n, err := v.sendVerified(w, f, at, min(end, v.sure))
	ahead.Wait()
	v.surely, v.sure = v.sure, next
	return n, err
}

func (v *verified) sendVerified(w io.Writer, f disk.File, at, end int64) (int64, error) {
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return 0, v.s.unreadable(v.digest, err)
	}
	var from io.Reader = f
	if raw := disk.Raw(f); raw != nil {
		from = raw // which the system can send by itself
	}
	n, err := io.Copy(w, io.LimitReader(from, end-at))
	if err == nil && n < end-at {
		err = v.damaged("ends after %d bytes of %d", at+n, v.size)
	}
	return n, err
}

// pass sends as send does, and leaves nothing in the system's memory of what it must ask the disk for.
func (v *verified) pass(w io.Writer, at, end int64) error {
	buf := sendPool.Get().(*sendBlock)
	defer sendPool.Put(buf)
	for at < end {
		start := at - at%blockSize
		n := min(sendSize, v.end(end)-start)
		if v.surely <= at && at < v.sure || v.verify(buf[:n], start, true) != nil { // damage is found again, to the block
			upTo := min(end, start+n)
			if err := v.send(w, at, upTo); err != nil {
				return err
			}
			at = upTo
			continue
		}
		m, err := w.Write(buf[at-start : min(n, end-start)])
		if err != nil {
			return err
		}
		at += int64(m)
	}
	return nil
}

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
