package storage

import "catena/storage/text"

// TextIn returns the text in a file, as much of it as full text looks at; "" for a file of a
// kind that has none.
func TextIn(b *Blob) (string, error) {
	if b == nil || !text.Readable(b.Type, b.Name) {
		return "", nil
	}
	f, err := b.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return text.Read(f, b.Size, b.Type, b.Name)
}
