package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/kv"
)

// tail is where a log ends.
type tail struct {
	version  uint64 // the last whole one
	chain    chain
	number   uint64 // of the last segment
	segments []segment
	bytes    int64 // of frames above the checkpoint
	dropped  *Dropped
}

// Dropped is what was left out when a store was opened: the end of the redo log, which was not written as a whole
// when the machine stopped. With Strict none of it was acknowledged.
type Dropped struct {
	Version uint64 `json:"version"` // of the first commit left out
	Commits int    `json:"commits"` // how many, 0 if that is not known
	Path    string `json:"path"`
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"` // up to the last one that was written
}

// String says it for people.
func (d *Dropped) String() string {
	n := "an unknown number of commits"
	if d.Commits > 0 {
		n = fmt.Sprintf("%d commits", d.Commits)
	}
	return fmt.Sprintf("%s from version %d on were not completely written when the machine stopped: %d bytes of %s at byte %d", n, d.Version, d.Bytes, d.Path, d.Offset)
}

// scanLog reads the log of a store from its checkpoint on and checks that nothing is
// missing from it. A frame torn at the very end is left out, which the tail says; one that
// is damaged is refused. It calls fn, unless nil, with each write above the checkpoint, in order.
func scanLog(files disk.FS, dir string, s *state, fn func(version uint64, w kv.Mutation) error) (tail, error) {
	t := tail{version: s.Checkpoint, number: s.Segment, chain: s.chain()}
	numbers, err := segmentNumbers(files, dir)
	if err != nil {
		return t, err
	}
	numbers = slices.DeleteFunc(numbers, func(n uint64) bool { return n <= s.Segment })
	for i, number := range numbers {
		if number != t.number+1 {
			return t, corrupt("log: segment %d is missing", t.number+1)
		}
		path := segmentPath(dir, number)
		b, err := disk.ReadFile(files, path)
		if err != nil {
			return t, fault.Unavailable.Errorf("log: %w", err)
		}
		r := segmentReader{tail: &t, path: path, number: number, state: s, first: i == 0, final: i == len(numbers)-1}
		if err := r.read(b, fn); err != nil {
			return t, err
		}
		t.number = number
		t.segments = append(t.segments, segment{number, path, t.version})
	}
	return t, nil
}

// segmentNumbers lists the segments there are, in order.
func segmentNumbers(files disk.FS, dir string) (numbers []uint64, err error) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, fault.Unavailable.Errorf("log: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), logSuffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			return nil, corrupt("log: %s is not a segment", filepath.Join(dir, e.Name()))
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, nil
}

// segmentReader reads one segment and moves the tail along.
type segmentReader struct {
	tail   *tail
	path   string
	number uint64
	state  *state
	first  bool // the first one left: frames before it were dropped
	final  bool // the last one
}

// read applies the frames of a segment, the whole content of which is b. Both the header of a segment and each frame
// contain a hash of all that precedes them, so frames of another store or an earlier use of the file are never applied.
func (r *segmentReader) read(b []byte, fn func(uint64, kv.Mutation) error) error {
	store := r.state.id()
	first, ok, err := r.header(b, store)
	if err != nil || !ok {
		return err
	}
	next := first // version that the next frame begins with
	at := segmentHeader
	for {
		var f frame
		p, err := r.frame(&f, b[at:], store, next)
		if err != nil {
			return err
		}
		if p == nil {
			return r.end(b, at, next)
		}
		if err := r.apply(&f, p, fn); err != nil {
			return err
		}
		next = f.last() + 1
		at += frameHeader + f.length
	}
}

// header checks that a segment belongs to this store and continues the one before, and returns its first version. Not ok:
// nothing of it reached the disk.
func (r *segmentReader) header(b []byte, store id) (first uint64, ok bool, err error) {
	of, number, first, before, ok := parseSegmentHeader(b)
	switch {
	case !ok && r.final && allZero(b):
		return 0, false, nil
	case !ok || of != store || number != r.number:
		return 0, false, corrupt("log: %s does not begin as segment %d of this store should", r.path, r.number)
	case r.first && first > r.tail.version+1:
		return 0, false, corrupt("log: versions %d to %d are missing", r.tail.version+1, first-1)
	case r.first:
		r.tail.chain = before
	case before != r.tail.chain || first != r.tail.version+1:
		return 0, false, corrupt("log: %s does not follow version %d", r.path, r.tail.version)
	}
	return first, true, nil
}

// frame reads the frame at the beginning of b and returns its payload; nil if there is no whole frame. A whole frame that
// is not the one expected is damage.
func (r *segmentReader) frame(f *frame, b []byte, store id, next uint64) ([]byte, error) {
	if !f.parse(b, store) {
		return nil, nil
	}
	p, ok := f.payload(b)
	switch {
	case !ok:
		return nil, nil
	case f.segment != r.number || f.first != next || f.chain != link(b, r.tail.chain):
		return nil, corrupt("log: %s: found version %d instead of %d", r.path, f.first, next)
	}
	return p, nil
}

func (r *segmentReader) apply(f *frame, p []byte, fn func(uint64, kv.Mutation) error) error {
	r.tail.chain = f.chain
	if f.last() <= r.tail.version {
		return nil
	}
	skip := r.tail.version
	r.tail.version = f.last()
	r.tail.bytes += int64(len(p))
	return eachWrite(p, f, func(version uint64, w kv.Mutation) error {
		if version <= skip || fn == nil {
			return nil
		}
		return fn(version, w)
	})
}

// end decides what a place without a whole frame means. It is the end if nothing after it proves that the version
// expected there had reached the disk, and if what stands there was not written as a whole.
func (r *segmentReader) end(b []byte, at int, next uint64) error {
	store := r.state.id()
	damaged := func(last uint64) error {
		return corrupt("log: %s is damaged at byte %d, version %d of at least %d", r.path, at, next, last)
	}
	magic := binary.BigEndian.AppendUint32(nil, frameMagic)
	for i := at; ; i++ {
		step := bytes.Index(b[i:], magic)
		if step < 0 {
			break
		}
		i += step
		var f frame
		if f.parse(b[i:], store) && f.segment == r.number && f.synced >= next {
			return damaged(f.last())
		}
	}
	written := bytes.TrimRight(b[at:], "\x00")
	if !r.final || len(written) == 0 {
		return nil // whether a later segment follows, its header says
	}
	var f frame
	commits := 0
	switch known := f.parse(b[at:], store) && f.segment == r.number && f.first == next; {
	case known && !f.torn(b, at):
		return damaged(f.last())
	case !known && !tornHeader(b, at):
		return damaged(next)
	case known:
		commits = f.count
	}
	r.tail.dropped = &Dropped{Version: next, Commits: commits, Path: r.path, Offset: int64(at), Bytes: int64(len(written))}
	return nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
