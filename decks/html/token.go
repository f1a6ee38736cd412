package html

import (
	"strings"

	"golang.org/x/net/html"
)

// token is a piece of HTML. The raw pieces of all tokens, one after the other, are the source.
type token struct {
	kind  html.TokenType
	raw   string
	at    int // where raw begins in the source
	name  string
	attrs []attribute // each name once, in lower case; values as they are meant
	sane  bool        // every parser reads the tag in the same way
}

type attribute struct{ name, value string }

// reader cuts HTML into tokens as the tokenizer of x/net does. Text and tags written plainly,
// which are nearly all, it reads itself: without copies, and in the same go as it finds out
// that they are sane. Everything else the tokenizer reads, which between two tokens knows
// nothing about those before, unless a raw element is open.
type reader struct {
	token
	src  string
	pos  int
	z    *html.Tokenizer // nil: the next token may be plain
	left int             // tokens that z is to read
}

// readAhead is how many tokens the tokenizer reads once it is needed, so that what it costs to
// begin one does not count.
const readAhead = 16

// next reads a token; at the end, and of a tag that is not finished, the kind is ErrorToken.
func (r *reader) next() html.TokenType {
	r.token = token{at: r.pos, attrs: r.attrs[:0]}
	switch {
	case r.pos == len(r.src):
		return html.ErrorToken
	case r.z != nil || !r.plain(r.src[r.pos:]):
		r.unusual()
	}
	r.pos += len(r.raw)
	return r.kind
}

// unusual has the tokenizer read a token.
func (r *reader) unusual() {
	if r.z == nil {
		r.z, r.left = html.NewTokenizer(strings.NewReader(r.src[r.pos:])), readAhead
	}
	z := r.z
	r.kind = z.Next()
	r.raw = r.src[r.pos : r.pos+len(z.Raw())]
	r.left--
	switch r.kind {
	case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
		b, more := z.TagName()
		r.name = string(b)
		for more {
			var k, v []byte
			k, v, more = z.TagAttr()
			r.attrs = append(r.attrs, attribute{string(k), string(v)})
		}
		r.sane = sane(r.raw)
		if r.kind != html.EndTagToken && elements[r.name]&swallowed != 0 {
			r.left = max(r.left, 2) // what is in it and its end
		}
	case html.ErrorToken:
		r.left = 0
	}
	if r.left <= 0 {
		r.z = nil
	}
}

// plain reads a token that is written plainly, and reports whether it did.
func (r *reader) plain(s string) bool {
	if n := textLen(s); n > 0 {
		r.kind, r.raw = html.TextToken, s[:n]
		return true
	}
	n := 0
	switch {
	case isLetter(s[1]):
		n = r.startTag(s)
	case s[1] == '/' && len(s) > 2 && isLetter(s[2]):
		n = r.endTag(s)
	}
	if n == 0 {
		r.attrs = r.attrs[:0]
		return false
	}
	r.raw, r.sane = s[:n], true
	return true
}

// textLen is the length of the text that s begins with.
func textLen(s string) int {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '<')
		if n < 0 || i+n+1 == len(s) {
			return len(s)
		}
		i += n
		if c := s[i+1]; isLetter(c) || c == '/' || c == '!' || c == '?' {
			return i
		}
	}
}

// endTag reads an end tag without anything but its name and returns its length, 0 for others.
func (r *reader) endTag(s string) int {
	name := tagName(s[2:])
	n := 2 + len(name)
	n += blanksLen(s[n:])
	if n == len(s) || s[n] != '>' {
		return 0
	}
	r.kind, r.name = html.EndTagToken, strings.ToLower(name)
	return n + 1
}

// startTag reads a start tag that is sane and returns its length, 0 for others and for those
// whose content is text.
func (r *reader) startTag(s string) int {
	name := tagName(s[1:])
	r.name = strings.ToLower(name)
	if elements[r.name]&swallowed != 0 {
		return 0
	}
	n := 1 + len(name)
	for {
		gap := blanksLen(s[n:])
		n += gap
		rest := s[n:]
		switch {
		case rest == "":
			return 0
		case rest[0] == '>':
			r.kind = html.StartTagToken
			return n + 1
		case strings.HasPrefix(rest, "/>"):
			r.kind = html.SelfClosingTagToken
			return n + 2
		case gap == 0 || !isLetter(rest[0]) && rest[0] != '_':
			return 0
		}
		if len(r.attrs) == maxAttributes {
			return 0
		}
		size := r.attribute(rest)
		if size == 0 {
			return 0
		}
		n += size
	}
}

// attribute reads an attribute that is sane, that there is not yet, and whose value can be
// read by itself; it returns its length, 0 for others.
func (r *reader) attribute(s string) int {
	size := 1
	for size < len(s) && class[s[size]]&attrByte != 0 {
		size++
	}
	a := attribute{name: strings.ToLower(s[:size])}
	for i := range r.attrs {
		if r.attrs[i].name == a.name {
			return 0
		}
	}
	at := size + blanksLen(s[size:])
	if at < len(s) && s[at] == '=' {
		at++
		at += blanksLen(s[at:])
		value, n := quoted(s[at:])
		if n == 0 {
			return 0
		}
		var ok bool
		if a.value, ok = meant(value); !ok {
			return 0
		}
		size = at + n
	}
	r.attrs = append(r.attrs, a)
	return size
}

// meant is what the value of an attribute says, unless that takes the tokenizer.
func meant(value string) (string, bool) {
	for i := range len(value) {
		switch value[i] {
		case '\r':
			return "", false
		case '&':
			for rest := value[i:]; rest != ""; {
				if !wellKnown(rest) {
					return "", false
				}
				next := strings.IndexByte(rest[1:], '&')
				if next < 0 {
					break
				}
				rest = rest[1+next:]
			}
			return html.UnescapeString(value), strings.IndexByte(value, '\r') < 0
		}
	}
	return value, true
}

// wellKnown reports whether s begins with a reference to a character that is read in the same way in
// text and in attributes.
func wellKnown(s string) bool {
	for _, known := range [...]string{"&amp;", "&#", "&quot;", "&lt;", "&gt;", "&nbsp;"} {
		if strings.HasPrefix(s, known) {
			return true
		}
	}
	return false
}
