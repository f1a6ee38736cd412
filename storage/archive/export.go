// Package archive writes documents to files: as XML, and as ZIP archives that include everything below them. Only
// what the principal may read is written.
//
// The XML is that of the platform's export, so that its tools can read it. It names files by digest instead
// of containing them; the ZIP archive has them beside the XML. Access lists are included only if the
// principal may read them.
package archive

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"iter"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/schema"
)

// xmlSpace begins the namespaces of schemas in exported documents.
const xmlSpace = "http://www.nuxeo.org/ecm/schemas/"

// ExportXML returns d as XML: what the system knows of it, access lists if they may be read,
// and its properties. Files are named, by the digest of their content, not included.
func ExportXML(t *storage.Tx, d *storage.Doc) ([]byte, error) {
	x := &xmlWriter{}
	x.WriteString(xml.Header + "\n<document")
	x.attr("repository", t.Repo().Name())
	x.attr("id", d.ID())
	x.WriteString(">\n  <system>\n")
	x.line("type", d.Type().Name)
	x.line("path", strings.TrimPrefix(d.Path(), "/"))
	if c := d.Type().LifeCycle; c != nil {
		x.line("lifecycle-state", d.State())
		x.line("lifecycle-policy", c.Name)
	}
	for _, f := range d.Facets() {
		x.line("facet", f)
	}
	if err := exportAccess(t, x, d); err != nil {
		return nil, err
	}
	x.WriteString("  </system>\n")
	for _, s := range d.Schemas() {
		if err := x.schema(d, s); err != nil {
			return nil, fault.Wrap(err, "document %s", d.ID())
		}
	}
	x.WriteString("</document>\n")
	return x.Bytes(), nil
}

func exportAccess(t *storage.Tx, x *xmlWriter, d *storage.Doc) error {
	lists, err := t.ACLs(d)
	if fault.Is(err, fault.Denied) {
		lists, err = nil, nil
	}
	if err != nil {
		return err
	}
	x.WriteString("    <access-control>\n")
	for _, l := range lists {
		x.WriteString("      <acl")
		x.attr("name", l.Name)
		x.WriteString(">\n")
		for _, e := range l.Entries {
			x.WriteString("        <entry")
			x.attr("principal", e.User)
			x.attr("permission", e.Permission)
			x.attr("grant", map[bool]string{true: "true", false: "false"}[e.Granted])
			x.WriteString("/>\n")
		}
		x.WriteString("      </acl>\n")
	}
	x.WriteString("    </access-control>\n")
	return nil
}

// xmlWriter writes text with the marks that XML needs.
type xmlWriter struct{ bytes.Buffer }

func (x *xmlWriter) text(s string) { _ = xml.EscapeText(&x.Buffer, []byte(s)) } // a buffer takes everything

func (x *xmlWriter) attr(name, value string) {
	x.WriteString(" " + name + `="`)
	x.text(value)
	x.WriteByte('"')
}

func (x *xmlWriter) element(name, value string) {
	x.WriteString("<" + name + ">")
	x.text(value)
	x.WriteString("</" + name + ">")
}

func (x *xmlWriter) line(name, value string) {
	x.WriteString("    ")
	x.element(name, value)
	x.WriteByte('\n')
}

// schema writes the properties of one schema.
func (x *xmlWriter) schema(d *storage.Doc, s *schema.Schema) error {
	before := ""
	x.WriteString("  <schema")
	x.attr("name", s.Name)
	if s.Prefix == "" {
		x.attr("xmlns", xmlSpace+s.Name+"/")
	} else {
		x.attr("xmlns:"+s.Prefix, xmlSpace+s.Name+"/")
		before = s.Prefix + ":"
	}
	x.WriteString(">\n")
	for _, f := range s.Fields {
		v, err := d.Get(f.Key)
		if err != nil {
			return err
		}
		x.WriteString("    ")
		x.value(before+f.Name, f, v)
		x.WriteByte('\n')
	}
	x.WriteString("  </schema>\n")
	return nil
}

// value writes a property or a part of one; nothing is an empty element.
func (x *xmlWriter) value(name string, f *schema.Field, v any) {
	if v == nil {
		x.WriteString("<" + name + "/>")
		return
	}
	x.WriteString("<" + name + ">")
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			x.value("item", f.Item(), item)
		}
	case map[string]any:
		for _, sub := range f.Fields {
			x.value(sub.Name, sub, v[sub.Name])
		}
	case *blob.Blob:
		x.element("encoding", v.Encoding)
		x.element("mime-type", v.Type)
		x.element("filename", v.Name)
		x.element("data", blobEntry(v))
		x.element("digest", v.Digest)
	case time.Time:
		x.text(v.UTC().Format("2006-01-02T15:04:05.000Z"))
	case string:
		x.text(v)
	default:
		x.Write(f.AppendJSON(nil, v, nil))
	}
	x.WriteString("</" + name + ">")
}

// blobEntry names a file in an archive.
func blobEntry(b *blob.Blob) string { return b.Digest + ".blob" }

// ExportZip returns an archive of d: a folder of its name with document.xml and its files, and
// if deep with such a folder for each readable document below it.
func ExportZip(t *storage.Tx, d *storage.Doc, deep bool) (*storage.Blob, error) {
	return New(t, "export.zip", func(to *Writer) error {
		e := &exporter{tx: t, to: to, deep: deep, left: t.Repo().Limits().TreeCopy}
		return e.add(d, zipName(cmp.Or(d.Name(), "root"))+"/")
	})
}

// zipName keeps names of documents from leading out of the folder they stand in.
func zipName(name string) string { return strings.NewReplacer("/", "-", `\`, "-").Replace(name) }

// An exporter adds documents to an archive.
type exporter struct {
	tx   *storage.Tx
	to   *Writer
	deep bool // with everything below
	left int  // documents that may still be added
}

// siblingsAhead is how many documents beside each other are read together with what is below them.
const siblingsAhead = 16

// children walks the readable children of a document. Those of several of them are fetched from a store across a network together:
// most documents have none.
func (e *exporter) children(d *storage.Doc) iter.Seq2[*storage.Doc, error] {
	return func(yield func(*storage.Doc, error) bool) {
		var some storage.Docs
		flush := func() bool {
			if a := storage.ReadsOf(e.tx); a != nil {
				for _, c := range some {
					a.ACLs(c)
					a.Children(c)
				}
				if err := a.Fetch(); err != nil {
					return yield(nil, err)
				}
			}
			for _, c := range some {
				if !yield(c, nil) {
					return false
				}
			}
			some = some[:0]
			return true
		}
		for c, err := range e.tx.EachChild(d) {
			if err != nil {
				yield(nil, err)
				return
			}
			if some = append(some, c); len(some) == siblingsAhead && !flush() {
				return
			}
		}
		flush()
	}
}

// add adds a document, whose files are in the folder at of the archive.
func (e *exporter) add(d *storage.Doc, at string) error {
	if e.left--; e.left < 0 {
		return fault.Limit.Errorf("export: more than %d documents", e.tx.Repo().Limits().TreeCopy)
	}
	text, err := ExportXML(e.tx, d)
	if err != nil {
		return err
	}
	if err := e.to.Add(at+"document.xml", bytes.NewReader(text)); err != nil {
		return err
	}
	have := map[string]bool{}
	err = e.tx.Internal(row.Ordered{}).EachFile(d, func(_ string, b *blob.Blob) error {
		if have[b.Digest] {
			return nil
		}
		have[b.Digest] = true
		return e.to.AddBlob(at+blobEntry(b), b)
	})
	if err != nil || !e.deep || !e.tx.Internal(row.Ordered{}).Has(d, "ReadChildren") || d.IsProxy() {
		return err
	}
	used := map[string]bool{}
	for child, err := range e.children(d) {
		if err != nil {
			return err
		}
		// Two names may become one, also on systems for which upper and lower case are the same.
		name := zipName(child.Name())
		if used[strings.ToLower(name)] {
			name += "." + child.ID()
		}
		used[strings.ToLower(name)] = true
		if err := e.add(child, at+name+"/"); err != nil {
			return err
		}
	}
	return nil
}
