package decks

import (
	"strings"

	"golang.org/x/net/html"
)

const letters = "abcdefghijklmnopqrstuvwxyz0123456789-:"

type attribute struct{ name, value string }

// start handles a start tag: it stays as it is, stays without some attributes, or goes.
func (f *filter) start(kind html.TokenType, raw string) error {
	b, more := f.z.TagName()
	name := string(b)
	var all []attribute
	for more {
		var k, v []byte
		k, v, more = f.z.TagAttr()
		all = append(all, attribute{string(k), string(v)})
	}
	if f.depth == 0 && !f.inner && name != "section" {
		return f.refuse("<" + name + ">")
	}
	stays := f.known(name)
	if swallowed[name] {
		return f.textual(name, raw, all, stays, kind == html.SelfClosingTagToken)
	}
	if !stays {
		f.remove("<" + name + ">")
		return nil
	}
	kept := f.keep(name, all)
	if !f.inner {
		f.open(name, kept, kind == html.SelfClosingTagToken)
	}
	f.write(name, raw, all, kept, kind == html.SelfClosingTagToken)
	return nil
}

// open notes what is open from here.
func (f *filter) open(name string, kept []attribute, closed bool) {
	switch name {
	case "section":
		md := f.depth > 0 && f.md[f.depth-1]
		for _, a := range kept {
			md = md || a.name == "data-markdown"
		}
		f.md = append(f.md, md)
		f.opened = append(f.opened, f.line, f.column)
		f.depth++
	case "svg", "math":
		if !closed {
			f.foreign++
		}
	}
}

// keep returns the attributes that may stay and reports the others.
func (f *filter) keep(element string, all []attribute) []attribute {
	kept := make([]attribute, 0, len(all))
	for _, a := range all {
		if f.inner && harmlessAnywhere(a) || !f.inner && allowedAttribute(element, a.name, a.value) {
			kept = append(kept, a)
		} else {
			f.remove("attribute " + printable(a.name) + " of <" + element + ">")
		}
	}
	return kept
}

func printable(name string) string {
	if len(name) > 40 || strings.Trim(name, letters+"_.") != "" {
		return "(unreadable)"
	}
	return name
}

// end handles an end tag.
func (f *filter) end(raw string) error {
	b, _ := f.z.TagName()
	name := string(b)
	switch {
	case name == "section" && !f.inner:
		if f.depth == 0 {
			return f.refuse("</section>")
		}
		f.depth--
		f.opened = f.opened[:2*f.depth]
		f.md = f.md[:f.depth]
		if f.depth == 0 {
			f.foreign = 0
		}
	case f.depth == 0 && !f.inner:
		return f.refuse("</" + name + ">")
	case name == "svg" || name == "math":
		f.foreign = max(0, f.foreign-1)
	}
	if !f.known(name) {
		return nil // its start was reported
	}
	if !sane(raw) {
		raw = "</" + name + ">"
	}
	f.out.WriteString(raw)
	return nil
}

// known reports whether the tags of an element stay.
func (f *filter) known(name string) bool {
	if f.inner {
		return !dangerous[name] && name != "" && strings.Trim(name, letters) == ""
	}
	return elements[name]
}
