package blob

import (
	"errors"
	"fmt"
	"io"
	"os"

	"catena/storage/disk"
)

// verified reads content in any order. Each block is compared with its checksum before a byte of it is passed on, so that
// damage in one block leaves the others readable.
type verified struct {
	s      *Store
	digest string
	size   int64
	sums   sums
	in     blocksOf
	// other opens the content elsewhere once what is here is damaged; nil: it is nowhere else.
	other func() blocksOf

	at   int64
	held *block // the block that was read last
	from int64  // where it begins
	n    int    // bytes of it

	surely, sure int64 // what was verified of a file that is being sent, from and to
}

// blocksOf is where content is read from.
type blocksOf interface {
	io.ReaderAt
	io.Closer
}

// Read reads on.
func (v *verified) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case v.at >= v.size:
		return 0, io.EOF
	}
	if n := v.buffered(p); n > 0 {
		return n, nil
	}
	start := v.at - v.at%blockSize
	if whole := min(blockSize, v.size-start); start == v.at && int64(len(p)) >= whole {
		if err := v.verify(p[:whole], start, false); err != nil {
			return 0, err
		}
		v.at += whole
		return int(whole), nil
	}
	if err := v.hold(start); err != nil {
		return 0, err
	}
	return v.buffered(p), nil
}

// buffered copies what is held from the place of the reader on.
func (v *verified) buffered(p []byte) int {
	if v.held == nil || v.at < v.from || v.at >= v.from+int64(v.n) {
		return 0
	}
	n := copy(p, v.held[v.at-v.from:v.n])
	v.at += int64(n)
	return n
}

// hold reads the block that begins at start.
func (v *verified) hold(start int64) error {
	if v.held == nil {
		v.held = blockPool.Get().(*block)
	}
	v.n = 0
	n := min(blockSize, v.size-start)
	if err := v.verify(v.held[:n], start, false); err != nil {
		return err
	}
	v.from, v.n = start, int(n)
	return nil
}

// release gives back the memory of the block that is held.
func (v *verified) release() {
	if v.held != nil {
		blockPool.Put(v.held)
		v.held, v.n = nil, 0
	}
}

// verify fills p, which is one block or several, with the content from at on. What only passes need not stay in the
// system's memory.
func (v *verified) verify(p []byte, at int64, passing bool) error {
	err := v.load(p, at, passing)
	if err == nil || v.other == nil {
		return err
	}
	in := v.other()
	v.other = nil
	err = v.in.Close()
	v.in = in
	if err != nil {
		return v.s.unreadable(v.digest, err)
	}
	return v.load(p, at, passing)
}

func (v *verified) load(p []byte, at int64, passing bool) error {
	if v.in == nil {
		return os.ErrClosed
	}
	var n int
	var err error
	if f, ok := v.in.(disk.File); ok && passing {
		n, err = readPassing(f, p, at)
	} else {
		n, err = v.in.ReadAt(p, at)
	}
	switch {
	case n == len(p):
	case err == nil || errors.Is(err, io.EOF):
		return v.damaged("ends after %d bytes of %d", at+int64(n), v.size)
	default:
		return v.unreadable(err)
	}
	if from, n := v.sums.mismatch(p, at); n > 0 {
		return v.damaged(isDamaged, from, from+n)
	}
	return nil
}

// damaged is the error for damage here, which counts only if the content is nowhere else.
func (v *verified) damaged(format string, args ...any) error {
	if v.other != nil {
		return fmt.Errorf(format, args...)
	}
	return v.s.damaged(v.digest, format, args...)
}

func (v *verified) unreadable(err error) error {
	if v.other != nil {
		return err
	}
	return v.s.unreadable(v.digest, err)
}

// Seek moves to another offset.
func (v *verified) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += v.at
	case io.SeekEnd:
		offset += v.size
	}
	if offset < 0 {
		return v.at, fmt.Errorf("blob %s: place %d", v.digest, offset)
	}
	v.at = offset
	return offset, nil
}

// Close ends the reading.
func (v *verified) Close() error {
	v.release()
	if v.in == nil {
		return nil
	}
	err := v.in.Close()
	v.in = nil
	return err
}
