package metadata

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"catena/storage/blob"
	"catena/storage/fault"
)

// maxWritten bounds the bytes of a file whose metadata is written.
const maxWritten = 128 << 20

// writer writes the metadata of one kind of file.
type writer struct {
	takes func(typ string) bool
	names []string // with their groups, in the order in which a name without one is looked for
	write func(ctx context.Context, t Tools, b *blob.Blob, texts map[string]string) (*blob.Blob, error)
}

var writers = []writer{
	{func(typ string) bool { return typ == "application/pdf" }, []string{"pdf:Title", "pdf:Author", "pdf:Subject", "pdf:Keywords", "pdf:Creator", "pdf:Producer"}, writePDF},
	{func(typ string) bool { return typ == "image/jpeg" }, slices.Concat(exifNames, gpsNames, iptcNames, xmpNames), writeJPEG},
	{func(typ string) bool { return typ == "image/tiff" }, slices.Concat(exifNames, gpsNames, iptcNames, xmpNames), writeTIFF},
	{func(typ string) bool { return typ == "image/png" }, slices.Concat(exifNames, gpsNames, xmpNames), writePNG},
	{func(typ string) bool { return typ == "image/webp" }, slices.Concat(exifNames, gpsNames, xmpNames), writeWebP},
	{func(typ string) bool { return partsOf(typ) != nil }, officeWritable, writeOffice},
}

// find is the place of a name, with or without its group, among those that the writer has; negative if it has none.
func (w *writer) find(name string) int {
	return slices.IndexFunc(w.names, func(known string) bool {
		_, short, _ := strings.Cut(known, ":")
		return strings.EqualFold(known, name) || strings.EqualFold(short, name)
	})
}

// Writable reports whether files of a type have a place for metadata of a name.
func Writable(typ, name string) bool {
	i := slices.IndexFunc(writers, func(w writer) bool { return w.takes(typ) })
	return i >= 0 && writers[i].find(name) >= 0
}

// writing identifies a file with other texts about it.
type writing struct {
	reading
	texts string // as JSON, whose order is that of the names
}

// Write returns a file with other texts about it, by names with or without their groups; empty ones go. What is not named
// stays, and so does the content, bit by bit in the case of pictures.
func Write(ctx context.Context, t Tools, b *blob.Blob, texts map[string]string) (*blob.Blob, error) {
	for _, w := range writers {
		if !w.takes(b.Type) {
			continue
		}
		full := map[string]string{}
		for name, text := range texts {
			i := w.find(name)
			if i < 0 {
				return nil, fault.Invalid.Errorf("metadata %q: cannot be written", name).In("metadata")
			}
			if len(text) > maxTagText {
				return nil, fault.Limit.Errorf("metadata %q: %d bytes, at most %d are allowed", name, len(text), maxTagText).In("metadata")
			}
			full[w.names[i]] = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
		}
		if t.Outside == nil {
			return w.write(ctx, t, b, full)
		}
		said, err := json.Marshal(full)
		if err != nil {
			return nil, err
		}
		made, err := t.Outside(writing{reading{b.Digest, b.Name, b.Type}, string(said)}, func(ctx context.Context) (any, error) { return w.write(ctx, t, b, full) })
		told, _ := made.(*blob.Blob)
		return told, err
	}
	return nil, fault.Invalid.Errorf("file %q: metadata of %s cannot be written", b.Name, b.Type).In("input")
}

// writePDF writes an update behind all that was there, so earlier signatures hold.
func writePDF(ctx context.Context, t Tools, b *blob.Blob, texts map[string]string) (told *blob.Blob, err error) {
	short := map[string]string{}
	for name, text := range texts {
		short[strings.TrimPrefix(name, "pdf:")] = text
	}
	err = t.pdf().Update(ctx, b, short, func(update io.Reader) error {
		r, err := b.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		told, err = t.NewBlob(b.Name, b.Type, io.MultiReader(r, update))
		return err
	})
	if err != nil {
		return nil, fault.Wrap(err, "file %q: the PDF cannot be changed", b.Name).In("input")
	}
	return told, nil
}

// remade is a file with other content.
func (t Tools) remade(b *blob.Blob, data []byte) (*blob.Blob, error) {
	return t.NewBlob(b.Name, b.Type, bytes.NewReader(data))
}

// eachGroup changes the texts about a picture group by group.
func eachGroup(b *blob.Blob, texts map[string]string, change func(group string, these map[string]string) error) error {
	for _, group := range []string{"exif:", "gps:", "xmp:", "iptc:"} {
		if these := changed(texts, group); len(these) > 0 {
			if err := change(group, these); err != nil {
				return fault.Invalid.Errorf("file %q: %s cannot be changed: %w", b.Name, group[:len(group)-1], err).In("input")
			}
		}
	}
	return nil
}

// changed are the texts of one group by their short names.
func changed(texts map[string]string, group string) map[string]string {
	out := map[string]string{}
	for name, text := range texts {
		if short, ok := strings.CutPrefix(name, group); ok {
			out[short] = text
		}
	}
	return out
}

// wordLists are the texts about pictures that are lists of words. They are written with commas between them, and each word is an entry
// of its own in the file.
var wordLists = map[string]bool{"Keywords": true, "Subject": true}

// itemsOf are the entries that a text of a name becomes.
func itemsOf(name, text string) (items []string) {
	if !wordLists[name] {
		return slices.DeleteFunc([]string{text}, func(text string) bool { return text == "" })
	}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
