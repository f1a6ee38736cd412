package drive

import (
	"crypto/md5" //nolint:gosec // what synchronizers compare files by; it protects nothing
	"encoding/hex"
	"io"

	"catena/engine"
	"catena/storage"
)

// sentTable has, by the id of a document, the last file that a computer put on it.
const sentTable = "sync files"

// sent is the last file that a computer put on a document. As long as the document has that file, the computer is known
// to have it too, and its digest can be told in the way synchronizers compute theirs.
type sent struct {
	Digest string // as the store computes it
	MD5    string // in hexadecimal
	User   int64  // number of the user whose computer it was
	Device string // "": the client did not say
}

func sentFor(tx *storage.Tx, d *storage.Doc) (s sent, err error) {
	_, err = tx.Table(sentTable).Get(liveID(d), &s)
	return s, err
}

// liveID is the id of what a change of the document changes.
func liveID(d *storage.Doc) string {
	if d.IsProxy() {
		return d.TargetID()
	}
	return d.ID()
}

// remember notes that the computer that calls put its file on the document.
func remember(c *engine.Ctx, d *storage.Doc) error {
	stored, err := d.MainBlob()
	if err != nil || stored == nil {
		return err
	}
	r, err := stored.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	// The digest protects nothing, it is only compared with what the program computes. The file is
	// read again for it, in full: the store knows SHA-256 alone.
	sum := md5.New() //nolint:gosec // as above
	if _, err := io.Copy(sum, c.Reader(r)); err != nil {
		return err
	}
	return c.Tx.Table(sentTable).Put(liveID(d), sent{
		Digest: stored.Digest, MD5: hex.EncodeToString(sum.Sum(nil)), User: c.As.ID, Device: c.Device(),
	})
}

// hasSeen reports whether the computer that calls is the one that put the document's present file there. A client that
// does not say on which computer it runs may be any. The header with the device is the client's word and
// grants nothing: a false one only leaves out a version.
func hasSeen(c *engine.Ctx, d *storage.Doc, present *storage.Blob) (bool, error) {
	s, err := sentFor(c.Tx, d)
	return s.Device != "" && s.Device == c.Device() && s.User == c.As.ID && s.Digest == present.Digest, err
}

// forget removes what is kept about a document that is erased.
func forget(tx *storage.Tx, d *storage.Doc) error { return tx.Table(sentTable).Delete(d.ID()) }
