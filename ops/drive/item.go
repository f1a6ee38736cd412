package drive

import (
	"net/url"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// The beginnings of ids say what an item is. They are the names of the platform's factories. Programs
// keep ids in databases of their own, so these must never change.
const (
	plainItem      = "defaultFileSystemItemFactory"
	rootItem       = "defaultSyncRootFolderItemFactory"
	collectionItem = "collectionSyncRootFolderItemFactory"

	// TopID is the id of the folder that all roots are in.
	TopID = "org.nuxeo.drive.service.impl.DefaultTopLevelFolderItemFactory#"
)

// Item is a document as a file or folder, or the folder that all roots are in. Names and order of the
// members are the platform's; members that are nil are written as null, except for the two parts that
// only files or only folders have.
type Item struct {
	ID              string `json:"id"`
	ParentID        string `json:"parentId"`
	Name            string `json:"name"`
	Folder          bool   `json:"folder"`
	Creator         string `json:"creator"`
	LastContributor string `json:"lastContributor"`
	Created         *int64 `json:"creationDate"`         // milliseconds since 1970
	Modified        *int64 `json:"lastModificationDate"` // the same
	CanRename       bool   `json:"canRename"`
	CanDelete       bool   `json:"canDelete"`
	Lock            *Lock  `json:"lockInfo"`
	Path            string `json:"path"` // ids from the top, each behind a slash
	User            string `json:"userName"`
	*FolderRights
	*Content

	Doc  *storage.Doc `json:"-"` // nil for the top and other folders of the server
	root bool
}

// FolderRights is what only folders have.
type FolderRights struct {
	CanCreateChild       bool `json:"canCreateChild"`
	CanScrollDescendants bool `json:"canScrollDescendants"`
}

// Content is what only files have.
type Content struct {
	DownloadURL     string `json:"downloadURL"` // below the address of the server
	DigestAlgorithm string `json:"digestAlgorithm"`
	Digest          string `json:"digest"`
	CanUpdate       bool   `json:"canUpdate"`
}

// Lock is who has locked a document.
type Lock struct {
	Owner   string `json:"owner"`
	Created int64  `json:"created"` // milliseconds since 1970
}

// location is where an item is shown. The zero value is nowhere: the item is not in any root that the
// user has chosen.
type location struct {
	id, path string
	ok       bool
}

var top = location{TopID, "/" + TopID, true}

// Shown reports whether a document can be a file or folder where it is: folders, and documents with a main
// file, unless they are trashed, versions, or hidden.
func Shown(d *storage.Doc) bool {
	if d.IsVersion() || d.IsTrashed() || d.Type().Name == "Collections" || d.HasFacet("HiddenInNavigation") {
		return false
	}
	if d.IsFolder() {
		return true
	}
	b, err := d.MainBlob()
	return err == nil && b != nil
}

// above returns the folder a document is shown in, if it is in a root. A parent that the caller may not
// read is like none: the item is then shown only if it is a root or in a collection.
func (v *View) above(d *storage.Doc) (location, error) {
	parent, err := v.tx.Parent(d)
	switch {
	case fault.Is(err, fault.Denied) || fault.Is(err, fault.NotFound) || err == nil && parent == nil:
		return location{}, nil
	case err != nil:
		return location{}, err
	}
	return v.folder(parent)
}

// folder returns where a folder is shown. Results are remembered for the call, also that a folder is not
// shown: items of one answer mostly share their folders. The empty entry that is made first ends a loop of
// collections that contain each other.
func (v *View) folder(d *storage.Doc) (location, error) {
	if p, known := v.locations[d.ID()]; known {
		return p, nil
	}
	v.locations[d.ID()] = location{}
	p := location{}
	if root := v.roots[d.ID()]; root != nil {
		in, id := v.rootAt(root)
		p = in.with(id)
	} else if Shown(d) && d.IsFolder() {
		in, err := v.parent(d)
		if err != nil {
			return location{}, err
		}
		if in.ok {
			p = in.with(plainID(d))
		}
	}
	v.locations[d.ID()] = p
	return p, nil
}

func (p location) with(id string) location { return location{id, p.path + "/" + id, true} }

// parent returns the folder or collection that something which is no root is shown in. The folder counts
// before a collection, so that a document is shown in one place. The collections must be roots, since
// collections are shown at the top only.
func (v *View) parent(d *storage.Doc) (location, error) {
	p, err := v.above(d)
	if err != nil || p.ok {
		return p, err
	}
	for _, id := range collections(d) {
		if root := v.roots[id]; root != nil && root.HasFacet("Collection") {
			in, id := v.rootAt(root)
			return in.with(id), nil
		}
	}
	return location{}, nil
}

// collections returns the ids of the collections a document is in.
func collections(d *storage.Doc) (ids []string) {
	list, _ := d.Get("collectionMember:collectionIds")
	items, _ := list.([]any)
	for _, item := range items {
		if id, ok := item.(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func rootID(d *storage.Doc) string {
	if d.HasFacet("Collection") {
		return collectionItem + "#" + docKey(d)
	}
	return rootItem + "#" + docKey(d)
}

func plainID(d *storage.Doc) string { return plainItem + "#" + docKey(d) }

func docKey(d *storage.Doc) string { return d.Repository() + "#" + d.ID() }

// Top returns the folder that all roots are in.
func (v *View) Top() *Item {
	return &Item{
		ID: TopID, Name: "Nuxeo Drive", Folder: true, Creator: "system", LastContributor: "system", Path: top.path,
		User: v.tx.Principal().Name, FolderRights: &FolderRights{},
	}
}

// Item returns a document as an item; nil if it is none.
func (v *View) Item(d *storage.Doc) (*Item, error) {
	if v.roots[d.ID()] != nil {
		in, id := v.rootAt(d)
		it, err := v.item(d, in, id)
		return v.named(it), err
	}
	if !Shown(d) {
		return nil, nil //nolint:nilnil // no item
	}
	in, err := v.parent(d)
	if err != nil || !in.ok {
		return nil, err
	}
	return v.item(d, in, plainID(d))
}

// item is a document in a folder.
func (v *View) item(d *storage.Doc, in location, id string) (*Item, error) {
	root := v.roots[d.ID()] != nil
	// Sections and proxies are shown, but renaming or deleting them on a disk would change what
	// others see published.
	fixed := d.HasFacet("MasterPublishSpace") || d.HasFacet("PublishSpace") || d.IsProxy()
	it := &Item{
		ID: id, ParentID: in.id, Name: d.Title(), Folder: root || d.IsFolder(), Path: in.path + "/" + id, User: v.tx.Principal().Name, Doc: d, root: root,
		Creator: text(d, "dc:creator"), LastContributor: text(d, "dc:lastContributor"),
		Created: moment(d, "dc:created"), Modified: moment(d, "dc:modified"),
	}
	if owner, since, ok := d.Locked(); ok {
		it.Lock = &Lock{owner, since.UnixMilli()}
		fixed = fixed || owner != it.User && !v.tx.Principal().Admin
	}
	// A root can always be deleted: that only ends its synchronization.
	it.CanRename, it.CanDelete = !fixed && v.tx.Can(d, "WriteProperties"), root
	if !root && !fixed {
		var err error
		if it.CanDelete, err = v.canDelete(d); err != nil {
			return nil, err
		}
	}
	if it.Folder {
		it.FolderRights = &FolderRights{CanCreateChild: d.IsFolder() && v.tx.Can(d, "AddChildren"), CanScrollDescendants: d.IsFolder()}
		return it, nil
	}
	ok, err := v.addFile(it)
	if err != nil || !ok {
		return nil, err
	}
	return it, nil
}

// addFile says of an item what only files have; ok is false if it has no file. The program compares the digest with
// the MD5 of its own copy to find out what has changed. With that of another algorithm it takes a file that was moved
// and edited on the computer for one that has changed here, and overwrites it. So the MD5 is told wherever possible, and
// otherwise the SHA-256 of the store.
func (v *View) addFile(it *Item) (ok bool, err error) {
	b, err := it.Doc.MainBlob()
	if err != nil || b == nil {
		return false, err
	}
	if b.Name != "" {
		it.Name = b.Name
	}
	it.Content = &Content{DownloadURL: download(it.Doc, it.Name), DigestAlgorithm: "SHA-256", Digest: b.Digest, CanUpdate: it.CanRename}
	sum, err := v.digest(it.Doc, b)
	if sum != "" {
		it.DigestAlgorithm, it.Digest = "MD5", sum
	}
	return true, err
}

// canDelete reports whether the user may move a document to the trash: permissions on the document and on its folder.
func (v *View) canDelete(d *storage.Doc) (bool, error) {
	if !v.tx.Can(d, "Remove") || !v.tx.Can(d, "WriteLifeCycle") {
		return false, nil
	}
	up, err := v.tx.Parent(d)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return false, err
	}
	return up == nil || v.tx.Can(up, "RemoveChildren"), nil
}

// unfit replaces the characters that names of files do not have everywhere, on all systems: the same
// folder may be synchronized to several.
var unfit = strings.NewReplacer("/", "-", `\`, "-", "*", "-", "<", "-", ">", "-", "?", "-", `"`, "-", ":", "-", "|", "-")

func download(d *storage.Doc, name string) string {
	// The address is relative to the server's, and the name in it only decides what the download is
	// called.
	return "nxfile/" + d.Repository() + "/" + d.ID() + "/blobholder:0/" + url.PathEscape(unfit.Replace(name))
}

func text(d *storage.Doc, xpath string) string {
	v, _ := d.Get(xpath)
	s, _ := v.(string)
	return s
}

func moment(d *storage.Doc, xpath string) *int64 {
	v, _ := d.Get(xpath)
	at, ok := v.(time.Time)
	if !ok || at.IsZero() {
		return nil
	}
	ms := at.UnixMilli()
	return &ms
}

// Movable reports whether the user may move the item elsewhere.
func (it *Item) Movable() bool { return it.Doc != nil && !it.root && it.CanDelete }

// IsCollection reports whether what has this id is a collection.
func IsCollection(id string) bool { return strings.HasPrefix(id, collectionItem+"#") }
