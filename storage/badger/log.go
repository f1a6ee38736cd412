package badger

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"catena/storage/disk"
	"catena/storage/fault"
)

// A segment begins with its own header: magic, the store's id, its number, the first
// version it may hold, the chain before it, and a CRC32C of all that. Zeros follow
// from the start, so that a sync has no new file size to record.
const (
	segmentMagic  = "catenlog"
	segmentHeader = 8 + 16 + 8 + 8 + 16 + 4
	firstSegment  = 1 << 20
	largeSegment  = 16 << 20
	largeFrame    = 256 << 10
	fewFrames     = 32
	logSuffix     = ".log"
	tempSuffix    = ".tmp"
)

// redo is the writing end of the redo log. append and rotate are for the committer;
// sync and drop for anyone.
type redo struct {
	fs    disk.FS
	dir   string
	store id

	strict bool   // what append writes is on disk when it returns
	number uint64 // of the present segment
	chain  chain
	out    blocks // its content
	size   int64
	filled bool           // the present segment is of zeros where nothing is written
	small  int            // frames in it that are not large
	next   int64          // size of the next segment
	fill   bool           // whether it is of zeros
	spare  chan disk.File // a prepared segment, or nil if preparing one failed
	making bool           // a spare is being prepared
	buf    []byte         // a header

	mu     sync.Mutex
	file   disk.File // nil before the first frame
	last   uint64    // last version written
	synced uint64    // last version on disk
	closed []segment
}

// segment is a file of the log that is no longer written.
type segment struct {
	number uint64
	path   string
	last   uint64 // last version in it or before it
}

// newRedo returns a log that continues behind the last segment of another one, whose versions end with last.
func newRedo(fs disk.FS, dir string, store id, t *tail, last uint64) *redo {
	return &redo{
		fs: fs, dir: dir, store: store, number: t.number, chain: t.chain, next: firstSegment, fill: true, spare: make(chan disk.File, 1),
		last: last, synced: last, closed: t.segments,
	}
}

// append writes a frame, whose first frameHeader bytes are free for its header. Unless
// the log is strict, it is on disk only after sync.
func (r *redo) append(b []byte, f *frame) error {
	if len(b) < largeFrame {
		r.small++
	}
	if r.file == nil || r.out.at+int64(len(b)) > r.size || !r.filled && r.small > fewFrames {
		if err := r.rotate(int64(len(b)), f.first); err != nil {
			return err
		}
	}
	f.segment = r.number
	r.mu.Lock()
	f.synced = r.synced
	r.mu.Unlock()
	c := f.seal(b, r.out.at, r.store, r.chain)
	if err := r.out.write(b); err != nil {
		return err
	}
	r.chain = c
	r.mu.Lock()
	if r.last = f.last(); r.strict {
		r.synced = r.last
	}
	r.mu.Unlock()
	return nil
}

// sync brings everything written to disk.
func (r *redo) sync() error {
	r.mu.Lock()
	file, last := r.file, r.last
	done := last == r.synced
	r.mu.Unlock()
	if done || file == nil {
		return nil
	}
	err := file.SyncData()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.file != file:
		return nil // a rotation has synced it meanwhile
	case err != nil:
		return err
	}
	r.synced = max(r.synced, last)
	return nil
}

// durable is the last version on disk.
func (r *redo) durable() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}

// rotate closes the present segment and begins one with room for a frame.
func (r *redo) rotate(need int64, first uint64) error {
	if r.file != nil {
		if err := r.file.SyncData(); err != nil {
			return err
		}
	}
	file, size, err := r.fresh(need + segmentHeader)
	if err != nil {
		return err
	}
	number := r.number + 1
	path := segmentPath(r.dir, number)
	r.buf = appendSegmentHeader(r.buf[:0], r.store, number, first, r.chain)
	out := blocks{file: file, buf: r.out.buf}
	if err = out.write(r.buf); err == nil {
		if err = r.fs.Rename(file.Name(), path); err == nil {
			err = r.fs.SyncDir(r.dir)
		}
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		_ = r.file.Close()
		r.synced = r.last
		r.closed = append(r.closed, segment{r.number, segmentPath(r.dir, r.number), r.last})
	}
	r.file, r.number, r.out, r.size = file, number, out, size
	return nil
}

// fresh returns a file for the next segment, the spare if it is long enough, and has
// the next spare made in the background, of zeros unless mostly large frames come: to
// record new sizes costs those less than to write all twice. A frame that is larger
// than segments gets a file of its own size.
func (r *redo) fresh(need int64) (disk.File, int64, error) {
	var file disk.File
	size, filled := r.next, r.fill
	if r.making {
		file = <-r.spare
		r.making = false
	}
	if file != nil && need > size {
		_ = file.Close() // the name is reused
		file = nil
	}
	if file == nil {
		var err error
		size = max(size, wholeBlocks(need))
		filled = size == r.next && r.fill
		if file, err = r.makeSegment(r.tempPath(r.number+1), size, filled); err != nil {
			return nil, 0, err
		}
	}
	r.fill = need < largeFrame || r.small > fewFrames
	r.filled, r.small = filled, 0
	r.next = min(largeSegment, r.next*2)
	r.making = true
	go func(path string, size int64, fill bool) {
		f, err := r.makeSegment(path, size, fill)
		if err != nil {
			f = nil // the committer tries again and reports
		}
		r.spare <- f
	}(r.tempPath(r.number+2), r.next, r.fill)
	return file, size, nil
}

// drop removes the closed segments that hold nothing above version.
func (r *redo) drop(version uint64) error {
	r.mu.Lock()
	var old []segment
	r.closed = slices.DeleteFunc(r.closed, func(s segment) bool {
		if s.last <= version {
			old = append(old, s)
			return true
		}
		return false
	})
	r.mu.Unlock()
	for _, s := range old {
		if err := r.fs.Remove(s.path); err != nil {
			return err
		}
	}
	return nil
}

// doneWith is the number of the last closed segment that holds nothing above version
// and has only such before it, zero if there is none.
func (r *redo) doneWith(version uint64) (number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.closed {
		if s.last > version {
			break
		}
		number = s.number
	}
	return number
}

// waiting is the number of the first closed segment and how many there are.
func (r *redo) waiting() (first uint64, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.closed) > 0 {
		first = r.closed[0].number
	}
	return first, len(r.closed)
}

// close syncs and closes the log, which keeps its segments.
func (r *redo) close() error {
	if r.making {
		if f := <-r.spare; f != nil {
			_ = f.Close()
			_ = r.fs.Remove(f.Name())
		}
	}
	if r.file == nil {
		return nil
	}
	err := r.file.SyncData()
	if e := r.file.Close(); err == nil {
		err = e
	}
	r.closed = append(r.closed, segment{r.number, segmentPath(r.dir, r.number), r.last})
	r.file = nil
	return err
}

func appendSegmentHeader(b []byte, store id, number, first uint64, before chain) []byte {
	b = append(b, segmentMagic...)
	b = append(b, store[:]...)
	b = binary.BigEndian.AppendUint64(b, number)
	b = binary.BigEndian.AppendUint64(b, first)
	b = append(b, before[:]...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// parseSegmentHeader reads what appendSegmentHeader wrote.
func parseSegmentHeader(b []byte) (store id, number, first uint64, before chain, ok bool) {
	if len(b) < segmentHeader || string(b[:8]) != segmentMagic || binary.BigEndian.Uint32(b[segmentHeader-4:]) != crc32.Checksum(b[:segmentHeader-4], castagnoli) {
		return store, 0, 0, before, false
	}
	copy(store[:], b[8:])
	copy(before[:], b[40:])
	return store, binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint64(b[32:]), before, true
}

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", number, logSuffix))
}

// tempPath is the name of a segment before it is part of the log.
func (r *redo) tempPath(number uint64) string { return segmentPath(r.dir, number) + tempSuffix }

// makeSegment creates a file, of zeros that are on disk if fill is set.
func (r *redo) makeSegment(path string, size int64, fill bool) (disk.File, error) {
	flags := os.O_RDWR
	if fill {
		if err := r.writeZeros(path, size); err != nil {
			return nil, fault.Unavailable.Errorf("log: %w", err)
		}
	} else {
		flags |= os.O_CREATE | os.O_TRUNC
	}
	if r.strict {
		flags |= disk.Direct
	}
	return r.fs.OpenFile(path, flags, 0o600)
}

// writeZeros makes a file of zeros that are on disk.
func (r *redo) writeZeros(path string, size int64) error {
	f, err := r.fs.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	zeros := make([]byte, 256<<10)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err = f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			break
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = r.fs.Remove(path)
	}
	return err
}
