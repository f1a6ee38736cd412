package drive

import (
	"crypto/md5" //nolint:gosec // what synchronizers compare files by; it protects nothing
	"encoding/hex"
	"io"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/work"
)

// sentTable has, by the id of a document, the last file that a computer put on it, or the one that was shown to one since.
const sentTable = "sync files"

// sent is a file of a document whose digest is known in the way synchronizers compute theirs. If a computer put it there,
// it is known to have it, as long as it is the file of the document.
type sent struct {
	Digest string // as the store computes it
	MD5    string // in hexadecimal
	User   int64  // number of the user whose computer sent it, 0 if none did
	Device string // "": none did, or the client did not say
}

func sentFor(tx *storage.Tx, d *storage.Doc) (s sent, err error) {
	_, err = tx.Table(sentTable).Get(liveID(d), &s)
	return s, err
}

// sentAhead tells that sentFor is about to be asked for documents.
func sentAhead(tx *storage.Tx, docs storage.Docs) error {
	a := storage.ReadsOf(tx)
	if a == nil {
		return nil
	}
	for _, d := range docs {
		if !d.IsFolder() {
			a.Row(tx.Table(sentTable), liveID(d))
		}
	}
	return a.Fetch()
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
	// The file is read again for it, in full: the store knows SHA-256 alone.
	sum, err := md5Of(c.Tx, stored)
	if err != nil {
		return err
	}
	return c.Tx.Table(sentTable).Put(liveID(d), sent{Digest: stored.Digest, MD5: sum, User: c.As.ID, Device: c.Device()})
}

// md5Of computes the MD5 of a file. It protects nothing, it is only compared with what the program computes.
func md5Of(tx *storage.Tx, b *storage.Blob) (string, error) {
	if b.IsElsewhere() {
		data, err := tx.Bytes(b, 0)
		sum := md5.Sum(data) //nolint:gosec // as above
		return hex.EncodeToString(sum[:]), err
	}
	r, err := b.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := md5.New() //nolint:gosec // as above
	_, err = io.Copy(sum, work.Reader(tx.Context(), r))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// A file is read for its digest where it is shown first, if it is not too large: about 2 ms for each MB. That must not depend
// on anything else: a digest that changes while the file stays the same is a conflict for a program that has changed its
// copy. A call that has read a multiple of the limit ends early, and the program goes on with another one.
const filesPerCall = 4

// tired reports whether enough was read for digests in this call.
func (v *View) tired() bool { return v.hashed > filesPerCall*limitsOf(v.tx).Digest }

// digest returns the MD5 of a document's file, "" if it is not to be told: of what no computer sent, if it is too large
// or damaged. What had to be computed is kept once the operation has answered.
func (v *View) digest(d *storage.Doc, b *storage.Blob) (string, error) {
	known, err := sentFor(v.tx, d)
	switch {
	case err != nil:
		return "", err
	case known.Digest == b.Digest && known.MD5 != "":
		return known.MD5, nil
	case b.Size > limitsOf(v.tx).Digest:
		return "", nil
	}
	v.hashed += b.Size
	sum, err := md5Of(v.tx, b)
	switch {
	case v.tx.Context().Err() != nil || fault.Is(err, fault.Unavailable):
		return "", err
	case err != nil:
		return "", nil //nolint:nilerr // a damaged file must not hide the others
	}
	if v.found == nil && v.ask != nil {
		v.ask(v.keep)
	}
	v.found = append(v.found, finding{liveID(d), sent{Digest: b.Digest, MD5: sum}})
	return sum, nil
}

// finding is what was computed of the file of a document.
type finding struct {
	id   string
	file sent
}

// keep writes what was computed, unless the document has another file meanwhile, or a computer sent this one.
func (v *View) keep(tx *storage.Tx) error {
	for _, f := range v.found {
		d, err := readable(tx, f.id)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		b, err := d.MainBlob()
		if err != nil || b == nil || b.Digest != f.file.Digest {
			continue
		}
		known, err := sentFor(tx, d)
		if err == nil && known.Digest != f.file.Digest {
			err = tx.Table(sentTable).Put(f.id, f.file)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
