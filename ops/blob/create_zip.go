package blob

import (
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/archive"
	"catena/storage/fault"
)

// maxEntries bounds the files and folders of one archive. The directory of an archive is in memory while
// it is written, and each entry costs a file that is opened.
const maxEntries = 10_000

var createZip = engine.Op{
	Name:     "Blob.CreateZip",
	Label:    "Zip",
	Category: "Files",
	Doc:      "Packs the input files into one archive and returns it. If two files have the same name, the later one is called renamed_1_name; folders in names are dropped.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(createZipParams.blobs), engine.On(createZipParams.blob)),
}

type createZipParams struct {
	Filename string `json:"filename,omitzero" doc:"Name of the archive; by default the name of the first file."`
}

func (p createZipParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return p.blobs(c, storage.Blobs{b})
}

func (p createZipParams) blobs(c *engine.Ctx, files storage.Blobs) (*storage.Blob, error) {
	name := p.Filename
	if name == "" && len(files) > 0 {
		name = files[0].Name
	}
	var all entries
	for _, b := range files {
		if err := all.add("", b); err != nil {
			return nil, err
		}
	}
	return all.pack(c, name)
}

// entries are files and the names they get in an archive.
type entries struct {
	files   storage.Blobs
	names   []string
	taken   map[string]bool // also those of folders
	renamed int
}

func (e *entries) add(folder string, b *storage.Blob) error {
	name, err := e.free(folder, b.Name)
	e.files, e.names = append(e.files, b), append(e.names, name)
	return err
}

// free returns a name in a folder of the archive that no other entry has.
func (e *entries) free(folder, name string) (string, error) {
	if len(e.taken) == maxEntries {
		return "", fault.Limit.Errorf("archive: more than %d files and folders", maxEntries).WithCode(fault.CodeZipEntries)
	}
	if e.taken == nil {
		e.taken = map[string]bool{}
	}
	plain := baseName(name)
	path := folder + plain
	// The number counts all renamed files of the archive, not those of one name.
	for e.taken[path] {
		e.renamed++
		path = folder + "renamed_" + strconv.Itoa(e.renamed) + "_" + plain
	}
	e.taken[path] = true
	return path, nil
}

func (e *entries) pack(c *engine.Ctx, name string) (*storage.Blob, error) {
	return archive.New(c.Tx, name, func(to *archive.Writer) error {
		for i, b := range e.files {
			if err := to.AddBlob(e.names[i], b); err != nil {
				return err
			}
		}
		return nil
	})
}

// baseName cuts folders off a file name, whichever way its system separates them. An archive whose entries
// contain ".." or an absolute path would write outside of the folder where a careless program unpacks it.
func baseName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if name == "" || name == "." || name == ".." {
		return "untitled"
	}
	return name
}
