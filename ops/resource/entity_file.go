package resource

import (
	"net/url"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/upload"
)

// file finds the content a description names: an uploaded file, an address of this server's,
// or text.
// Clients send back a file as they have read it, with an address in "data". That must neither lose
// the content nor store the address as the content.
func (e entity) file(v map[string]any) (out any, stays bool, err error) {
	if upload.BatchIn(v) != "" {
		out, err = e.uploaded(v)
		return out, false, err
	}
	for _, key := range []string{"blobUrl", "data"} {
		if text, ok := v[key].(string); ok {
			if at, ok := e.address(text); ok {
				b, err := e.stored(at)
				return b, false, err
			}
		}
	}
	// An address of another server is never fetched, and the file stays as it was: a request could
	// otherwise make this server read from its own network.
	if text, ok := v["data"].(string); ok && !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return v, false, nil
	}
	return nil, true, nil
}

// uploaded returns an uploaded file, or nothing if there is none.
func (e entity) uploaded(v map[string]any) (any, error) {
	// A nil *storage.Blob in an interface would not be nil, hence the two returns.
	b, err := e.c.Uploaded(v)
	if b == nil {
		return nil, err
	}
	return b, err
}

// blobAddress is where an address of this server's leads; file is an xpath, a name or both.
type blobAddress struct{ repository, id, file string }

// address reads {base}/nxfile/{repository}/{id}/{xpath}/{file name}.
func (e entity) address(text string) (at blobAddress, ok bool) {
	// Without a base, every text has the prefix: calls that did not come over HTTP do not know the
	// server's address.
	if rest, own := strings.CutPrefix(text, e.base); own {
		text = rest
	} else {
		return at, false
	}
	u, err := url.Parse(text)
	if err != nil {
		return at, false
	}
	// Cut while still escaped: a slash in a file's name must not count as a separator.
	_, after, ok := strings.Cut(u.EscapedPath(), "/nxfile/")
	if !ok {
		return at, false
	}
	parts := strings.Split(after, "/")
	for i, part := range parts {
		if parts[i], err = url.PathUnescape(part); err != nil {
			return at, false
		}
	}
	if len(parts) < 2 {
		return at, false
	}
	return blobAddress{parts[0], parts[1], strings.Join(parts[2:], "/")}, true
}

func (e entity) stored(at blobAddress) (b *storage.Blob, err error) {
	// The content of another repository is read in a transaction of its own, as the same caller.
	if other := e.c.Tx.Repo().Sibling(at.repository); other != nil && other != e.c.Tx.Repo() {
		err := other.View(e.c, e.c.As, func(tx *storage.Tx) (err error) {
			b, err = e.read(tx, at)
			return err
		})
		return b, err
	}
	return e.read(e.c.Tx, at)
}

func (e entity) read(tx *storage.Tx, at blobAddress) (*storage.Blob, error) {
	d := e.d
	// The document itself may be unsaved or changed in memory; its own files are taken as they are
	// there. Others are read with the permissions of the caller, so an address cannot be used to
	// copy a file that the caller may not see.
	if at.id != d.ID() {
		var err error
		if d, err = tx.Doc(storage.Ref(at.id)); err != nil {
			return nil, fault.Invalid.Errorf("file address: document %s does not exist", at.id)
		}
	}
	xpath := unnamed(d, at.file)
	b, err := file(d, xpath)
	if err != nil {
		return nil, fault.Invalid.Errorf("file address: document %s: there is no file at %s", at.id, xpath)
	}
	return b, nil
}
