package disktest

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// data is the first place from one on where a file has data; io.EOF: there is none.
func data(f *os.File, from int64) (int64, error) {
	at, err := f.Seek(from, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return 0, io.EOF
	}
	return at, err
}
