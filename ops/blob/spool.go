package blob

import (
	"io"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// spool makes a file of what write writes. It returns when write has.
func spool(c *engine.Ctx, name, typ string, write func(io.Writer) error) (*storage.Blob, error) {
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
		err = write(w)
	}()
	b, err := c.Tx.NewBlob(name, typ, r)
	r.CloseWithError(io.ErrClosedPipe)
	<-done
	return b, err
}
