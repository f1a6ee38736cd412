package drive

import (
	"cmp"
	"strconv"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/importer"
)

// Create makes a document of a file in a folder, or puts the file on one that is there if it is to be
// overwritten. A text becomes a note only if the note gives back the same bytes and name: otherwise the
// program would see a change that nobody made, and synchronize for ever. It checks no permission itself:
// storage does when it creates or saves the document.
func Create(c *engine.Ctx, folder *storage.Doc, b *storage.Blob, overwrite bool) (*storage.Doc, error) {
	tx := c.Tx
	b, err := importer.Typed(b.With(cmp.Or(b.Name, "Untitled"), b.Type))
	if err != nil {
		return nil, err
	}
	typ, props, err := importer.Props(tx, b)
	if err != nil {
		return nil, err
	}
	if text, note := props["note:note"].(string); note && (int64(len(text)) != b.Size || storage.NoteName(b.Name, b.Type) != b.Name) {
		typ, props = "File", storage.Props{"file:content": b}
	}
	// The document may be of another type than a new one would be, for example a File that holds a
	// text, so each type that a file can have become is tried.
	if overwrite {
		for _, typ := range []string{typ, "File", "Note"} {
			old, err := importer.Find(tx, folder, typ, b.Name)
			if err != nil {
				return nil, err
			}
			if old != nil {
				return Update(c, old, b)
			}
		}
	}
	props["dc:title"] = b.Name
	d, err := tx.Create(folder, typ, tx.Repo().NameOf(b.Name), props)
	if err != nil {
		return nil, err
	}
	return d, remember(c, d)
}

// Update puts a file on a document as its main one. What the document was is kept as a version first if nobody has
// changed it for a while, or if the computer that the file comes from may not know it.
func Update(c *engine.Ctx, d *storage.Doc, b *storage.Blob) (*storage.Doc, error) {
	tx := c.Tx
	old, err := d.MainBlob()
	if err != nil {
		return nil, err
	}
	if old != nil {
		if d, err = archive(c, d, old, b); err != nil {
			return nil, err
		}
		// The program may send content without a name; the file keeps the one it had.
		if b.Name == "" {
			b = b.With(old.Name, b.Type)
		}
	}
	if b, err = importer.Typed(b); err != nil {
		return nil, err
	}
	if err := d.AttachBlob("blobholder:0", b); err != nil {
		return nil, err
	}
	if d, err = named(tx, d, old, b.Name); err != nil {
		return nil, err
	}
	return d, remember(c, d)
}

// Rename gives an item another name: a file its name, and the document's title if that was the same, a folder its title.
// The path of the document stays, so links to it remain valid.
func Rename(tx *storage.Tx, it *Item, name string) (*storage.Doc, error) {
	if name == "" {
		return nil, fault.Invalid.Errorf("name: must not be empty").In("name")
	}
	d := it.Doc
	if it.Folder {
		if err := d.Set("dc:title", name); err != nil {
			return nil, err
		}
		return tx.Save(d, storage.SaveOptions{Source: source})
	}
	old, err := d.MainBlob()
	if err != nil {
		return nil, err
	}
	// Only a file that is stored as such has a name. The file of a note is made from its text, and
	// named after its title.
	if xpath, err := d.FileXpath("blobholder:0"); err != nil || xpath == "file:content" {
		if err := cmp.Or(err, d.Set("file:content", old.With(name, old.Type))); err != nil {
			return nil, err
		}
	}
	return named(tx, d, old, name)
}

// source says in audit records where a change comes from.
const source = "drive"

// named saves a document whose file was changed. The title stays the file's name; that of a note is it.
func named(tx *storage.Tx, d *storage.Doc, old *storage.Blob, name string) (*storage.Doc, error) {
	xpath, err := d.FileXpath("blobholder:0")
	if err != nil {
		return nil, err
	}
	if xpath == "note:note" && (old == nil || old.Name != name) || old != nil && d.Title() == old.Name {
		if err := d.Set("dc:title", name); err != nil {
			return nil, err
		}
	}
	return tx.Save(d, storage.SaveOptions{Source: source})
}

// Versioning says when an update keeps what was before as a version. Its JSON is a format on disk. The
// zero value would make a version for each update; see defaultVersioning.
type Versioning struct {
	Delay time.Duration // after no change for so long
	None  bool          // never
	Major bool          // by a major version
}

// defaultVersioning is that of servers that were told nothing else.
var defaultVersioning = Versioning{Delay: time.Hour}

const (
	optionTable   = "sync options"
	versioningRow = "versioning"
)

// VersioningOf reads what the server was told.
func VersioningOf(tx *storage.Tx) (Versioning, error) {
	v := defaultVersioning
	_, err := tx.Table(optionTable).Get(versioningRow, &v)
	return v, err
}

// SetVersioning has updates keep versions otherwise: by a delay in seconds and an increment of NONE, MINOR or MAJOR;
// "" leaves it as it is.
func SetVersioning(tx *storage.Tx, delay, increment string) error {
	v, err := VersioningOf(tx)
	if err != nil {
		return err
	}
	if delay != "" {
		// 32 bits, so that the multiplication by a second cannot overflow.
		seconds, err := strconv.ParseInt(delay, 10, 32)
		if err != nil || seconds < 0 {
			return fault.Invalid.Errorf("delay %q: must be a number of seconds", delay).In("delay")
		}
		v.Delay = time.Duration(seconds) * time.Second
	}
	if increment != "" {
		how, err := storage.ParseVersioning(increment)
		if err != nil {
			return fault.Invalid.Errorf("%w", err).In("option")
		}
		v.None, v.Major = how == storage.NoVersion, how == storage.MajorVersion
	}
	return tx.Table(optionTable).Put(versioningRow, v)
}

// archive keeps a document as a version before its file is replaced: if the server's rule says so, and always
// if the computer that the new file comes from may not have seen what it replaces, for then nobody has chosen
// between the two. The rule for other contributors is the repository's own. It returns the document as it is
// then. Files with the same digest never need a version because of the computer.
func archive(c *engine.Ctx, d *storage.Doc, old, new *storage.Blob) (*storage.Doc, error) {
	live, err := behind(c, d)
	if err != nil {
		return nil, err
	}
	if !canCheckIn(live) {
		return d, nil
	}
	v, err := VersioningOf(c.Tx)
	if err != nil {
		return nil, err
	}
	seen, err := hasSeen(c, live, old)
	if err != nil {
		return nil, err
	}
	// The added millisecond makes a change that is exactly as old as the delay count as recent:
	// dates are stored in whole milliseconds.
	if seen || old.Digest == new.Digest {
		at := moment(live, "dc:modified")
		if v.None || d.IsProxy() || at != nil && storage.Recent(c.Now, time.UnixMilli(*at), v.Delay+time.Millisecond) {
			return d, nil
		}
	}
	if _, err := c.Tx.CheckIn(live, v.Major, ""); err != nil || live == d {
		return d, err
	}
	return c.Tx.Doc(storage.Ref(d.ID()))
}

// canCheckIn reports whether a version of a document can be made.
func canCheckIn(d *storage.Doc) bool {
	return d != nil && !d.IsVersion() && d.IsVersionable() && d.IsCheckedOut()
}

// behind returns the document whose file a document shows: itself, or the target of a proxy. It is nil if the caller
// cannot read that, or if it is a version that is gone: saving refuses it.
func behind(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if !d.IsProxy() {
		return d, nil
	}
	target, err := c.Tx.Doc(storage.Ref(d.TargetID()))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return target, err
}
