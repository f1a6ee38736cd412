package data

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"catena/engine"
	"catena/engine/expr"
	"catena/storage/fault"
)

// maxDepth bounds how deep elements are nested.
const maxDepth = 200

// element is an element of XML that is read.
type element struct {
	name    string
	members map[string]any
	text    strings.Builder
}

// xmlReader turns XML into values: an element becomes its text, or if it has attributes or elements a map of them: "@name" for
// an attribute, the name of an element for its value, or for the list of values if there are several, "#text" for text beside
// them. Prefixes of names are left out, and so are comments and processing instructions. Entities are those of XML itself:
// none is ever fetched or declared.
type xmlReader struct {
	lists map[string]bool // names of elements that are always lists
	open  []*element
	count int
}

func readXML(c *engine.Ctx, text []byte, lists []string) (any, error) {
	in := xml.NewDecoder(bytes.NewReader(text))
	in.CharsetReader = charset.NewReaderLabel
	r := xmlReader{lists: map[string]bool{}, open: []*element{{members: map[string]any{}}}}
	for _, name := range lists {
		r.lists[name] = true
	}
	for {
		if err := c.Check(); err != nil {
			return nil, err
		}
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fault.Invalid.Errorf("XML: %s", strings.TrimPrefix(err.Error(), "XML syntax error on "))
		}
		if err := r.take(token); err != nil {
			line, _ := in.InputPos()
			return nil, fault.Wrap(err, "XML: line %d", line)
		}
	}
	if len(r.open[0].members) == 0 {
		return nil, fault.Invalid.Errorf("XML: there is no element")
	}
	return r.open[0].members, nil
}

func (r *xmlReader) take(token xml.Token) error {
	top := r.open[len(r.open)-1]
	switch t := token.(type) {
	case xml.StartElement:
		if len(r.open) == 1 && len(top.members) > 0 {
			return fault.Invalid.Errorf("a second root element %s", t.Name.Local)
		}
		if r.count += 1 + len(t.Attr); r.count > maxRows*10 {
			return fault.Limit.Errorf("more than %d elements and attributes", maxRows*10)
		}
		if len(r.open) > maxDepth {
			return fault.Limit.Errorf("elements are nested more than %d deep", maxDepth)
		}
		e := &element{name: t.Name.Local, members: map[string]any{}}
		for _, a := range t.Attr {
			if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
				e.members["@"+a.Name.Local] = a.Value
			}
		}
		r.open = append(r.open, e)
	case xml.EndElement:
		r.open = r.open[:len(r.open)-1]
		r.add(r.open[len(r.open)-1], top.name, top.value())
	case xml.CharData:
		if len(r.open) > 1 {
			top.text.Write(t)
		} else if len(bytes.TrimSpace(t)) > 0 {
			return fault.Invalid.Errorf("text outside of the root element")
		}
	}
	return nil
}

// add adds the value of an element to the one that it is in. A second element of a name makes a list.
func (r *xmlReader) add(to *element, name string, v any) {
	switch before, ok := to.members[name]; {
	case !ok && r.lists[name]:
		to.members[name] = []any{v}
	case !ok:
		to.members[name] = v
	default:
		// The value of an element is a text or a map, so a list is one that was made here.
		list, ok := before.([]any)
		if !ok {
			list = []any{before}
		}
		to.members[name] = append(list, v)
	}
}

func (e *element) value() any {
	if len(e.members) == 0 {
		return strings.TrimSpace(e.text.String())
	}
	if text := strings.TrimSpace(e.text.String()); text != "" {
		e.members["#text"] = text
	}
	return e.members
}

// writeXML is the way back: a map of one member is the root element with its value, and any other value is in an element
// named data. Items of a list outside of a map are in elements named item.
func writeXML(c *engine.Ctx, v any, out io.Writer) error {
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	w := xmlWriter{c: c, to: xml.NewEncoder(out)}
	w.to.Indent("", "  ")
	name := "data"
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		for only, inner := range m {
			if _, list := inner.([]any); !list && !strings.HasPrefix(only, "@") && !strings.HasPrefix(only, "#") {
				name, v = only, inner
			}
		}
	}
	if err := w.element(name, v, 0); err != nil {
		return err
	}
	return w.to.Close()
}

type xmlWriter struct {
	c  *engine.Ctx
	to *xml.Encoder
}

// element writes an element, or one for each item of a list.
func (w xmlWriter) element(name string, v any, depth int) error {
	if err := w.c.Check(); err != nil {
		return err
	}
	if !xmlName(name) {
		return fault.Invalid.Errorf("XML: %q is not the name of an element", name).In("input")
	}
	if depth > maxDepth {
		return fault.Limit.Errorf("XML: values are nested more than %d deep", maxDepth)
	}
	start := xml.StartElement{Name: xml.Name{Local: name}}
	switch v := v.(type) {
	case map[string]any:
		return w.record(start, v, depth)
	case []any:
		return w.within(start, func() error {
			for _, item := range v {
				if err := w.element("item", item, depth+1); err != nil {
					return err
				}
			}
			return nil
		})
	case nil:
		return w.within(start, func() error { return nil })
	}
	return w.within(start, func() error { return w.text(v) })
}

func (w xmlWriter) text(v any) error { return w.to.EncodeToken(xml.CharData(expr.Text(v))) }

func (w xmlWriter) within(start xml.StartElement, content func() error) error {
	if err := w.to.EncodeToken(start); err != nil {
		return err
	}
	if err := content(); err != nil {
		return err
	}
	return w.to.EncodeToken(start.End())
}

// record writes a map; members are written by name, so that equal values are equal files.
func (w xmlWriter) record(start xml.StartElement, m map[string]any, depth int) error {
	names := slices.Sorted(maps.Keys(m))
	for _, name := range names {
		if attribute, ok := strings.CutPrefix(name, "@"); ok {
			if !xmlName(attribute) {
				return fault.Invalid.Errorf("XML: %q is not the name of an attribute", attribute).In("input")
			}
			start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: attribute}, Value: expr.Text(m[name])})
		}
	}
	return w.within(start, func() error {
		for _, name := range names {
			if strings.HasPrefix(name, "@") {
				continue
			}
			if name == "#text" {
				if err := w.text(m[name]); err != nil {
					return err
				}
				continue
			}
			list, ok := m[name].([]any)
			if !ok {
				list = []any{m[name]}
			}
			for _, item := range list {
				if err := w.element(name, item, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// xmlName reports whether an element or attribute may have a name. Prefixes would need a declaration.
func xmlName(name string) bool {
	d := xml.NewDecoder(strings.NewReader("<" + name + "/>"))
	token, err := d.Token()
	start, ok := token.(xml.StartElement)
	return err == nil && ok && start.Name.Local == name && start.Name.Space == "" && len(start.Attr) == 0 && name != "xmlns"
}
