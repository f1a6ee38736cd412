package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

// maxName is the number of bytes that file systems take for a name. The common file systems of Linux
// agree on it. A longer name would fail in the job, when nobody is there to read why.
const maxName = 255

func exportToFS(folder string) engine.Op {
	return engine.Op{
		Name:     "Blob.ExportToFS",
		Aliases:  []string{"Blob.ToFile"},
		Label:    "Export to File",
		Category: "Files",
		Doc: "Writes the file to a folder of the server, once the call is committed, and returns it. The folder must be below the configured export folder; " +
			"without one, nothing is written. Existing files are never overwritten.",
		Callers: engine.Admins,
		Run: engine.Each(func(p exportToFSParams, c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
			return b, p.export(c, folder, b)
		}),
	}
}

type exportToFSParams struct {
	Directory string `json:"directory" doc:"Folder for the file: an absolute path, or one relative to the configured folder."`
	Prefix    string `json:"prefix,omitzero" doc:"Prefix of the file's name."`
}

// export checks everything that can be checked now, and leaves the writing to a job: a file cannot be taken back if the transaction
// fails. os.Root keeps symbolic links from leading out of the folder.
func (p exportToFSParams) export(c *engine.Ctx, folder string, b *storage.Blob) error {
	if folder == "" {
		return fault.Denied.Errorf("directory: the server is not configured to export files").WithCode(fault.CodeExportFolder)
	}
	dir, err := p.below(folder)
	if err != nil {
		return err
	}
	base := baseName(p.Prefix + b.Name)
	if len(base) > maxName || strings.ContainsRune(base, 0) {
		return fault.Invalid.Errorf("file %.100q: not a valid file name of at most %d bytes", base, maxName)
	}
	name := filepath.Join(dir, base)
	// What can already be said about the target is said now, while the caller is there; the job checks it
	// again.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fault.Unavailable.Errorf("directory: %w", err)
	}
	defer func() { _ = root.Close() }()
	switch _, err := root.Lstat(name); {
	case err == nil:
		return fault.Exists.Errorf("file %s: already exists", name)
	case !errors.Is(err, fs.ErrNotExist):
		return fault.Invalid.Errorf("file %.100q: cannot be written: %w", name, err)
	}
	if err := hold.Stage(c.Tx, b); err != nil {
		return err
	}
	return c.Enqueue(exportJob, exporting{name, *b})
}

// below returns the folder asked for, seen from the configured one.
func (p exportToFSParams) below(folder string) (string, error) {
	dir := p.Directory
	// Chains of the platform contain absolute paths. They are accepted if they are below the configured
	// folder.
	if filepath.IsAbs(dir) {
		var err error
		if dir, err = filepath.Rel(folder, dir); err != nil {
			dir = ".."
		}
	}
	// The check is on the text; a symbolic link that leads out is refused by os.Root when the file is
	// written.
	if dir = filepath.Clean(dir); !filepath.IsLocal(dir) || strings.ContainsRune(dir, 0) {
		return "", fault.Denied.Errorf("directory %s: is not below the folder for exports", p.Directory).In("directory")
	}
	return dir, nil
}
