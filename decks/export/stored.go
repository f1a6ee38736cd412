package export

import (
	"context"
	"net/url"
	"strings"

	"catena/decks/file"
	"catena/storage"
	"catena/storage/fault"
)

// maxStored bounds a file that a deck shows.
// It equals the largest picture that the embedded renderer draws, in bytes.
const maxStored = 50 << 20

// find returns a file that an export's deck shows: one kept with the deck, or by an address of
// this server's, if the user who asked for the export may read it.
func (w *Worker) find(ctx context.Context, e *Export, address string) (data []byte, typ string, err error) {
	err = w.Repo.View(ctx, w.Repo.System(), func(tx *storage.Tx) error {
		f, err := file.Find(tx, e.Doc, address)
		if err == nil {
			typ = f.Blob.Type
			data, err = f.Load(tx).Bytes(f.Blob.Size)
			return err
		}
		// Only a file that is not there may be one of a document: what else fails would make an export without the picture.
		if !fault.Is(err, fault.NotFound) {
			return err
		}
		ref, xpath, ok := stored(e.Base, tx.Repo().Name(), address)
		if !ok {
			return fault.NotFound.Errorf("address %.100q: is not the address of a stored file", address)
		}
		owner, err := e.Principal(tx)
		if err != nil {
			return err
		}
		d, err := tx.As(owner).Doc(ref)
		if err != nil {
			return err
		}
		b, err := d.BlobAt(xpath)
		if err == nil && b == nil {
			err = fault.NotFound.Errorf("document %s: there is no file at %s", ref, xpath)
		}
		if err != nil {
			return err
		}
		typ = b.Type
		data, err = tx.Bytes(b, maxStored)
		return err
	})
	return data, typ, err
}

// stored reads the address of a document's file: nxfile/REPOSITORY/ID/XPATH/NAME, or the address
// of a document, id/ID or path/PATH, followed by @blob/XPATH. The server's own address may
// precede it.
func stored(base, repo, address string) (ref storage.Ref, xpath string, ok bool) {
	rest, own := strings.CutPrefix(address, base+"/")
	if base == "" || !own {
		rest, own = strings.CutPrefix(address, "/")
	}
	if !own {
		return "", "", false
	}
	parts, ok := pathOf(rest)
	if !ok {
		return "", "", false
	}
	for i, part := range parts[:min(len(parts), 3)] { // behind the path the server has, if any
		switch after := parts[i+1:]; {
		case part == "nxfile" && len(after) > 1 && after[0] == repo:
			return ofFile(after[1:])
		case part == "v1" && i > 0 && parts[i-1] == "api":
			if len(after) > 1 && after[0] == "repo" && after[1] == repo {
				after = after[2:]
			}
			return ofDocument(after)
		}
	}
	return "", "", false
}

// pathOf splits an address without scheme and host into the unescaped segments of its path.
func pathOf(address string) ([]string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Scheme != "" {
		return nil, false
	}
	parts := strings.Split(u.EscapedPath(), "/")
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return nil, false
		}
	}
	return parts, true
}

const mainFile = "blobholder:0"

// ofFile reads ID/XPATH/NAME, of which an xpath may have several segments. With one segment behind the ID,
// a colon tells an xpath from a name; without an xpath it is the main file.
func ofFile(parts []string) (ref storage.Ref, xpath string, ok bool) {
	xpath = mainFile
	if len(parts) > 2 {
		xpath = strings.Join(parts[1:len(parts)-1], "/")
	} else if len(parts) == 2 && strings.Contains(parts[1], ":") {
		xpath = parts[1]
	}
	return storage.Ref(parts[0]), xpath, parts[0] != ""
}

// ofDocument reads id/ID/@blob/XPATH and path/SEGMENTS/@blob/XPATH; without an xpath it is the main file.
func ofDocument(parts []string) (ref storage.Ref, xpath string, ok bool) {
	for i, part := range parts {
		if part != "@blob" || i < 2 {
			continue
		}
		xpath = strings.Join(parts[i+1:], "/")
		if xpath == "" {
			xpath = mainFile
		}
		switch parts[0] {
		case "id":
			return storage.Ref(parts[1]), xpath, i == 2
		case "path":
			return storage.Ref("/" + strings.Join(parts[1:i], "/")), xpath, true
		}
	}
	return "", "", false
}
