package template

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is that of a token.
type kind uint8

const (
	end    kind = iota // of the tag or the place
	word               // a name
	digits             // a number
	quoted             // a text
	mark               // an operator
)

// token is a piece of an expression. Offsets are bytes of the text of the lexer.
type token struct {
	kind kind
	text string
	raw  bool // of a quoted text: without places in it
	from int  // where it begins in the source
	upto int
	// closed says that a tag ends with />.
	closed bool
}

// lexer reads the tokens of a tag or an interpolation, one at a time, as the parser asks for them: the same
// characters are text outside of tags, and a > ends a tag or compares, depending on the brackets that are
// open. The mark that ends it does so where no bracket is open.
type lexer struct {
	text string
	at0  pos // where an inner text stands, if text is one
	// inner is set while an interpolation within a quoted text is read. Escapes were already replaced there,
	// so offsets no longer lead to the source; errors name the place of the quoted text, at0.
	inner bool
	pos   int
	// depth counts the brackets that are open.
	depth int
	inTag bool // ends at >, otherwise at }
	tok   token
}

func (l *lexer) posAt(offset int) pos {
	if l.inner {
		return l.at0
	}
	return pos(offset)
}

// marks are the operators, longest first. The order matters: next takes the first that fits. Comparisons may
// be written as in XML, as templates for HTML often are.
var marks = []string{
	"..<", "..!", "..*", "&amp;&amp;", "&lt;=", "&gt;=", "&lt;", "&gt;", "??", "..", "==", "!=", "<=", ">=", "&&", "||", "->",
	"+=", "-=", "*=", "/=", "%=", "++", "--",
	".", "?", "!", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ",", ":", ";", "|", "&",
}

// spelled are other ways to write a mark: as in XML, a single & or |, and the words for comparisons that do
// not end a tag.
var spelled = map[string]string{
	"&lt;": "<", "&gt;": ">", "&lt;=": "<=", "&gt;=": ">=", "&amp;&amp;": "&&", "&": "&&", "|": "||",
	"lt": "<", "lte": "<=", "gt": ">", "gte": ">=",
}

// next reads a token into tok.
func (l *lexer) next() error {
	if err := l.skip(); err != nil {
		return err
	}
	from := l.pos
	l.tok = token{from: from, upto: from}
	if from >= len(l.text) {
		return l.posAt(from).fail("the template ends within a tag or an interpolation")
	}
	rest := l.text[from:]
	if l.depth == 0 {
		if done, err := l.close(rest); done {
			return err
		}
	}
	c, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.HasPrefix(rest, `r"`), strings.HasPrefix(rest, "r'"):
		l.pos++
		return l.quotedText(true)
	case c == '"' || c == '\'':
		return l.quotedText(false)
	case '0' <= c && c <= '9':
		return l.number()
	case beginsName(c):
		return l.name(size)
	}
	for _, m := range marks {
		if strings.HasPrefix(rest, m) {
			return l.mark(m)
		}
	}
	return l.posAt(from).fail("unexpected %q", string(c))
}

func beginsName(c rune) bool { return c == '_' || c == '$' || c == '@' || unicode.IsLetter(c) }

// close ends the tag or the interpolation that is being read if the rest begins with its end. Outside of brackets > is
// always the end of a tag and never a comparison.
func (l *lexer) close(rest string) (done bool, err error) {
	switch {
	case l.inTag && strings.HasPrefix(rest, ">="):
		return true, l.posAt(l.pos).fail(">= ends the tag: write gte, or put the comparison in parentheses")
	case l.inTag && rest[0] == '>', !l.inTag && rest[0] == '}':
		l.pos++
	case l.inTag && strings.HasPrefix(rest, "/>"):
		l.pos += 2
		l.tok.closed = true
	default:
		return false, nil
	}
	l.tok.upto = l.pos
	return true, nil
}

func (l *lexer) mark(m string) error {
	switch m {
	case "(", "[", "{":
		l.depth++
	case ")", "]", "}":
		if l.depth--; l.depth < 0 {
			return l.posAt(l.pos).fail("%s closes nothing", m)
		}
	}
	l.pos += len(m)
	l.tok.kind, l.tok.text, l.tok.upto = mark, m, l.pos
	if as, ok := spelled[m]; ok {
		l.tok.text = as
	}
	return nil
}

// skip passes spaces and comments.
func (l *lexer) skip() error {
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		if strings.HasPrefix(rest, commentBegins) {
			n := strings.Index(rest, commentEnds)
			if n < 0 {
				return l.posAt(l.pos).fail("the comment is not closed")
			}
			l.pos += n + len(commentEnds)
			continue
		}
		c, size := utf8.DecodeRuneInString(rest)
		if !unicode.IsSpace(c) {
			return nil
		}
		l.pos += size
	}
	return nil
}

// Comments.
const (
	commentBegins = "<#--"
	commentEnds   = "-->"
)

// name reads a name. Characters such as - and : are part of it behind a backslash, so that a key such as
// dc:title needs no brackets.
func (l *lexer) name(size int) error {
	i := l.pos + size
	var b strings.Builder
	b.WriteString(l.text[l.pos:i])
	for i < len(l.text) {
		c, size := utf8.DecodeRuneInString(l.text[i:])
		switch {
		case c == '_' || c == '$' || c == '@' || unicode.IsLetter(c) || unicode.IsDigit(c):
		case c == '\\' && i+1 < len(l.text) && strings.IndexByte("-.:#", l.text[i+1]) >= 0:
			i++
			c = rune(l.text[i])
		default:
			size = 0
		}
		if size == 0 {
			break
		}
		b.WriteRune(c)
		i += size
	}
	l.tok.kind, l.tok.text, l.tok.upto = word, b.String(), i
	l.pos = i
	if as, ok := spelled[l.tok.text]; ok {
		l.tok.kind, l.tok.text = mark, as
	}
	return nil
}

// number reads digits with at most one point. A point that no digit follows is left: 1..3 is a range, 1.x a
// member.
func (l *lexer) number() error {
	i := l.pos
	dot := false
	for ; i < len(l.text); i++ {
		c := l.text[i]
		if c == '.' && !dot && i+1 < len(l.text) && '0' <= l.text[i+1] && l.text[i+1] <= '9' {
			dot = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
	}
	l.tok.kind, l.tok.text, l.tok.upto = digits, l.text[l.pos:i], i
	l.pos = i
	return nil
}

// escapes are what stands behind a backslash, and what it is for.
var escapes = map[byte]string{
	'"': `"`, '\'': "'", '{': "{", '=': "=", '\\': `\`, 'n': "\n", 'r': "\r", 't': "\t", 'f': "\f", 'b': "\b", 'g': ">", 'l': "<", 'a': "&",
}

// plainMark stands for an interpolation within a string that a backslash escapes.
const plainMark = "\x00"

// quotedText reads a quoted text, which a raw one (r"…") is without escapes and interpolations.
// Interpolations in it are found later, by parser.quoted, in the text with escapes replaced; plainMark keeps
// an escaped brace apart from one that begins an interpolation.
func (l *lexer) quotedText(raw bool) error {
	quote, i := l.text[l.pos], l.pos+1
	var b strings.Builder
	for {
		if i >= len(l.text) {
			return l.posAt(l.tok.from).fail("the text is not closed")
		}
		c := l.text[i]
		switch {
		case c == quote:
			l.tok.kind, l.tok.text, l.tok.raw, l.tok.upto = quoted, b.String(), raw, i+1
			l.pos = i + 1
			return nil
		case c == '\\' && !raw:
			n, err := l.escaped(&b, i+1)
			if err != nil {
				return err
			}
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
}

// escaped writes what the characters behind a backslash stand for and returns how many they are.
func (l *lexer) escaped(b *strings.Builder, i int) (int, error) {
	if i >= len(l.text) {
		return 0, l.posAt(i).fail("the text is not closed")
	}
	c := l.text[i]
	if c == 'x' {
		n, v := 0, rune(0)
		for n < 4 && i+1+n < len(l.text) {
			d := strings.IndexByte("0123456789abcdef", l.text[i+1+n]|0x20)
			if d < 0 {
				break
			}
			v, n = v<<4|rune(d), n+1
		}
		if n == 0 || v == 0 {
			return 0, l.posAt(i).fail(`\x without a number`)
		}
		b.WriteRune(v)
		return 1 + n, nil
	}
	as, ok := escapes[c]
	if !ok {
		return 0, l.posAt(i).fail(`there is no \%c`, rune(c))
	}
	if c == '{' {
		as = plainMark + as
	}
	b.WriteString(as)
	return 1, nil
}
