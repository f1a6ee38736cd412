package archive

import (
	"archive/zip"
	"io"

	"catena/storage"
	"catena/storage/fault"
)

// Writer is a ZIP archive that is being written.
type Writer struct {
	zip *zip.Writer
	tx  *storage.Tx
}

// Add puts an entry into the archive, named with slashes between folders.
func (a *Writer) Add(name string, r io.Reader) error {
	if err := a.tx.Context().Err(); err != nil {
		return err
	}
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: a.tx.Now()})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}

// AddBlob puts a file into the archive.
func (a *Writer) AddBlob(name string, b *storage.Blob) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return a.Add(name, r)
}

// New takes in, like NewBlob, the archive that fill makes. It returns when fill has.
func New(t *storage.Tx, name string, fill func(*Writer) error) (*storage.Blob, error) {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := error(fault.Internal.Errorf("file %s: not written to its end", name))
		defer func() {
			if p := recover(); p != nil {
				err = fault.Internal.Errorf("file %s: %v", name, p)
			}
			w.CloseWithError(err)
		}()
		a := &Writer{zip.NewWriter(w), t}
		if err = fill(a); err == nil {
			err = a.zip.Close()
		}
	}()
	b, err := t.NewBlob(name, "application/zip", r)
	r.CloseWithError(io.ErrClosedPipe)
	<-done
	return b, err
}
