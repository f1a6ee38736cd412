package values

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// Entry is a value and whose it is.
type Entry struct {
	Pointer
	Key, Value []byte // valid until the next entry
}

// Length is how many bytes of the file the entry takes.
func (e Entry) Length() int64 { return entrySize(len(e.Key), e.Size) }

func entrySize(key int, value uint32) int64 { return entryHeader + int64(key) + int64(value) }

// walkBuffer is how much of a file is read at once.
const walkBuffer = 256 << 10

// Walk calls fn with the entries of a file that begin at an offset or after it, and before
// another, and returns where the next one begins: at the end of the file that is its
// size. Where there is no whole entry it ends with ErrDamaged.
func (f *Files) Walk(number uint32, from, to int64, fn func(Entry) error) (next int64, err error) {
	one := f.file(number)
	if one == nil {
		return 0, fmt.Errorf("%s is missing: %w", f.path(number), ErrDamaged)
	}
	return walk(one, max(from, fileHeader), to, one.size.Load(), fn)
}

// Check reads those entries of a file that List gave which begin at an offset or after it,
// and before another, and returns where the next one begins. A file that was removed has
// none.
func (f *Files) Check(of File, from, to int64) (next int64, err error) {
	one := f.file(of.Number)
	if one == nil {
		return of.Size, nil
	}
	next, err = walk(one, max(from, fileHeader), to, of.Size, func(Entry) error { return nil })
	if errors.Is(err, os.ErrClosed) {
		return of.Size, nil
	}
	return next, err
}

func walk(f *file, at, to, size int64, fn func(Entry) error) (int64, error) {
	var buf []byte
	start := at // of buf
	for at < to && at < size {
		e, n, err := parse(buf[at-start:])
		if errors.Is(err, errShort) && start+int64(len(buf)) < size {
			buf, start = make([]byte, min(max(walkBuffer, int64(n)), size-at)), at
			if _, err := f.ReadAt(buf, at); err != nil && !errors.Is(err, io.EOF) {
				return at, err
			}
			continue
		}
		if err != nil {
			return at, fmt.Errorf("%s at %d: %w", f.Name(), at, ErrDamaged)
		}
		e.File, e.At = f.number, uint32(at)
		if err := fn(e); err != nil {
			return at, err
		}
		at += int64(n)
	}
	return at, nil
}

var errShort = errors.New("more bytes are required")

// parse reads the entry that b begins with and its length. If b is too short, the length
// is how much is needed.
func parse(b []byte) (e Entry, n int, err error) {
	if len(b) < entryHeader {
		return e, entryHeader, errShort
	}
	if binary.BigEndian.Uint32(b) != entryMagic {
		return e, 0, ErrDamaged
	}
	key, value := int64(binary.BigEndian.Uint32(b[8:])), int64(binary.BigEndian.Uint32(b[12:]))
	if key+value > largestFile {
		return e, 0, ErrDamaged
	}
	n = int(entryHeader + key + value)
	if n > len(b) {
		return e, n, errShort
	}
	if crc32.Checksum(b[8:n], castagnoli) != binary.BigEndian.Uint32(b[4:]) {
		return e, 0, ErrDamaged
	}
	e.Key, e.Value = b[entryHeader:entryHeader+key], b[entryHeader+key:n]
	e.Size = uint32(value)
	return e, n, nil
}

// another reports whether a whole entry begins anywhere at or after an offset.
func another(r io.ReaderAt, at, size int64) (bool, error) {
	magic := binary.BigEndian.AppendUint32(nil, entryMagic)
	buf := make([]byte, walkBuffer)
	for ; at < size; at += walkBuffer - int64(len(magic)) + 1 {
		n, err := r.ReadAt(buf[:min(walkBuffer, size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		for i := 0; ; i++ {
			step := bytes.Index(buf[i:n], magic)
			if step < 0 {
				break
			}
			i += step
			if ok, err := whole(r, at+int64(i), size); ok || err != nil {
				return ok, err
			}
		}
		if n < walkBuffer {
			break
		}
	}
	return false, nil
}

// whole reports whether a whole entry begins at an offset.
func whole(r io.ReaderAt, at, size int64) (bool, error) {
	b := make([]byte, min(entryHeader, size-at))
	for {
		if _, err := r.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		_, n, err := parse(b)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, errShort) || int64(n) > size-at {
			return false, nil
		}
		b = make([]byte, n)
	}
}
