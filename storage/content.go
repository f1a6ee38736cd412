package storage

import (
	"context"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/text"
)

// KeepText says what full text finds a file by, where whoever made the file knows that better
// than the one who reads files: decks leave the speaker notes out.
func (t *Tx) KeepText(b *Blob, found string) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if len(found) > maxText {
		return fault.Limit.Errorf("text of %s: %d bytes, limit %d", b.Name, len(found), maxText)
	}
	return t.kv.Set(layout.ContentKey(b.Digest), append([]byte("\n"), found...))
}

// TextIn returns the text in a file, as much of it as full text looks at; "" for a file of a
// kind that has none.
func (r *Repo) TextIn(ctx context.Context, b *Blob) (string, error) {
	switch {
	case b == nil || !text.Readable(b.Type, b.Name):
		return "", nil
	case text.IsPDF(b.Type, b.Name):
		return r.pdfText(ctx, b)
	}
	f, err := b.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return text.Read(f, b.Size, b.Type, b.Name)
}
