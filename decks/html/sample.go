package html

import (
	"slices"
	"strings"
)

// sample follows code that is shown as text: the framework shows what stands in <pre><code> as it is
// written, tags included. A tag there that may not stay becomes text, so that the sample is whole and nothing acts.
type sample struct {
	pre, code int      // open
	escaped   []string // elements whose start became text
}

// sampled reports whether tags are part of a sample here.
func (f *filter) sampled() bool { return f.samples.pre > 0 && f.samples.code > 0 && f.shown() }

// shown reports whether text stays text: no Markdown makes elements of it.
func (f *filter) shown() bool { return !f.inner && !f.marked && !f.isMarkdown() }

// track follows where samples begin and end.
func (s *sample) track(name string, attrs []attribute, by int) {
	switch {
	case name == "section":
		*s = sample{}
	case name == "pre":
		s.pre = max(0, s.pre+by)
	case name == "code" && (by < 0 || !has(attrs, "data-noescape")):
		s.code = max(0, s.code+by)
	}
}

var asText = strings.NewReplacer("&", "&amp;", "<", "&lt;", "\x00", "")

// sample writes a piece of the source as text.
func (f *filter) sample(raw string) {
	f.out.write(asText.Replace(raw))
	f.outline.read(raw, true)
}

// startSample writes a start tag as text if it may not stay as it is, and reports whether it did.
func (f *filter) startSample(stays bool) bool {
	if !f.sampled() || stays && !slices.ContainsFunc(f.attrs, func(a attribute) bool { return !allowedAttribute(f.name, a.name, a.value) }) {
		return false
	}
	f.sample(f.raw)
	f.samples.escaped = append(f.samples.escaped, f.name)
	return true
}

// endSample writes the end tag of an element whose start became text as text too.
func (f *filter) endSample() bool {
	i := slices.Index(f.samples.escaped, f.name)
	if i < 0 || !f.sampled() {
		return false
	}
	f.samples.escaped = slices.Delete(f.samples.escaped, i, i+1)
	f.sample(f.raw)
	return true
}
