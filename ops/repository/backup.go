package repository

import (
	"io"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var backup = engine.Op{
	Name:     "Repository.Backup",
	Label:    "Backup",
	Category: "Services",
	Doc:      "Returns a consistent copy of the whole repository, documents and files, as one file that catena restore reads. The server goes on meanwhile.",
	Effect:   engine.Pure,
	Run:      engine.On(backupParams.run),
}

type backupParams struct{}

func (backupParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	repo := c.Engine().Repo()
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := error(fault.Internal.Errorf("backup: not written to its end"))
		defer func() {
			if p := recover(); p != nil {
				err = fault.Internal.Errorf("backup: %v", p)
			}
			w.CloseWithError(err)
		}()
		err = repo.Backup(c, w)
	}()
	name := "catena-" + c.Now.Format("20060102-150405") + ".tar"
	b, err := repo.Blobs().Spool(c, name, "application/x-tar", r, repo.Limits().BlobSize)
	r.CloseWithError(io.ErrClosedPipe)
	<-done
	return b, err
}
