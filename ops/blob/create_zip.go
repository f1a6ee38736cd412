package blob

import (
	"archive/zip"
	"io"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// maxEntries bounds the files of one archive.
const maxEntries = 10_000

var createZip = engine.Op{
	Name:     "Blob.CreateZip",
	Label:    "Zip",
	Category: "Files",
	Doc:      "Packs the input files into one archive and returns it. Of two files with one name the later is called renamed_1_name; folders in names are left out.",
	Effect:   engine.Reads,
	Run:      engine.Overload(engine.On(createZipParams.blobs), engine.On(createZipParams.blob)),
}

type createZipParams struct {
	Filename string `json:"filename,omitzero" doc:"Name of the archive; without it the name of the first file."`
}

func (p createZipParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return p.blobs(c, storage.Blobs{b})
}

func (p createZipParams) blobs(c *engine.Ctx, files storage.Blobs) (*storage.Blob, error) {
	if len(files) > maxEntries {
		return nil, fault.Limit.Errorf("archive: %d files, at most %d allowed", len(files), maxEntries).WithCode("zip-entries")
	}
	name := p.Filename
	if name == "" && len(files) > 0 {
		name = files[0].Name
	}
	return c.Tx.SpoolBlob(name, "application/zip", func(w io.Writer) error { return pack(c, w, entryNames(files), files) })
}

// pack writes an archive of files under names.
func pack(c *engine.Ctx, w io.Writer, names []string, files storage.Blobs) error {
	archive := zip.NewWriter(w)
	for i, b := range files {
		if err := c.Err(); err != nil {
			return err
		}
		if err := addEntry(archive, &zip.FileHeader{Name: names[i], Method: zip.Deflate, Modified: c.Now}, b); err != nil {
			return err
		}
	}
	return archive.Close()
}

func addEntry(archive *zip.Writer, h *zip.FileHeader, b *storage.Blob) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := archive.CreateHeader(h)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}

// entryNames returns a name for each file that no other one has.
func entryNames(files storage.Blobs) []string {
	names := make([]string, len(files))
	taken := make(map[string]bool, len(files))
	renamed := 0
	for i, b := range files {
		plain := baseName(b.Name)
		name := plain
		for taken[name] {
			renamed++
			name = "renamed_" + strconv.Itoa(renamed) + "_" + plain
		}
		taken[name] = true
		names[i] = name
	}
	return names
}

// baseName cuts folders off a file name, whichever way its system separates them.
func baseName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if name == "" || name == "." || name == ".." {
		return "untitled"
	}
	return name
}
