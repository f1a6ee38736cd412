package drive

import (
	"cmp"
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// DocID returns the id of the document that the id of an item names: its last part.
func DocID(item string) string { return item[strings.LastIndexByte(item, '#')+1:] }

// Find returns the item of an id, nil if there is none. What stands in front of the document's id may be missing,
// but not be wrong. A prefix that is wrong is refused, because an item that was a root and is none now
// must look deleted to a program that still asks with its old id.
func (v *View) Find(id string) (*Item, error) {
	if id == TopID {
		return v.Top(), nil
	}
	if it, err := v.shelf(id); it != nil || err != nil {
		return it, err
	}
	d, err := readable(v.tx, DocID(id))
	if err != nil || d == nil {
		return nil, err
	}
	it, err := v.Item(d)
	if err != nil || it == nil || it.ID != id && !strings.HasSuffix(it.ID, "#"+id) {
		return nil, err
	}
	return it, nil
}

// Need is Find for what has to be there.
func (v *View) Need(id string) (*Item, error) {
	it, err := v.Find(id)
	if err == nil && it == nil {
		err = fault.NotFound.Errorf("file system item %s: does not exist", id)
	}
	return it, err
}

// NeedFolder is Need for a folder.
func (v *View) NeedFolder(id string) (*Item, error) {
	it, err := v.Need(id)
	if err == nil && !it.Folder {
		return nil, fault.Invalid.Errorf("file system item %s: is not a folder", id)
	}
	return it, err
}

// Children returns what is in a folder: of the top the roots by title, of a folder the first of its children in
// their order, as many as a page may have. What the caller may not read is left out. A folder with more
// children than a page is not complete in this answer; programs that want everything use Scroll.
func (v *View) Children(of *Item) ([]*Item, error) {
	var docs storage.Docs
	var err error
	switch {
	case of.ID == TopID && v.own != nil:
		return v.shelves()
	case of.Doc == nil:
		docs = v.on(of.ID)
	case of.Doc.HasFacet("Collection"):
		docs, err = v.members(of.Doc)
	default:
		docs, err = v.content(of.Doc)
	}
	if err == nil && of.root {
		docs = append(docs, v.on(of.ID)...)
	}
	if err != nil {
		return nil, err
	}
	return v.items(of, docs)
}

// items are documents in a folder.
func (v *View) items(of *Item, docs storage.Docs) ([]*Item, error) {
	if err := sentAhead(v.tx, docs); err != nil {
		return nil, err
	}
	items := make([]*Item, 0, len(docs))
	for _, d := range docs {
		id := plainID(d)
		if v.roots[d.ID()] != nil {
			_, id = v.rootAt(d)
		}
		it, err := v.item(d, location{of.ID, of.Path, true}, id)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// shows reports whether a document is shown where it is, if the folder above it is.
func (v *View) shows(d *storage.Doc) bool { return v.roots[d.ID()] == nil && Shown(d) }

// content returns what is shown in a folder.
func (v *View) content(d *storage.Doc) (docs storage.Docs, err error) {
	// A folder that may be read but not looked into appears empty, which is how it looks elsewhere.
	if !v.tx.Can(d, "ReadChildren") {
		return nil, nil
	}
	for c, err := range v.tx.EachChild(d) {
		if err != nil {
			return nil, err
		}
		if v.shows(c) {
			docs = append(docs, c)
		}
		if len(docs) == v.tx.Repo().Limits().PageSize {
			break
		}
	}
	return docs, nil
}

// members returns what is shown in a collection. The number of members is limited by the family of
// collections; those that are roots themselves are shown as roots.
func (v *View) members(d *storage.Doc) (docs storage.Docs, err error) {
	list, err := d.Get("collection:documentIds")
	if err != nil {
		return nil, err
	}
	ids, _ := list.([]any)
	for _, id := range ids {
		name, _ := id.(string)
		m, err := readable(v.tx, name)
		if err != nil {
			return nil, err
		}
		if m != nil && v.shows(m) {
			docs = append(docs, m)
		}
	}
	return docs, nil
}

// Where a walk is that has come to its end, and what begins where one is that goes on. The words keep
// the end apart from a beginning, which is "", and both apart from a cursor.
const (
	scrollEnd   = "end"
	scrollBegin = "at."
)

// Scroll returns some of what is in a folder and in the folders there, and where to go on: what after is in
// the next call, "" in the first. Nothing is left once no items come. Nothing is kept between two calls.
// Where to go on is part of the token (storage.Descend), so that a program may continue after a restart of
// the server.
func (v *View) Scroll(of *Item, after string, want int) (items []*Item, next string, err error) {
	if limit := v.tx.Repo().Limits().PageSize; want < 1 || want > limit {
		return nil, "", fault.Invalid.Errorf("batchSize %d: must be between 1 and %d", want, limit).In("batchSize")
	}
	// The top and collections have no descendants in the sense of the repository: what is in them
	// lies elsewhere.
	if of.FolderRights == nil || !of.CanScrollDescendants {
		return nil, "", fault.Invalid.Errorf("file system item %s: its descendants cannot be listed in one call", of.ID).In("id")
	}
	if after == scrollEnd {
		return []*Item{}, scrollEnd, nil
	}
	walk := func(want int) (storage.Docs, string, error) {
		docs, next, err := storage.Descend(v.tx, of.Doc, strings.TrimPrefix(after, scrollBegin), want, func(d *storage.Doc) (taken, enter bool, err error) {
			shown := v.shows(d)
			return shown, shown && d.IsFolder(), nil
		})
		return docs, next, cmp.Or(err, sentAhead(v.tx, docs))
	}
	docs, next, err := walk(want)
	if err != nil {
		return nil, "", err
	}
	items = make([]*Item, 0, len(docs))
	for i, d := range docs {
		in, err := v.above(d)
		if err != nil {
			return nil, "", err
		}
		it, err := v.item(d, in, plainID(d))
		if err != nil {
			return nil, "", err
		}
		items = append(items, it)
		if v.tired() && i+1 < len(docs) {
			if _, next, err = walk(i + 1); err != nil {
				return nil, "", err
			}
			break
		}
	}
	if next == "" {
		return items, scrollEnd, nil
	}
	return items, scrollBegin + next, nil
}
