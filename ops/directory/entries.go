package directory

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
)

// entries is for administrators and stored chains only, as in the platform: some directories are
// large, and the answer has no pages.
var entries = engine.Op{
	Name:     "Directory.Entries",
	Label:    "Get directory entries",
	Category: category,
	Doc:      "Returns every entry of a directory, as a JSON array of objects with all fields.",
	Effect:   engine.Reads,
	Callers:  engine.Admins.OrStored(),
	Run:      engine.Overload(engine.On(entriesParams.run), engine.On(entriesParams.doc)),
}

type entriesParams struct {
	Directory string `json:"directoryName" doc:"Name of the directory."`
	Lang      string `json:"lang,omitzero" doc:"Language of translated labels; by default that of the context variable lang, or English."`
	Translate bool   `json:"translateLabels" default:"false" doc:"Replace label keys by their texts."`
}

func (p entriesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return nil, err
	}
	found, err := all(d, record.Query{})
	if err != nil {
		return nil, err
	}
	return blobOf(c, found, p.Translate, p.Lang)
}

// doc ignores the document: directories are the same everywhere.
func (p entriesParams) doc(c *engine.Ctx, _ *storage.Doc) (*storage.Blob, error) {
	return p.run(c, engine.Void{})
}

func blobOf(c *engine.Ctx, found []*record.Entry, translate bool, lang string) (*storage.Blob, error) {
	out := make([]map[string]any, len(found))
	for i, e := range found {
		if translate {
			out[i] = translated(c, e, lang)
			continue
		}
		out[i] = object(e)
	}
	return jsonBlob(out)
}
