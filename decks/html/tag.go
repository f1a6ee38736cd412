package html

import (
	"slices"
	"strings"

	"catena/storage/fault"

	"golang.org/x/net/html"
)

const letters = "abcdefghijklmnopqrstuvwxyz0123456789-:"

// start handles a start tag: it stays as it is, stays without some attributes, or goes.
func (f *filter) start() error {
	t, traits := &f.token, elements[f.name]
	if n := len(t.attrs); n > maxAttributes {
		p := f.position(t.at)
		return fault.Limit.Errorf("HTML: element with %d attributes, limit %d (line %d, column %d)", n, maxAttributes, p.line, p.column).At(p.line, p.column)
	}
	if f.depth == 0 && !f.inner && t.name != "section" {
		return f.refuse("<"+t.name+">", t.at)
	}
	stays := f.known(t.name, traits)
	if traits&swallowed != 0 {
		f.textual(stays)
		return nil
	}
	if f.startSample(stays) {
		return nil
	}
	if f.inner && autolink().MatchString(t.raw) {
		f.out.keep(t.raw, t.at)
		return nil
	}
	if !stays {
		f.remove("<"+t.name+">", t.at)
		return nil
	}
	kept := f.keep(t)
	if !f.inner {
		f.open(t, kept, traits)
		f.outline.start(t.name, kept)
	}
	f.write(t, kept)
	return nil
}

// open notes what is open from here.
func (f *filter) open(t *token, kept []attribute, traits trait) {
	f.samples.track(t.name, kept, 1)
	if traits&empty == 0 {
		f.marking.track(t.name, kept, 1)
	}
	f.marked = f.marked || t.name != "section" && has(kept, "data-markdown")
	switch t.name {
	case "section":
		md := f.depth > 0 && f.md[f.depth-1] || has(kept, "data-markdown")
		if has(kept, "data-markdown") {
			f.reads = slices.Clone(kept)
			if f.depth > 0 && f.md[f.depth-1] { // of two sections around a template, either may read it
				f.reads = []attribute{{"data-separator", "("}}
			}
		}
		f.md = append(f.md, md)
		if f.depth == 0 {
			f.first = t.at
			f.balance.slide(t.at)
			f.depth++
			return
		}
		f.depth++
	case "svg", "math":
		if t.kind != html.SelfClosingTagToken {
			f.foreign++
		}
	}
	if f.foreign > 0 {
		f.within(t.name, traits)
	}
	f.balance.start(t.name, traits, t.kind == html.SelfClosingTagToken)
}

// within notes whether the end of a drawing or a formula is still where its end tag is. A browser does not
// end it at that tag while HTML is open in it, so that its end is uncertain until the slide ends.
func (f *filter) within(name string, traits trait) {
	switch {
	case name == "desc" || name == "math" || name == "foreignobject":
		f.integrated = true
	case name == "svg" || traits&(drawn|formula) != 0:
	case name != "a" || f.integrated:
		f.stuck = true
	}
}

// keep returns the attributes that may stay and reports the others.
func (f *filter) keep(t *token) []attribute {
	kept, own := t.attrs, false
	for i, a := range t.attrs {
		stays := f.stays(t, a)
		if !stays && a.name == "style" {
			if a.value, stays = f.soften(t, a); stays {
				t.sane = false // it is written again
			}
		}
		if (!stays || a != t.attrs[i]) && !own {
			kept, own = append(make([]attribute, 0, len(t.attrs)), t.attrs[:i]...), true
		}
		switch {
		case !stays:
			f.remove("attribute "+printable(a.name)+" of <"+t.name+">", t.at)
		case own:
			kept = append(kept, a)
		}
	}
	return kept
}

// stays reports whether an attribute may stay as it is.
func (f *filter) stays(t *token, a attribute) bool {
	if a.name == "name" && hiding[t.name] {
		return false
	}
	if f.inner {
		return harmlessAnywhere(a) && !f.marking.fenced
	}
	return allowedAttribute(t.name, a.name, a.value)
}

// soften takes out of a style attribute what may not stay, if anything stays without that.
func (f *filter) soften(t *token, a attribute) (rest string, stays bool) {
	rest, gone := softened(a.value)
	rest = strings.TrimSpace(rest)
	if a.value = rest; rest == "" || !f.stays(t, a) {
		return rest, false
	}
	for _, g := range gone {
		f.remove(g.what+" of the style of <"+t.name+">", t.at)
	}
	return rest, true
}

// hiding are the elements whose names hide what the document has by them from scripts: an
// image called body would keep its deck from being shown.
var hiding = map[string]bool{"embed": true, "form": true, "iframe": true, "img": true, "object": true}

func printable(name string) string {
	if len(name) > 40 || strings.Trim(name, letters+"_.") != "" {
		return "(unreadable)"
	}
	return name
}

// write puts a tag out: its own bytes if nothing was taken from it.
func (f *filter) write(t *token, kept []attribute) {
	if len(kept) == len(t.attrs) && t.sane && f.whole(t.raw) {
		f.out.keep(t.raw, t.at)
		return
	}
	f.out.write(tagOf(t.name, kept, t.kind == html.SelfClosingTagToken))
}

var inTag = strings.NewReplacer("\n", "&#10;", "\r", "&#13;")

// tagOf writes a start tag on one line.
func tagOf(name string, attrs []attribute, closed bool) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for i, a := range attrs {
		if a.name != "" && !has(attrs[:i], a.name) {
			b.WriteString(` ` + a.name + `="` + inTag.Replace(html.EscapeString(a.value)) + `"`)
		}
	}
	if closed {
		b.WriteString(" /")
	}
	b.WriteByte('>')
	return b.String()
}

// end handles an end tag.
func (f *filter) end() error {
	t := &f.token
	switch {
	case t.name == "section" && !f.inner:
		if f.depth == 0 {
			return f.refuse("</section>", t.at)
		}
		f.depth--
		f.md = f.md[:f.depth]
		if f.depth == 0 {
			f.foreign, f.integrated, f.stuck, f.marked, f.marking = 0, false, false, false, marking{}
		}
	case f.depth == 0 && !f.inner:
		return f.refuse("</"+t.name+">", t.at)
	case f.endSample():
		return nil
	case (t.name == "svg" || t.name == "math") && !f.stuck:
		f.foreign = max(0, f.foreign-1)
	}
	f.samples.track(t.name, nil, -1)
	f.marking.track(t.name, nil, -1)
	if !f.known(t.name, elements[t.name]) {
		return nil // its start was reported
	}
	if !f.inner {
		f.outline.end(t.name)
		if f.balance.end(t.name, elements[t.name]); f.depth == 0 {
			f.balance.done(t.at + len(t.raw))
		}
	}
	f.writeEnd(t)
	return nil
}

func (f *filter) writeEnd(t *token) {
	if t.sane && (!f.inner || len(t.raw) == len("</>")+len(t.name)) {
		f.out.keep(t.raw, t.at)
	} else {
		f.out.write("</" + t.name + ">")
	}
}

// known reports whether the tags of an element stay.
func (f *filter) known(name string, traits trait) bool {
	if f.inner {
		return traits&dangerous == 0 && name != "" && strings.Trim(name, letters) == "" && !acts(name)
	}
	return traits&allowed != 0
}
