package blob

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

var containerRendition = engine.Op{
	Name:     "Document.GetContainerRendition",
	Label:    "Gets the folder's children or the collection's members default renditions",
	Category: "Files",
	Doc: "Packs the main files of a folder's children or of a collection's members into one archive and returns it. Folders " +
		"and collections among them become folders of the archive. Documents that are hidden, in the trash or without a file are left out.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(containerParams.run),
}

type containerParams struct {
	Limit  int    `json:"limit" type:"int" default:"100" doc:"Maximum number of documents per folder or collection, by title."`
	Depth  int    `json:"maxDepth" type:"int" default:"1" doc:"Number of levels to pack; 1 packs only the folder's own children."`
	Reason string `json:"reason,omitzero" unused:"true" doc:"Accepted but ignored."`
}

// maxLevels bounds the levels of one archive. Folders are followed recursively, and the paths in the
// archive grow with each level.
const maxLevels = 20

func (p containerParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	switch {
	case !holds(d):
		return nil, fault.Invalid.Errorf("document %s: neither a folder nor a collection", d.Path()).In("input")
	case p.Limit < 1 || p.Limit > maxEntries:
		return nil, fault.Invalid.Errorf("limit: must be between 1 and %d", maxEntries).In("limit")
	case p.Depth < 1 || p.Depth > maxLevels:
		return nil, fault.Invalid.Errorf("maxDepth: must be between 1 and %d", maxLevels).In("maxDepth")
	}
	k := packer{c: c, limit: p.Limit, seen: map[string]bool{}}
	if err := k.gather(d, "", p.Depth); err != nil {
		return nil, err
	}
	return k.pack(c, baseName(d.Title())+".zip")
}

func holds(d *storage.Doc) bool { return d.IsFolder() || d.HasFacet("Collection") }

// packer gathers files under the names they get in an archive.
type packer struct {
	entries
	c     *engine.Ctx
	limit int
	seen  map[string]bool // folders and collections, which may hold each other
}

// gather adds the files of what a folder or collection holds, and of what is below that.
func (k *packer) gather(d *storage.Doc, path string, levels int) error {
	// The first place wins. Collections may contain each other, and without this the walk would go
	// round until the limit.
	if k.seen[d.ID()] {
		return nil
	}
	k.seen[d.ID()] = true
	page, err := k.held(d)
	if err != nil {
		return err
	}
	var below storage.Docs
	for _, found := range page.Docs {
		b, err := found.MainBlob()
		switch {
		case err != nil:
		case b != nil:
			err = k.add(path, b)
		case holds(found) && levels > 1:
			// Subfolders come after the files of their folder, so that files keep their names if a folder has
			// the same one.
			below = append(below, found)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range below {
		folder, err := k.free(path, f.Name())
		if err == nil {
			err = k.gather(f, folder+"/", levels-1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// held are the documents in a folder or collection that people see there.
func (k *packer) held(d *storage.Doc) (*storage.Page, error) {
	where := "ecm:parentId = ?"
	// A collection's members know the collection, not the reverse: that is what the index can find.
	if !d.IsFolder() {
		where = "collectionMember:collectionIds/* = ?"
	}
	// The query runs as the caller. With the id as the second key the order, and so which documents
	// a limit cuts off, does not vary between calls.
	return search.Query(k.c.Tx, "SELECT * FROM Document WHERE "+where+
		" AND ecm:mixinType <> 'HiddenInNavigation' AND ecm:isVersion = 0 AND ecm:isTrashed = 0 ORDER BY dc:title, ecm:uuid",
		search.Options{Args: []any{d.ID()}, PageOptions: storage.PageOptions{Limit: k.limit}})
}
