package metadata

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/text"
)

// maxAbout bounds, in bytes, the part of an office document that describes it.
// Such a part is a few kilobytes in real documents; a compressed one could expand without end.
const maxAbout = 1 << 20

// officeParts are the parts of office documents that describe them, by the beginning of their types.
var officeParts = map[string][]string{
	"application/vnd.openxmlformats-officedocument.": {"docProps/core.xml", "docProps/app.xml"},
	"application/vnd.oasis.opendocument.":            {"meta.xml"},
}

// officeNames are the names of metadata by those of elements in both families of formats.
var officeNames = map[string]string{
	"title": "title", "subject": "subject", "description": "description", "creator": "author", "initial-creator": "author",
	"keywords": "keywords", "keyword": "keywords", "lastModifiedBy": "lastModifiedBy", "category": "category", "language": "language",
	"created": "created", "creation-date": "created", "modified": "modified", "date": "modified",
	"Application": "application", "generator": "application", "Company": "company", "Pages": "pages", "Slides": "slides", "Words": "words",
}

// partsOf returns the parts that describe a document of a type, nil for other types.
func partsOf(typ string) []string {
	for prefix, parts := range officeParts {
		if strings.HasPrefix(typ, prefix) {
			return parts
		}
	}
	return nil
}

// readOffice adds what an office document says about itself. What is damaged is not a document of its type.
func readOffice(b *blob.Blob, out map[string]any) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	// Archive bounds the list of parts; the size of each part is bounded in readPart.
	archive, err := text.Archive(r, b.Size)
	if err != nil {
		return fault.Invalid.Errorf("file %q: the document cannot be read: %w", b.Name, err).In("input")
	}
	for _, name := range partsOf(b.Type) {
		if err := readPart(archive, name, out); err != nil {
			return fault.Invalid.Errorf("file %q: %s cannot be read: %w", b.Name, name, err).In("input")
		}
	}
	return nil
}

// readPart adds the elements of one part; a document need not have it.
func readPart(archive *zip.Reader, name string, out map[string]any) error {
	f, err := archive.Open(name)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	defer func() { _ = f.Close() }()
	d := xml.NewDecoder(io.LimitReader(f, maxAbout))
	element := ""
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			// Names of both formats do not collide, so namespaces are not compared.
			element = officeNames[t.Name.Local]
			readStatistics(t, out)
		case xml.EndElement:
			element = ""
		case xml.CharData:
			// The first value counts: a document may state several authors, or the same fact in
			// both parts.
			if v := officeValue(element, string(t)); v != nil && out["office:"+element] == nil {
				out["office:"+element] = v
			}
		}
	}
}

// readStatistics adds the numbers that OpenDocument keeps in attributes.
func readStatistics(t xml.StartElement, out map[string]any) {
	if t.Name.Local != "document-statistic" {
		return
	}
	for _, a := range t.Attr {
		name := map[string]string{"page-count": "pages", "word-count": "words"}[a.Name.Local]
		if n, err := strconv.ParseInt(a.Value, 10, 64); err == nil && name != "" {
			out["office:"+name] = n
		}
	}
}

// officeValue is the text of an element as metadata; nil if it says nothing.
func officeValue(name, text string) any {
	if text = strings.TrimSpace(text); name == "" || text == "" || len(text) > maxTagText {
		return nil
	}
	switch name {
	case "created", "modified":
		if at, err := schema.ParseDate(text); err == nil {
			return at
		}
		return nil
	case "pages", "slides", "words":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		return nil
	}
	return text
}
