package disktest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// sector is what a disk writes as a whole.
const sector = 512

// node is the content of a file.
type node struct {
	path  string // where the present content is
	edits []edit // that no sync has confirmed, and those between them, in order
}

// edit is a write, or a truncation if data is nil.
type edit struct {
	at      int64 // or the new size
	data    []byte
	old     []byte // what was there before
	before  int64  // size before
	durable bool
	lost    bool // a failed sync was its chance
}

// confirm says that everything written so far is on disk, but for what a failed sync gave up.
func (n *node) confirm() {
	for i := range n.edits {
		if !n.edits[i].lost {
			n.edits[i].durable = true
		}
	}
	first := slices.IndexFunc(n.edits, func(e edit) bool { return !e.durable })
	if first < 0 {
		n.edits = nil
	} else {
		n.edits = n.edits[first:]
	}
}

// truncate sets the size of a file.
func (f *Faulty) truncate(n *node, size int64) error {
	b, err := os.ReadFile(n.path)
	if err != nil {
		return err
	}
	before := int64(len(b))
	if !f.grow(size - before) {
		return pathError(n.path, ErrFull)
	}
	if err := os.Truncate(n.path, size); err != nil {
		return err
	}
	n.edits = append(n.edits, edit{at: size, old: b[min(size, before):], before: before})
	return nil
}

// file is an open file.
type file struct {
	fs     *Faulty
	raw    *os.File
	node   *node // nil if it was opened for reading and never written
	direct bool
	end    bool // writes go to the end
}

// Name returns the name the file was opened with.
func (f *file) Name() string { return f.raw.Name() }

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) {
	if f.fs.Crashed() {
		return nil, pathError(f.Name(), ErrCrashed)
	}
	return f.raw.Stat()
}

// Close closes the file.
func (f *file) Close() error { return f.raw.Close() }

// Seek sets where the next Read or Write begins.
func (f *file) Seek(offset int64, whence int) (int64, error) { return f.raw.Seek(offset, whence) }

// Read reads.
func (f *file) Read(b []byte) (int, error) { return f.read(b, f.raw.Read) }

// ReadAt reads at an offset.
func (f *file) ReadAt(b []byte, at int64) (int, error) {
	return f.read(b, func(b []byte) (int, error) { return f.raw.ReadAt(b, at) })
}

func (f *file) read(b []byte, read func([]byte) (int, error)) (int, error) {
	v := f.fs.enter(Read, f.Name())
	f.fs.mu.Unlock()
	if v.err == nil {
		return read(b)
	}
	n := 0
	if v.short {
		n, _ = read(b[:len(b)/2])
	}
	return n, v.err
}

// Write writes after what was written or read last.
func (f *file) Write(b []byte) (int, error) {
	whence := io.SeekCurrent
	if f.end {
		whence = io.SeekEnd
	}
	at, err := f.raw.Seek(0, whence)
	if err != nil {
		return 0, err
	}
	n, err := f.WriteAt(b, at)
	if _, e := f.raw.Seek(at+int64(n), io.SeekStart); err == nil {
		err = e
	}
	return n, err
}

// WriteAt writes at an offset.
func (f *file) WriteAt(b []byte, at int64) (int, error) {
	v := f.fs.enter(Write, f.Name())
	defer f.fs.mu.Unlock()
	if f.node == nil {
		return 0, pathError(f.Name(), os.ErrPermission)
	}
	switch {
	case v.crash:
		_, _ = f.put(b, at, false) // all of it, some sectors, or none: the crash decides
		return 0, v.err
	case v.err != nil && v.short:
		n, _ := f.put(b[:len(b)/2], at, false)
		f.giveUp()
		return n, v.err
	case v.err != nil:
		return 0, v.err
	}
	return f.put(b, at, f.direct)
}

// put writes to the real file and notes what was there.
func (f *file) put(b []byte, at int64, durable bool) (int, error) {
	info, err := f.raw.Stat()
	if err != nil {
		return 0, err
	}
	before := info.Size()
	if !f.fs.grow(at + int64(len(b)) - before) {
		return 0, pathError(f.Name(), ErrFull)
	}
	e := edit{at: at, data: slices.Clone(b), before: before, durable: durable}
	if at < before {
		e.old = make([]byte, min(int64(len(b)), before-at))
		if _, err := f.peek(e.old, at); err != nil {
			return 0, err
		}
	}
	n, err := f.writer().WriteAt(b, at)
	if durable && len(f.node.edits) == 0 {
		return n, err
	}
	f.node.edits = append(f.node.edits, e)
	return n, err
}

// peek reads what is in the file, whatever it was opened for.
func (f *file) peek(b []byte, at int64) (int, error) {
	r, err := os.Open(f.node.path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := r.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Truncate sets the size.
func (f *file) Truncate(size int64) error {
	v := f.fs.enter(Write, f.Name())
	defer f.fs.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	return f.fs.truncate(f.node, size)
}

// Reserve takes room; no block is written.
func (f *file) Reserve(size int64) error {
	v := f.fs.enter(Write, f.Name())
	defer f.fs.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	if info, err := f.raw.Stat(); err == nil && f.fs.room >= 0 && f.fs.used+size-info.Size() > f.fs.room {
		return pathError(f.Name(), ErrFull)
	}
	return nil
}

// Sync brings the content to disk. A real sync is not needed: what a crash leaves is computed.
func (f *file) Sync() error {
	v := f.fs.enter(Sync, f.Name())
	defer f.fs.mu.Unlock()
	if v.err != nil {
		f.giveUp()
		return v.err
	}
	if f.node != nil {
		f.node.confirm()
	}
	return nil
}

// SyncData brings the content to disk.
func (f *file) SyncData() error { return f.Sync() }

// giveUp says that what was not on disk may never be, as no later sync will write it again.
func (f *file) giveUp() {
	if f.node == nil {
		return
	}
	for i := range f.node.edits {
		f.node.edits[i].lost = f.node.edits[i].lost || !f.node.edits[i].durable
	}
}

// writer is the real file without its flag to append, which WriteAt refuses.
func (f *file) writer() io.WriterAt {
	if !f.end {
		return f.raw
	}
	return appender{f.raw}
}

type appender struct{ *os.File }

// WriteAt appends.
func (a appender) WriteAt(b []byte, _ int64) (int, error) { return a.Write(b) }
