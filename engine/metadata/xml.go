package metadata

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/text"
)

// Names of spaces of XML.
const (
	spaceDC   = "http://purl.org/dc/elements/1.1/"
	spaceCore = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
	spaceMeta = "urn:oasis:names:tc:opendocument:xmlns:meta:1.0"
	spaceRDF  = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
)

// element is an element that is put into a document in place of those of the same name; "" removes them.
type element struct {
	space, prefix, local string
	content              string // as XML
}

func (e element) String() string {
	if e.content == "" {
		return ""
	}
	name := e.prefix + ":" + e.local
	return "<" + name + ` xmlns:` + e.prefix + `="` + e.space + `">` + e.content + "</" + name + ">"
}

func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

// replaceElements puts elements at the end of the first element called into. All other bytes stay as they are.
func replaceElements(data []byte, into string, put []element, wrap func(string) string) ([]byte, error) {
	e := &editor{data: data, d: xml.NewDecoder(bytes.NewReader(data)), into: into, put: put}
	for {
		begin := e.d.InputOffset()
		token, err := e.d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			err = e.start(token.Name, begin)
		case xml.EndElement:
			err = e.end(begin, wrap)
		}
		if err != nil {
			return nil, err
		}
	}
	if !e.done {
		return nil, errUnknown
	}
	return append(e.out, data[e.last:]...), nil
}

// editor copies a document with changes.
type editor struct {
	data  []byte
	d     *xml.Decoder
	into  string
	put   []element
	out   []byte
	last  int64 // up to where data has been copied or left out
	depth int
	place int // the depth of the element that is changed; 0 before it
	done  bool
}

func (e *editor) start(name xml.Name, begin int64) error {
	if e.place > 0 && !e.done && slices.ContainsFunc(e.put, func(p element) bool { return p.space == name.Space && p.local == name.Local }) {
		if err := e.d.Skip(); err != nil {
			return err
		}
		e.out, e.last = append(e.out, e.data[e.last:begin]...), e.d.InputOffset()
		return nil
	}
	if e.depth++; e.place == 0 && name.Local == e.into {
		e.place = e.depth
	}
	return nil
}

func (e *editor) end(begin int64, wrap func(string) string) error {
	if e.depth == e.place && !e.done {
		if !bytes.HasPrefix(e.data[begin:], []byte("</")) {
			return errUnknown // an element without content has no place for any
		}
		added := ""
		for _, p := range e.put {
			added += p.String()
		}
		e.out, e.last, e.done = append(append(e.out, e.data[e.last:begin]...), wrap(added)...), begin, true
	}
	e.depth--
	return nil
}

// xmpLists are the forms of values of XMP: texts by language, or lists of texts.
var xmpLists = map[string]string{"Title": "Alt", "Description": "Alt", "Rights": "Alt", "Creator": "Seq", "Subject": "Bag"}

const emptyXMP = `<?xpacket begin="` + "\ufeff" + `" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="` + spaceRDF + `"></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`

// changeXMP puts texts of Dublin Core into a packet of XMP, in a description of their own.
func changeXMP(old []byte, texts map[string]string) ([]byte, error) {
	if old == nil {
		old = []byte(emptyXMP)
	}
	var put []element
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		e := element{space: spaceDC, prefix: "dc", local: strings.ToLower(name)}
		if items := itemsOf(name, texts[name]); len(items) > 0 {
			list, language := xmpLists[name], ""
			if list == "Alt" {
				language = ` xml:lang="x-default"`
			}
			for _, item := range items {
				e.content += `<rdf:li` + language + `>` + escape(item) + `</rdf:li>`
			}
			e.content = `<rdf:` + list + ` xmlns:rdf="` + spaceRDF + `">` + e.content + `</rdf:` + list + `>`
		}
		put = append(put, e)
	}
	return replaceElements(old, "RDF", put, func(s string) string {
		if s == "" {
			return ""
		}
		return `<rdf:Description xmlns:rdf="` + spaceRDF + `" rdf:about="">` + s + `</rdf:Description>`
	})
}

// officeWritable are the names of properties of office documents that can be written.
var officeWritable = []string{"office:title", "office:subject", "office:description", "office:author", "office:keywords", "office:category", "office:language"}

// Elements of the properties in both families of formats. OpenDocument has no category.
var (
	coreElements = map[string]element{
		"title": {spaceDC, "dc", "title", ""}, "subject": {spaceDC, "dc", "subject", ""}, "description": {spaceDC, "dc", "description", ""},
		"author": {spaceDC, "dc", "creator", ""}, "language": {spaceDC, "dc", "language", ""},
		"keywords": {spaceCore, "cp", "keywords", ""}, "category": {spaceCore, "cp", "category", ""},
	}
	metaElements = map[string]element{
		"title": {spaceDC, "dc", "title", ""}, "subject": {spaceDC, "dc", "subject", ""}, "description": {spaceDC, "dc", "description", ""},
		"author": {spaceMeta, "meta", "initial-creator", ""}, "language": {spaceDC, "dc", "language", ""}, "keywords": {spaceMeta, "meta", "keyword", ""},
	}
)

// writeOffice changes the part of an office document that describes it. All other parts are copied as they are, packed.
func writeOffice(_ context.Context, t Tools, b *blob.Blob, texts map[string]string) (*blob.Blob, error) {
	known, into := coreElements, "coreProperties"
	part := partsOf(b.Type)[0]
	if part == "meta.xml" {
		known, into = metaElements, "meta"
	}
	var put []element
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		e, ok := known[strings.TrimPrefix(name, "office:")]
		if !ok {
			return nil, fault.Invalid.Errorf("metadata %q: cannot be written", name).In("metadata")
		}
		e.content = escape(texts[name])
		put = append(put, e)
	}
	data, err := b.Bytes(maxWritten)
	if err != nil {
		return nil, err
	}
	archive, err := text.Archive(bytes.NewReader(data), b.Size)
	if err != nil {
		return nil, fault.Invalid.Errorf("file %q: the document cannot be read: %w", b.Name, err).In("input")
	}
	var out bytes.Buffer
	if err := rewritePart(&out, archive, part, func(old []byte) ([]byte, error) {
		return replaceElements(old, into, put, func(s string) string { return s })
	}); err != nil {
		return nil, fault.Invalid.Errorf("file %q: %s cannot be changed: %w", b.Name, part, err).In("input")
	}
	return t.remade(b, out.Bytes())
}

// rewritePart copies an archive with one part changed, which it must have.
func rewritePart(out io.Writer, archive *zip.Reader, part string, change func(old []byte) ([]byte, error)) error {
	w, found := zip.NewWriter(out), false
	for _, f := range archive.File {
		if f.Name != part || found {
			if err := w.Copy(f); err != nil {
				return err
			}
			continue
		}
		found = true
		r, err := f.Open()
		if err != nil {
			return err
		}
		old, err := io.ReadAll(io.LimitReader(r, maxAbout))
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		made, err := change(old)
		if err != nil {
			return err
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: f.Modified})
		if err != nil {
			return err
		}
		if _, err := to.Write(made); err != nil {
			return err
		}
	}
	if !found {
		return errUnknown
	}
	return w.Close()
}
