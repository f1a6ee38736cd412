// Package values keeps the larger values of a store in append-only files beside the tables that hold the keys. A
// table then says where a value is, so that merging tables moves a few bytes in place of the value, and reading one
// is one read of a file. Values nothing refers to any longer stay until their file is given up: anyone who owns the
// store moves what is still of use and drops it.
//
// A file begins with a header: magic, the store's id, the number of the file and the
// CRC32C of all that. Entries follow:
//
//	 0  magic
//	 4  CRC32C of the rest of the entry
//	 8  length of the key
//	12  length of the value
//	16  key
//	    value
package values

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"catena/storage/disk"
)

// ErrDamaged is in the chain of every error about a file that is not what was written.
var ErrDamaged = errors.New("damaged")

const (
	fileMagic   = "catenval"
	fileHeader  = 8 + 16 + 4 + 4
	entryMagic  = 0x63_74_6e_76
	entryHeader = 16
	suffix      = ".values"

	// A file takes a share of all there is, within bounds, so that there are neither too many
	// nor is much moved at once.
	smallestFile = 32 << 20
	largestFile  = 1 << 30
	share        = 32 // of all files

	bufferSize = 1 << 20
)

// OwnerPrefix begins the names of files that the owner of the store keeps in the folder.
const OwnerPrefix = "EPOCH-"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Pointer is where a value is.
type Pointer struct {
	File uint32
	At   uint32 // of its entry
	Size uint32 // of the value, in bytes
}

// PointerSize is the length of an encoded pointer in bytes.
const PointerSize = 12

// Append adds the encoded pointer to b.
func (p Pointer) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, p.File)
	b = binary.BigEndian.AppendUint32(b, p.At)
	return binary.BigEndian.AppendUint32(b, p.Size)
}

// ParsePointer reads what Append wrote.
func ParsePointer(b []byte) (p Pointer, ok bool) {
	if len(b) != PointerSize {
		return p, false
	}
	return Pointer{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])}, true
}

// File describes one file.
type File struct {
	Number uint32 `json:"number"`
	Size   int64  `json:"size"` // bytes that must be there
	Dead   int64  `json:"dead"` // bytes of entries known to be unused
}

// Files are the values of one store. Add and Flush are for one goroutine at a time.
type Files struct {
	Smallest int64 // bytes a file has before another begins, 32 MiB unless it is set; more if there are many

	fs    disk.FS
	dir   string
	store [16]byte

	mu    sync.RWMutex
	files map[uint32]*file
	last  uint32 // highest number so far
	named bool   // files were made whose names may not be on disk

	syncing sync.Mutex

	out *file // the one that is written, nil before the first value
	end int64 // size at which it ends, if that is not below Smallest
	at  int64 // of buf in it
	buf []byte
}

type file struct {
	disk.File
	number  uint32
	size    atomic.Int64 // bytes written
	solid   int64        // bytes that hold nothing but whole entries
	synced  int64        // bytes on disk
	dead    int64
	retired bool // nothing in it is of use
	kept    bool // it holds what is not understood, and so is not given up
	mapped  mapping
}

// Open opens the files in dir, which is created if need be. Those known must be there
// and be as long as they were at least. What came after that is taken to be unused,
// for the owner of the store writes it again.
func Open(files disk.FS, dir string, store [16]byte, known []File) (*Files, error) {
	if err := files.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	numbers, err := list(files, dir)
	if err != nil {
		return nil, err
	}
	f := &Files{Smallest: smallestFile, fs: files, dir: dir, store: store, files: map[uint32]*file{}}
	for _, k := range known {
		if !slices.Contains(numbers, k.Number) {
			return nil, fmt.Errorf("%s is missing: %w", f.path(k.Number), ErrDamaged)
		}
	}
	for _, n := range numbers {
		k := File{Number: n}
		if i := slices.IndexFunc(known, func(k File) bool { return k.Number == n }); i >= 0 {
			k = known[i]
		}
		if err := f.open(k); err != nil {
			f.Close()
			return nil, err
		}
	}
	if len(known) > 0 {
		err = f.goOn(known[len(known)-1])
	}
	f.mapNewest()
	return f, err
}

// goOn has the newest file be written further, if it ends as it was known to.
func (f *Files) goOn(k File) error {
	one := f.files[k.Number]
	info, err := one.Stat()
	if err != nil || k.Number != f.last || info.Size() != k.Size {
		return err
	}
	w, err := f.fs.OpenFile(one.Name(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_ = one.Close()
	one.File, one.solid = w, math.MaxInt64
	f.out, f.at = one, k.Size
	return nil
}

// open opens one file.
func (f *Files) open(k File) error {
	f.last = max(f.last, k.Number)
	r, err := disk.Open(f.fs, f.path(k.Number))
	if err != nil {
		return err
	}
	one := &file{File: r, number: k.Number, synced: k.Size, solid: k.Size}
	f.files[k.Number] = one
	info, err := r.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < k.Size {
		return fmt.Errorf("%s has %d bytes of %d: %w", r.Name(), size, k.Size, ErrDamaged)
	}
	var b [fileHeader]byte
	_, err = r.ReadAt(b[:], 0)
	switch ok := err == nil && string(b[:]) == string(f.header(k.Number)); {
	case ok:
		one.solid = max(one.solid, fileHeader)
	case k.Size > 0:
		return fmt.Errorf("%s does not begin as file %d of this store should: %w", r.Name(), k.Number, ErrDamaged)
	default:
		size = 0 // its first write never reached the disk
	}
	one.dead = k.Dead + size - k.Size
	one.size.Store(size)
	return one.tail()
}

// tail finds the end of the whole entries. What follows is unused if none follow it.
func (f *file) tail() error {
	size := f.size.Load()
	if f.solid >= size {
		return nil
	}
	end, err := walk(f, f.solid, size, size, func(Entry) error { return nil })
	if f.solid = end; !errors.Is(err, ErrDamaged) {
		return err
	}
	if f.kept, err = another(f.File, end+1, size); !f.kept {
		f.size.Store(end)
	}
	return err
}

func (f *Files) header(number uint32) []byte {
	b := append(make([]byte, 0, fileHeader), fileMagic...)
	b = append(b, f.store[:]...)
	b = binary.BigEndian.AppendUint32(b, number)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// list returns the numbers of the files in a directory.
func list(files disk.FS, dir string) (numbers []uint32, err error) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), OwnerPrefix) {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), suffix), 10, 32)
		if err != nil || !strings.HasSuffix(e.Name(), suffix) {
			return nil, fmt.Errorf("%s is not a value file: %w", filepath.Join(dir, e.Name()), ErrDamaged)
		}
		numbers = append(numbers, uint32(n))
	}
	return numbers, nil
}

func (f *Files) path(number uint32) string {
	return filepath.Join(f.dir, fmt.Sprintf("%010d%s", number, suffix))
}

// Add takes a value, which can be read after Flush.
func (f *Files) Add(key, value []byte) (Pointer, error) {
	if f.out == nil || f.at+int64(len(f.buf)) >= max(f.end, f.Smallest) {
		if err := f.rotate(); err != nil {
			return Pointer{}, err
		}
	}
	p := Pointer{File: f.out.number, At: uint32(f.at) + uint32(len(f.buf)), Size: uint32(len(value))}
	start := len(f.buf)
	f.buf = binary.BigEndian.AppendUint32(f.buf, entryMagic)
	f.buf = append(f.buf, 0, 0, 0, 0)
	f.buf = binary.BigEndian.AppendUint32(f.buf, uint32(len(key)))
	f.buf = binary.BigEndian.AppendUint32(f.buf, uint32(len(value)))
	f.buf = append(append(f.buf, key...), value...)
	binary.BigEndian.PutUint32(f.buf[start+4:], crc32.Checksum(f.buf[start+8:], castagnoli))
	if len(f.buf) >= bufferSize {
		return p, f.Flush()
	}
	return p, nil
}

// Flush writes what was added.
func (f *Files) Flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	if _, err := f.out.WriteAt(f.buf, f.at); err != nil {
		return err
	}
	f.at += int64(len(f.buf))
	f.out.size.Store(f.at)
	if f.buf = f.buf[:0]; cap(f.buf) > 2*bufferSize {
		f.buf = nil
	}
	return nil
}

// Begin has what is added from now on go to another file, so that Waste and After may return the one before.
func (f *Files) Begin() error {
	if f.out == nil || f.at+int64(len(f.buf)) <= fileHeader {
		return nil
	}
	return f.rotate()
}

// rotate begins the next file.
func (f *Files) rotate() error {
	if err := f.Flush(); err != nil {
		return err
	}
	number := f.last + 1
	w, err := f.fs.OpenFile(f.path(number), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	one := &file{File: w, number: number, solid: math.MaxInt64}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all int64
	for _, old := range f.files {
		all += old.size.Load()
	}
	f.files[number], f.last, f.named = one, number, true
	f.out, f.end, f.at = one, min(all/share, largestFile), 0
	f.mapNewest()
	f.buf = append(f.buf, f.header(number)...)
	return nil
}

func (f *Files) file(number uint32) *file {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.files[number]
}

// Read fills b, which is as long as the value of a key, with it.
func (f *Files) Read(p Pointer, key, b []byte) error {
	one := f.file(p.File)
	if one == nil {
		return fmt.Errorf("value of %q: %s is missing: %w", key, f.path(p.File), ErrDamaged)
	}
	if one.mapped.value(p, key, b) {
		return nil
	}
	if _, err := one.ReadAt(b, int64(p.At)+entryHeader+int64(len(key))); err != nil {
		return fmt.Errorf("value of %q at %d: %w: %w", key, p.At, err, ErrDamaged)
	}
	return nil
}

// Find returns the value of a key that is thought to be at a pointer, nil if it is not there.
func (f *Files) Find(p Pointer, key []byte) []byte {
	one := f.file(p.File)
	if one == nil {
		return nil
	}
	size := entrySize(len(key), p.Size)
	if int64(p.At)+size > one.size.Load() {
		return nil
	}
	if value := make([]byte, p.Size); one.mapped.value(p, key, value) {
		return value
	}
	b := make([]byte, size)
	if _, err := one.ReadAt(b, int64(p.At)); err != nil || !isEntry(b, key, p.Size) {
		return nil
	}
	return b[entryHeader+len(key):]
}

// isEntry reports whether an entry is that of a key, with a value of so many bytes.
func isEntry(b, key []byte, size uint32) bool {
	return binary.BigEndian.Uint32(b) == entryMagic && binary.BigEndian.Uint32(b[8:]) == uint32(len(key)) &&
		binary.BigEndian.Uint32(b[12:]) == size && bytes.Equal(b[entryHeader:entryHeader+len(key)], key)
}

// intact reports whether an entry has the sum that it was written with.
func intact(b []byte) bool {
	return binary.BigEndian.Uint32(b[4:]) == crc32.Checksum(b[8:], castagnoli)
}

// Sync brings what was written to disk. After one that fails nobody knows what is: no other may be tried.
func (f *Files) Sync() error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.mu.Lock()
	files, named := slices.Collect(maps.Values(f.files)), f.named
	f.named = false
	f.mu.Unlock()
	if named {
		if err := f.fs.SyncDir(f.dir); err != nil {
			return err
		}
	}
	for _, one := range files {
		size := one.size.Load()
		if one.synced >= size {
			continue
		}
		if err := one.Sync(); err != nil {
			return err
		}
		f.mu.Lock()
		one.synced = size
		f.mu.Unlock()
	}
	return nil
}

// List describes the files, as far as they are on disk, in order and without some.
func (f *Files) List(without ...uint32) []File {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var out []File
	for _, one := range f.files {
		if size := min(one.synced, one.solid); size > 0 && !slices.Contains(without, one.number) {
			out = append(out, File{one.number, size, one.dead})
		}
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// Close closes the files without a sync.
func (f *Files) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.files {
		_ = one.close()
	}
}
