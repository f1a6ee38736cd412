package blob

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"catena/engine/egress"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// Outside is what file operations may reach beyond the repository.
type Outside struct {
	Client *egress.Client // nil: public addresses by https
	Folder string         // below which files are exported; "": nowhere
}

// Kinds of jobs, and their data. Names and JSON are formats on disk: a job may have been written by the
// version before this one.
const (
	exportJob = "blob.export"
	postJob   = "blob.post"
)

type (
	exporting struct {
		Name string       `json:"name"` // below the folder
		File storage.Blob `json:"file"`
	}
	posting struct {
		URL  string       `json:"url"`
		File storage.Blob `json:"file"`
	}
)

// Jobs are the handlers of what file operations leave to the outbox.
func Jobs(blobs *blob.Store, o Outside) outbox.Handlers {
	return outbox.Handlers{
		exportJob: {Do: func(_ context.Context, j outbox.Job) error {
			var e exporting
			if err := json.Unmarshal(j.Data, &e); err != nil {
				return fault.Internal.Errorf("job %s: %w", j.Kind, err)
			}
			return export(o.Folder, e.Name, blobs.Load(e.File))
		}},
		// A job may run more than once. The identifier of the job goes along as an idempotency key for
		// receivers that know one.
		postJob: {Do: func(ctx context.Context, j outbox.Job) error {
			var p posting
			if err := json.Unmarshal(j.Data, &p); err != nil {
				return fault.Internal.Errorf("job %s: %w", j.Kind, err)
			}
			return post(ctx, o.Client, p.URL, blobs.Load(p.File), j.ID)
		}},
	}
}

// post sends a file as the body of a request. Anything but success is tried again.
func post(ctx context.Context, client *egress.Client, url string, b *storage.Blob, job string) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	h := http.Header{}
	h.Set("Content-Type", b.Type)
	if b.Type == "" {
		h.Set("Content-Type", blob.Unknown)
	}
	h.Set("Idempotency-Key", job)
	a, err := client.Post(ctx, url, h, r, b.Size)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.Status < 200 || a.Status > 299 {
		return fault.Unavailable.Errorf("url: responded with status %d", a.Status)
	}
	return nil
}

// export writes the content to a file of a passing name and gives it its own, which nobody
// else may have. One of the same size is what an earlier try wrote.
func export(folder, name string, b *storage.Blob) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fault.Unavailable.Errorf("directory: %w", err)
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fault.Unavailable.Errorf("file %s: %w", name, err)
	}
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	// The content is written under a random name and linked to its own once it is complete and synced. Link
	// fails if the name is taken, which Rename would not, so nothing is ever overwritten, and nobody sees
	// half a file.
	temp := filepath.Join(filepath.Dir(name), rand.Text()+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.Unavailable.Errorf("file %s: %w", name, err)
	}
	defer func() { _ = root.Remove(temp) }() // its other name stays
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fault.Unavailable.Errorf("file %s: %w", name, err)
	}
	switch err := root.Link(temp, name); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrExist):
		return fault.Unavailable.Errorf("file %s: %w", name, err)
	}
	// An earlier attempt of the same job may have linked the file and then stopped.
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() == b.Size {
		return nil
	}
	return fault.Exists.Errorf("file %s: already exists", name)
}
