package badger

import (
	"unsafe"

	"catena/storage/disk"
)

// block is what files past the page cache are written in multiples of.
const block = disk.Block

// blocks writes a file of whole blocks from its start on. The last block is written again with what
// comes to stand in it, which is what the page cache would do.
type blocks struct {
	file disk.File
	at   int64  // where the next byte goes
	buf  []byte // aligned; begins with what the block at that place holds
}

// write adds b to the file; zeros follow it up to the end of the block.
func (w *blocks) write(b []byte) error {
	held := int(w.at % block)
	end := held + len(b)
	whole := int(wholeBlocks(int64(end)))
	if whole > len(w.buf) {
		buf := aligned(whole)
		copy(buf, w.buf[:held])
		w.buf = buf
	}
	copy(w.buf[held:], b)
	clear(w.buf[end:whole])
	if _, err := w.file.WriteAt(w.buf[:whole], w.at-int64(held)); err != nil {
		return err
	}
	w.at += int64(len(b))
	last := w.buf[end&^(block-1) : whole]
	if whole > groupBytes {
		w.buf = aligned(block)
	}
	copy(w.buf, last)
	return nil
}

// wholeBlocks is the size of the blocks that n bytes take.
func wholeBlocks(n int64) int64 { return (n + block - 1) &^ (block - 1) }

// aligned is memory that begins at a multiple of a block.
func aligned(size int) []byte {
	b := make([]byte, size+block)
	at := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (block - 1)
	return b[at : int(at)+size : int(at)+size]
}
