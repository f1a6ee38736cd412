package query

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"catena/storage/fault"
)

// kind is a sort of token.
type kind uint8

const (
	end kind = iota
	word
	text
	number
	mark     // an operator or punctuation
	question // ?
	named    // :name
)

// token is one piece of the text. Of text s is the content, of named the name.
type token struct {
	kind kind
	s    string
	at   int // offset in the text
}

// lexer cuts the text into tokens.
// It cuts on demand and keeps no list of tokens, so a query that is refused early costs little.
type lexer struct {
	src  string
	pos  int
	seen int // offset of the last place asked for
	last Pos // and the place
}

// posAt turns an offset into line and column, the column in characters. It goes on from
// the last place asked for, since long queries have thousands.
func (l *lexer) posAt(at int) Pos {
	if l.last.Line == 0 || at < l.seen {
		l.seen, l.last = 0, Pos{1, 1}
	}
	piece := l.src[l.seen:at]
	if i := strings.LastIndexByte(piece, '\n'); i >= 0 {
		l.last = Pos{l.last.Line + strings.Count(piece, "\n"), 1}
		piece = piece[i+1:]
	}
	l.last.Column += utf8.RuneCountInString(piece)
	l.seen = at
	return l.last
}

func (l *lexer) bad(at int, format string, args ...any) error {
	p := l.posAt(at)
	args = append([]any{p.Line, p.Column}, args...)
	return fault.Invalid.Errorf("query: line %d, column %d: "+format, args...).At(p.Line, p.Column)
}

// next returns the token at the position.
func (l *lexer) next() (token, error) {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n\f\v", l.src[l.pos]) >= 0 {
		l.pos++
	}
	at := l.pos
	if at == len(l.src) {
		return token{end, "", at}, nil
	}
	switch c := l.src[at]; {
	case letter(c):
		return l.name(at), nil
	case c == '\'' || c == '"':
		return l.quoted(at, c)
	case digit(c), (c == '-' || c == '+' || c == '.') && l.digitFrom(at+1):
		return l.number(at)
	case c == '?':
		l.pos++
		return token{question, "?", at}, nil
	case c == ':':
		return l.param(at)
	}
	// Longer marks first, or "<=" would be read as "<" and "=".
	for _, m := range []string{"<>", "!=", "<=", ">=", "=", "<", ">", "(", ")", ",", "*", "-", "+"} {
		if strings.HasPrefix(l.src[at:], m) {
			l.pos += len(m)
			return token{mark, m, at}, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.src[at:])
	return token{}, l.bad(at, "unexpected character %s", strconv.QuoteRune(r))
}

// All bytes beyond ASCII count as letters, so names in any script pass without being decoded.
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// digitFrom reports whether a number goes on at the offset.
func (l *lexer) digitFrom(at int) bool {
	rest := strings.TrimPrefix(l.src[min(at, len(l.src)):], ".")
	return rest != "" && digit(rest[0])
}

// name reads a keyword or a property path. "*" belongs to it after "/" only.
func (l *lexer) name(at int) token {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if !letter(c) && !digit(c) && strings.IndexByte(":/.-[]", c) < 0 && (c != '*' || l.src[l.pos-1] != '/') {
			break
		}
		l.pos++
	}
	return token{word, l.src[at:l.pos], at}
}

// quoted reads text up to the closing quote. A doubled quote stands for one; so does a
// quote after a backslash. Other backslashes stay, for LIKE, save \\, \n, \r and \t.
func (l *lexer) quoted(at int, quote byte) (token, error) {
	var b strings.Builder
	for i := at + 1; i < len(l.src); i++ {
		c := l.src[i]
		switch {
		case c == quote && i+1 < len(l.src) && l.src[i+1] == quote:
			i++
		case c == quote:
			l.pos = i + 1
			return token{text, b.String(), at}, nil
		case c == '\\' && i+1 < len(l.src):
			if j := strings.IndexByte(`\'"nrt`, l.src[i+1]); j >= 0 {
				i++
				c = "\\'\"\n\r\t"[j]
			}
		}
		b.WriteByte(c)
	}
	return token{}, l.bad(at, "text without a closing %c", quote)
}

// number reads digits with a point and an exponent. It ends where another letter begins: clients write "= 0AND".
func (l *lexer) number(at int) (token, error) {
	l.pos++
	for l.pos < len(l.src) && (digit(l.src[l.pos]) || l.src[l.pos] == '.') {
		l.pos++
	}
	if rest := l.src[l.pos:]; len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		sign := 0
		if rest[1] == '-' || rest[1] == '+' {
			sign = 1
		}
		if len(rest) > 1+sign && digit(rest[1+sign]) {
			for l.pos += 1 + sign; l.pos < len(l.src) && digit(l.src[l.pos]); l.pos++ {
			}
		}
	}
	return token{number, l.src[at:l.pos], at}, nil
}

func (l *lexer) param(at int) (token, error) {
	l.pos++
	for l.pos < len(l.src) && (letter(l.src[l.pos]) || digit(l.src[l.pos]) || strings.IndexByte(".-", l.src[l.pos]) >= 0) {
		l.pos++
	}
	if l.pos == at+1 || !letter(l.src[at+1]) {
		return token{}, l.bad(at, "expected the name of a parameter after \":\"")
	}
	return token{named, l.src[at+1 : l.pos], at}, nil
}
