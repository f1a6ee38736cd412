package resource

import (
	"net/url"
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// file finds the content a description names: an uploaded file, an address of this server's,
// or text.
func (e entity) file(v map[string]any) (out any, stays bool, err error) {
	if storage.UploadBatch(v) != "" {
		out, err = e.uploaded(v)
		return out, false, err
	}
	for _, key := range []string{"blobUrl", "data"} {
		if text, ok := v[key].(string); ok {
			if id, xpath, ok := e.address(text); ok {
				b, err := e.stored(id, xpath)
				return b, false, err
			}
		}
	}
	if text, ok := v["data"].(string); ok && !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return v, false, nil
	}
	return nil, true, nil
}

// uploaded returns an uploaded file, or nothing if there is none.
func (e entity) uploaded(v map[string]any) (any, error) {
	b, err := e.c.Uploaded(v)
	if b == nil {
		return nil, err
	}
	return b, err
}

// address reads {base}/nxfile/{repository}/{id}/{xpath}/{file name}.
func (e entity) address(text string) (id, xpath string, ok bool) {
	if rest, own := strings.CutPrefix(text, e.base); own {
		text = rest
	} else {
		return "", "", false
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", "", false
	}
	_, after, ok := strings.Cut(u.EscapedPath(), "/nxfile/")
	if !ok {
		return "", "", false
	}
	parts := strings.Split(after, "/")
	for i, part := range parts {
		if parts[i], err = url.PathUnescape(part); err != nil {
			return "", "", false
		}
	}
	if len(parts) < 2 {
		return "", "", false
	}
	xpath = "blobholder:0"
	if len(parts) > 3 {
		xpath = strings.Join(parts[2:len(parts)-1], "/")
	}
	return parts[1], xpath, true
}

func (e entity) stored(id, xpath string) (*storage.Blob, error) {
	d := e.d
	if id != d.ID() {
		var err error
		if d, err = e.c.Tx.Doc(storage.Ref(id)); err != nil {
			return nil, fault.Invalid.Errorf("file address: document %s: not found", id)
		}
	}
	b, err := file(d, xpath)
	if err != nil {
		return nil, fault.Invalid.Errorf("file address: document %s: no file at %s", id, xpath)
	}
	return b, nil
}
