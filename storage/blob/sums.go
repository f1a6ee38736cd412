package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"path"
	"sync"
)

// A digest proves that content is whole once all of it was read; parts are proved by checksums of blocks (CRC-32C,
// blockSize bytes each), which are taken from the same bytes as the digest. Content of several blocks has them in a file
// beside it. That file is never synced and carries a checksum of its own: where it is missing or damaged, as for content
// that earlier versions kept or after a power failure, regardless of who first needs it reads the whole content, compares it with
// the digest and writes the file again. Content of one block needs none, since there the digest serves as well.
const (
	sumsSuffix = ".crc"
	sumsMagic  = "catena-crc32c-1\n"
	sumsHead   = len(sumsMagic) + 8
	// sumsRoom is how many checksums are held in memory, 4 bytes each; an entry counts as sumsEntry of them more.
	sumsRoom  = 4 << 20
	sumsEntry = 50
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sums are the checksums of the blocks of a content, in order.
type sums []uint32

// blocksIn returns how many blocks a content of size bytes has.
func blocksIn(size int64) int64 { return (size + blockSize - 1) / blockSize }

// isDamaged says where a block is damaged.
const isDamaged = "is damaged between bytes %d and %d"

// mismatch returns the place and the size of the first block in p that does not have its checksum; size 0 if all do. The
// first byte of p is that of the block which begins at a place.
func (s sums) mismatch(p []byte, at int64) (from, n int64) {
	for i := at / blockSize; len(p) > 0; i++ {
		n := min(blockSize, len(p))
		if crc32.Checksum(p[:n], castagnoli) != s[i] {
			return i * blockSize, int64(n)
		}
		p = p[n:]
	}
	return 0, 0
}

// sumsIn returns the checksums of content in memory.
func sumsIn(data []byte) sums {
	out := make(sums, 0, blocksIn(int64(len(data))))
	for len(data) > 0 {
		n := min(blockSize, len(data))
		out = append(out, crc32.Checksum(data[:n], castagnoli))
		data = data[n:]
	}
	return out
}

// summer is the SHA-256 hash of what is written to it, and takes the checksums of its blocks.
type summer struct {
	hash.Hash

	done sums
	last uint32 // of the block that is not full yet
	n    int64
	gap  bool // the hash began in the middle, so that the first checksums are not known
}

func newSummer() *summer { return &summer{Hash: sha256.New()} }

// Write adds bytes.
func (h *summer) Write(p []byte) (int, error) {
	_, _ = h.Hash.Write(p)
	for rest := p; len(rest) > 0 && !h.gap; {
		n := min(blockSize-int(h.n%blockSize), len(rest))
		h.last = crc32.Update(h.last, castagnoli, rest[:n])
		if h.n += int64(n); h.n%blockSize == 0 {
			h.done, h.last = append(h.done, h.last), 0
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// digest returns the digest of all that was written.
func (h *summer) digest() string { return hex.EncodeToString(h.Sum(nil)) }

// sums returns the checksums of all that was written, nil if they are not known.
func (h *summer) sums() sums {
	switch {
	case h.gap:
		return nil
	case h.n%blockSize == 0:
		return h.done
	}
	return append(h.done[:len(h.done):len(h.done)], h.last)
}

// clone returns the state for what may still change.
func (h *summer) clone() (*summer, error) {
	inner, err := h.Hash.(hash.Cloner).Clone()
	c := *h
	c.Hash, c.done = inner, h.done[:len(h.done):len(h.done)]
	return &c, err
}

// known holds checksums that were used lately.
type known struct {
	mu   sync.Mutex
	all  map[string]sums
	room int
}

func (k *known) get(digest string, size int64) sums {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.all[digest]; int64(len(s)) == blocksIn(size) {
		return s
	}
	return nil
}

// put adds checksums. Of too many, any others are forgotten.
func (k *known) put(digest string, s sums) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all, k.room = map[string]sums{}, sumsRoom
	}
	k.drop(digest)
	k.all[digest] = s
	k.room -= len(s) + sumsEntry
	for other := range k.all {
		if k.room >= 0 {
			return
		}
		if other != digest {
			k.drop(other)
		}
	}
}

func (k *known) drop(digest string) {
	if s, ok := k.all[digest]; ok {
		k.room += len(s) + sumsEntry
		delete(k.all, digest)
	}
}

func (k *known) forget(digest string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(digest)
}

// sumsFile is the name of the file with the checksums of a content.
func sumsFile(digest string) string { return contentPath(digest) + sumsSuffix }

// findSums returns the checksums of a content as far as they are known, nil if they are not.
func (s *Store) findSums(digest string, size int64) sums {
	if found := s.known.get(digest, size); found != nil || size <= blockSize || s.root.FS == nil {
		return found
	}
	text, err := s.root.ReadFile(sumsFile(digest))
	if err != nil {
		return nil
	}
	found := parseSums(text, size)
	if found != nil {
		s.known.put(digest, found)
	}
	return found
}

// recordSums has the checksums of a content found by findSums. Should the file not be written, they are taken again.
func (s *Store) recordSums(digest string, size int64, of sums) {
	if s.root.FS == nil || of == nil || int64(len(of)) != blocksIn(size) {
		return
	}
	s.known.put(digest, of)
	if size <= blockSize {
		return
	}
	err := s.dirs.make(path.Dir(sumsFile(digest)))
	if err == nil {
		err = s.writeSums(digest, formatSums(of, size))
	}
	if err != nil {
		s.log.Warn("checksums of content", "digest", digest, "error", err)
	}
}

func (s *Store) writeSums(digest string, text []byte) error {
	f, name, err := s.temp()
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.root.Rename(name, sumsFile(digest))
	}
	if err != nil {
		temporary{s.root, name}.remove()
	}
	return err
}

// dropSums forgets the checksums of content that is removed.
func (s *Store) dropSums(digest string) {
	s.known.forget(digest)
	if s.root.FS != nil {
		_ = s.root.Remove(sumsFile(digest))
	}
}

// sumsOf returns the checksums of a content, for which all of it is read and compared with its digest unless they are
// known. Several callers share one reading.
func (s *Store) sumsOf(digest string, size int64, whole func() (io.ReadCloser, error)) (sums, error) {
	if found := s.findSums(digest, size); found != nil || size == 0 {
		return found, nil
	}
	defer s.lock(digest + sumsSuffix)()
	if found := s.findSums(digest, size); found != nil {
		return found, nil
	}
	r, err := whole()
	if err != nil {
		return nil, err
	}
	c := s.check(r, digest, size)
	defer func() { _ = c.Close() }()
	if err := drain(c); err != nil {
		return nil, err
	}
	return c.h.sums(), nil
}

// drain reads to the end.
func drain(r io.Reader) error {
	b := sendPool.Get().(*sendBlock)
	defer sendPool.Put(b)
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, b[:])
	return err
}

func formatSums(of sums, size int64) []byte {
	out := append(make([]byte, 0, sumsHead+4*len(of)+4), sumsMagic...)
	out = binary.BigEndian.AppendUint64(out, uint64(size))
	for _, sum := range of {
		out = binary.BigEndian.AppendUint32(out, sum)
	}
	return binary.BigEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// parseSums returns nil if the text is not what formatSums made for content of that size.
func parseSums(text []byte, size int64) sums {
	n := blocksIn(size)
	if int64(len(text)) != int64(sumsHead)+4*n+4 || !bytes.HasPrefix(text, []byte(sumsMagic)) {
		return nil
	}
	body, end := text[:len(text)-4], text[len(text)-4:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(end) || binary.BigEndian.Uint64(body[len(sumsMagic):]) != uint64(size) {
		return nil
	}
	out := make(sums, n)
	for i := range out {
		out[i] = binary.BigEndian.Uint32(body[sumsHead+4*i:])
	}
	return out
}
