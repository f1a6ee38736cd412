package disktest

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// piece is how much of a file is read at a time.
const piece = 32 << 10

// Pieces calls read with the content of a file, in order and with the place of each piece. Pieces of zeros are left out, and holes,
// which a memtable of Badger mostly consists of, are not even read.
func Pieces(f *os.File, read func(at int64, b []byte) error) error {
	buf, zeros := make([]byte, piece), make([]byte, piece)
	at, err := data(f, 0)
	for err == nil {
		at -= at % piece
		var n int
		n, err = f.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			break
		}
		if b := buf[:n]; !bytes.Equal(b, zeros[:n]) {
			if err := read(at, b); err != nil {
				return err
			}
		}
		if err == nil {
			at, err = data(f, at+piece)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// CopySparse writes the content of a file to a new one, in which pieces of zeros are holes.
func CopySparse(path string, from *os.File) error {
	w, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = Pieces(from, func(at int64, b []byte) error {
		_, err := w.WriteAt(b, at)
		return err
	})
	info, e := from.Stat()
	if e == nil {
		e = w.Truncate(info.Size())
	}
	return errors.Join(err, e, w.Close())
}
