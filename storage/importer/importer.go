// Package importer decides how a file becomes a document: its type (a Note for text, a Picture for an image, a File
// for anything else), and whether it replaces a document that the folder already has. Operations, uploads and the
// synchronizer share these rules.
package importer

import (
	"strings"
	"unicode/utf8"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/search"
)

// Typed completes a type that says nothing from the name and the content.
func Typed(b *storage.Blob) (*storage.Blob, error) {
	// Browsers and programs send octet-stream for what they do not know, so it says as little as nothing.
	if b.Type != "" && b.Type != "application/octet-stream" {
		return b, nil
	}
	r, err := b.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, min(b.Size, 4096))
	n, err := r.Read(head)
	if n == 0 && b.Size > 0 {
		return nil, err
	}
	typ, encoding := blob.TypeOf(b.Name, b.Type, head[:n])
	return b.With(b.Name, typ).WithEncoding(encoding), nil
}

// Props chooses the type of document for a file and the properties that hold it.
func Props(t *storage.Tx, b *storage.Blob) (string, storage.Props, error) {
	types := storage.TypesOf(t)
	if isText(b.Type) && b.Size <= storage.MaxNoteText {
		text, err := b.Bytes(storage.MaxNoteText)
		if err != nil {
			return "", nil, err
		}
		// The types are those of the server's own declarations, which may lack these or have changed them;
		// File is the last resort.
		if note, ok := types.Type("Note"); ok && note.HasSchema("note") && utf8.Valid(text) {
			content := strings.TrimPrefix(string(text), "\ufeff")
			if storage.NoteHolds(content) {
				return "Note", storage.Props{"note:note": content, "note:mime_type": b.Type}, nil
			}
		}
	}
	group, _, _ := strings.Cut(b.Type, "/")
	if name := byGroup[group]; name != "" {
		if d, ok := types.Type(name); ok && d.HasSchema("file") {
			return name, storage.Props{"file:content": b}, nil
		}
	}
	return "File", storage.Props{"file:content": b}, nil
}

// byGroup are the types of documents for groups of types of files.
var byGroup = map[string]string{"audio": "Audio", "image": "Picture", "video": "Video"}

func isText(typ string) bool {
	return strings.HasPrefix(typ, "text/") || typ == "application/xml" || typ == "application/xhtml+xml"
}

// Find returns the first document of the type in a folder with a title or file name, nil if there is none.
func Find(t *storage.Tx, folder *storage.Doc, typeName, name string) (*storage.Doc, error) {
	for child, err := range search.Called(t, folder, storage.NoteTitles(name)...) {
		if err != nil {
			return nil, err
		}
		if child.Type().Name != typeName || child.IsTrashed() || child.IsProxy() || child.IsVersion() {
			continue
		}
		if child.Title() == name {
			return child, nil
		}
		// Somebody may have changed the title since the import; the name of the file still says that it is
		// the same.
		if b, err := child.MainBlob(); err == nil && b != nil && b.Name == name {
			return child, nil
		}
	}
	return nil, nil
}
