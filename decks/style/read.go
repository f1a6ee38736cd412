package style

import (
	"strings"

	"catena/storage/lazy"
)

// reader goes through CSS, past strings, comments, escapes and what stands in brackets.
type reader struct {
	css  string
	at   int
	from int // where css begins in the whole sheet
}

// until returns the text up to one of some bytes outside of everything else, without its
// comments, and that byte; 0 at the end. A bracket that nothing closes ends where the text does.
func (r *reader) until(ends string) (text string, end byte) {
	var b strings.Builder
	depth := 0
	for r.at < len(r.css) {
		c := r.css[r.at]
		start := r.at
		switch {
		case c == '\\':
			r.at = min(r.at+2, len(r.css))
		case c == '"' || c == '\'':
			if !r.skipString(c) {
				continue // broken: it is left out
			}
		case strings.HasPrefix(r.css[r.at:], "/*"):
			r.skipComment()
			b.WriteByte(' ')
			continue
		case strings.HasPrefix(r.css[r.at:], "<!--"), strings.HasPrefix(r.css[r.at:], "-->"):
			r.at += 3 + strings.Count(r.css[r.at:r.at+1], "<")
			continue
		case strings.IndexByte("([)]", c) >= 0:
			depth += nesting(c)
			r.at++
		case strings.IndexByte(ends, c) >= 0 && (depth <= 0 || c == '{' || c == '}'):
			r.at++
			return b.String(), c
		default:
			r.at++
		}
		b.WriteString(r.css[start:r.at])
	}
	return b.String(), 0
}

// nesting is 1 for an opening bracket and -1 for a closing one.
func nesting(bracket byte) int {
	if bracket == '(' || bracket == '[' {
		return 1
	}
	return -1
}

// block returns a reader of what stands before the brace that closes, and goes past it.
func (r *reader) block() *reader {
	start, depth := r.at, 1
	for r.at < len(r.css) {
		switch c := r.css[r.at]; {
		case c == '\\':
			r.at = min(r.at+2, len(r.css))
			continue
		case c == '"' || c == '\'':
			r.skipString(c)
			continue
		case strings.HasPrefix(r.css[r.at:], "/*"):
			r.skipComment()
			continue
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				r.at++
				return &reader{css: r.css[start : r.at-1], from: r.from + start}
			}
		}
		r.at++
	}
	return &reader{css: r.css[start:], from: r.from + start}
}

// blank goes past white space and comments.
func (r *reader) blank() {
	for r.at < len(r.css) {
		switch {
		case strings.IndexByte(" \t\r\n\f", r.css[r.at]) >= 0:
			r.at++
		case strings.HasPrefix(r.css[r.at:], "/*"):
			r.skipComment()
		default:
			return
		}
	}
}

// skipString goes past a string. One that its line does not end is none.
func (r *reader) skipString(quote byte) bool {
	for r.at++; r.at < len(r.css); r.at++ {
		switch r.css[r.at] {
		case '\\':
			r.at++
		case '\n', '\r', '\f':
			return false
		case quote:
			r.at++
			return true
		}
	}
	r.at = len(r.css)
	return false
}

func (r *reader) skipComment() {
	if i := strings.Index(r.css[r.at+2:], "*/"); i >= 0 {
		r.at += i + 4
		return
	}
	r.at = len(r.css)
}

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80 || c == '\\'
}

func isName(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i]) || s[i] == '\\' {
			return false
		}
	}
	return s != ""
}

func harmlessName(name string) bool {
	name = strings.ToLower(name)
	return name != "behavior" && name != "-moz-binding"
}

// plain reports whether a selector is one: dialects of CSS write others.
func plain(selector string) bool {
	outside := quoted().ReplaceAllString(selector, "")
	return !strings.ContainsAny(outside, "<$@;{}`") && !strings.Contains(outside, "//") && !strings.HasSuffix(selector, `\`) && balanced(selector)
}

var (
	fetches = lazy.Regexp(`(?i)(?:url|src|image|image-set|cross-fade|element)\s*\(`)
	acts    = lazy.Regexp(`(?i)expression\s*\(|javascript:|vbscript:`)
	address = lazy.Regexp(`(?i)^\s*(?:data:(?:image/(?:png|jpe?g|gif|webp|avif|svg\+xml)|font/[a-z0-9]+|application/(?:x-)?font-[a-z0-9]+)[;,]|(?:\./)?files/[0-9]+/|#)`)
	quoted  = lazy.Regexp(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
	bare    = lazy.Regexp(`(?i)url\(\s*([^"'\s)][^)]*)\)`)
	// Strings in these are addresses, and what stands for a value may be any string.
	strange = lazy.Regexp(`(?i)(?:src|image|image-set|cross-fade)\s*\(`)
	stands  = lazy.Regexp(`(?i)(?:var|attr|env|if|--[\w-]*)\s*\(`)
	steps   = lazy.Regexp(`(?i)/(?:\.|%2e){1,2}(?:[/?#]|$)|[\t\r\n]`)               // lead out of a folder
	loads   = lazy.Regexp(`(?i)(?:url|src|image|image-set|cross-fade|element)\s*$`) // before the bracket that opens
	hints   = lazy.Regexp(`(?i)(?:format|local|tech|type)\(\s*(?:"[^"\\]*"|'[^'\\]*'|[\w -]+)\s*\)`)
)

// harmless reports whether a value, or what follows an at-rule's name, acts not and fetches
// nothing but what the deck has with it.
func harmless(value string) bool {
	outside := quoted().ReplaceAllString(value, `""`)
	switch {
	case acts().MatchString(value), !balanced(value), strings.ContainsAny(bare().ReplaceAllString(outside, ""), "{}`;@"):
		return false
	case strings.Contains(outside, `\`): // may spell a function's name
		return !strings.Contains(outside, "(") && !strings.HasSuffix(value, `\`)
	case !fetches().MatchString(outside):
		return true
	case strange().MatchString(value) && stands().MatchString(outside):
		return false
	}
	for _, s := range loaded(hints().ReplaceAllString(value, "")) {
		if !known(s) {
			return false
		}
	}
	for _, m := range bare().FindAllStringSubmatch(outside, -1) {
		if !known(m[1]) {
			return false
		}
	}
	return true
}

// loaded are the strings of a value that stand within a function that loads something. All others are text.
func loaded(value string) (out []string) {
	depth, within, last := 0, 0, 0 // brackets open, from how many on all is within such a function, and where the text begins
	for _, at := range quoted().FindAllStringIndex(value, -1) {
		for i := last; i < at[0]; i++ {
			switch value[i] {
			case '(':
				if depth++; within == 0 && loads().MatchString(value[last:i]) {
					within = depth
				}
			case ')':
				if depth == within {
					within = 0
				}
				depth = max(0, depth-1) // one that closes nothing hides no function behind it
			}
		}
		if last = at[1]; within > 0 {
			out = append(out, value[at[0]+1:at[1]-1])
		}
	}
	return out
}

// known reports whether an address is of what the deck has with it.
func known(s string) bool {
	s = strings.TrimSpace(s)
	file := strings.HasPrefix(strings.TrimPrefix(strings.ToLower(s), "./"), "files/")
	return !strings.Contains(s, `\`) && address().MatchString(s) && (!file || !steps().MatchString(s))
}

// balanced reports whether every bracket is closed by its like.
func balanced(text string) bool {
	var open []byte
	for i, text := 0, quoted().ReplaceAllString(text, ""); i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
		case '"', '\'':
			return false
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case ')', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}
