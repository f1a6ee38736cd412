package blob

import (
	"cmp"
	"maps"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/importer"
)

var importFile = engine.Op{
	Name:     "FileManager.Import",
	Label:    "Create Document from file",
	Category: "Services",
	Doc: "Creates a document from the file in the folder named by the context variable currentDocument: a Note for text, a Picture for an image, a File for anything else. " +
		"Its title is the file name. Everything happens in the transaction of the call.",
	Callers: engine.Anyone,
	Run:     engine.Each(importParams.run),
}

type importParams struct {
	NoTypeCheck bool `json:"noMimeTypeCheck" default:"false" doc:"Trust the file's declared type instead of detecting it."`
	// The misspelt name is the platform's, and clients send it; the right one is an alias.
	Overwrite bool `json:"overwite" alias:"overwrite" default:"false" doc:"Replace the file of a document with the same title or file name, if the folder has one."`
}

func (p importParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	return p.with(c, b, nil)
}

// with imports a file as a document that gets properties too.
func (p importParams) with(c *engine.Ctx, b *storage.Blob, more map[string]any) (*storage.Doc, error) {
	folder, err := container(c)
	if err != nil {
		return nil, err
	}
	return p.into(c, folder, b, more)
}

// into imports a file into a folder.
func (p importParams) into(c *engine.Ctx, folder *storage.Doc, b *storage.Blob, more map[string]any) (_ *storage.Doc, err error) {
	name := baseName(cmp.Or(b.Name, "Untitled"))
	// The type that a client declares is often a guess from the name. It decides about the type of the
	// document, so it is detected from the content unless the caller insists.
	if !p.NoTypeCheck {
		if b, err = importer.Typed(b); err != nil {
			return nil, err
		}
	}
	typeName, props, err := importer.Props(c.Tx, b.With(name, b.Type))
	if err != nil {
		return nil, err
	}
	props["dc:title"] = name
	// Properties that the caller gives win over those derived from the file.
	maps.Copy(props, more)
	if p.Overwrite {
		old, err := importer.Find(c.Tx, folder, typeName, name)
		if err != nil {
			return nil, err
		}
		if old != nil {
			return replace(c, old, props)
		}
	}
	return c.Tx.Create(folder, typeName, c.Tx.Repo().NameOf(name), props)
}

// container returns the folder documents are made in. Clients of the platform set the variable with the
// path or id of the folder; a chain may hold a document in it. It must be readable for the caller;
// whether something may be created in it is checked by Create.
func container(c *engine.Ctx) (*storage.Doc, error) {
	switch v := c.Vars["currentDocument"].(type) {
	case *storage.Doc:
		if v != nil {
			// The variable may hold a document that an earlier step has changed; the folder is needed as it
			// is stored.
			return c.Tx.Reload(v)
		}
	case string:
		if v != "" {
			return c.Tx.Doc(storage.Ref(v))
		}
	case storage.Ref:
		return c.Tx.Doc(v)
	}
	return nil, fault.Invalid.Errorf("variable currentDocument: must be the path or id of a folder").In("currentDocument")
}
