package scripts

import (
	"strings"

	"catena/storage/fault"
)

// Bounds on the shape of source, checked before any parser sees it. The parser recurses
// for each level of nesting, takes time quadratic in the length of an expression and
// exponential in arrow functions nested in the parameters of others, and cannot be
// interrupted.
const (
	maxNesting    = 256  // of brackets, template substitutions and arrow functions
	maxExpression = 4096 // operators of one expression
	maxArrowDepth = 6    // arrow functions inside the parameter lists of others
)

// group is one open bracket of the source.
type group struct {
	open      byte
	operators int // of the expression going on at this level
	arrows    int // arrow functions going on at this level
	depth     int // deepest parameter lists closed inside
}

// scanner walks over the tokens of source, roughly: it knows strings, templates,
// comments and pattern literals well enough to count everything else.
type scanner struct {
	src     string
	i       int
	line    int
	groups  []group
	operand bool // the last token ends an operand
	params  int  // depth of the group that just closed, for an arrow after it
}

// prescan refuses source that is dangerous to parse.
func prescan(source string) error {
	s := &scanner{src: source, line: 1, groups: make([]group, 1, 16)}
	for s.i < len(source) {
		if err := s.token(); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) top() *group { return &s.groups[len(s.groups)-1] }

func (s *scanner) refuse(format string, args ...any) error {
	return fault.Limit.Errorf("script: line %d: "+format, append([]any{s.line}, args...)...).WithCode(fault.CodeScriptSource).At(s.line, 0)
}

func (s *scanner) token() error {
	if s.blank() {
		return nil
	}
	switch c := s.src[s.i]; {
	case c == '"' || c == '\'':
		s.text(c)
		s.seen()
	case c == '`':
		s.i++
		return s.template()
	// Behind an operand a slash divides.
	case c == '/' && !s.operand:
		s.pattern()
		s.seen()
	case isWord(c):
		s.word()
	case strings.IndexByte("([{", c) >= 0:
		return s.enter(c)
	case strings.IndexByte(")]}", c) >= 0:
		return s.leave(c)
	default:
		return s.operator(c)
	}
	return nil
}

// blank passes over one blank or comment, if that is next.
func (s *scanner) blank() bool {
	switch c := s.src[s.i]; {
	case c == '\n':
		s.line++
		s.i++
	case c == ' ' || c == '\t' || c == '\r':
		s.i++
	case strings.HasPrefix(s.src[s.i:], "//"):
		s.skipTo("\n", 0)
	case strings.HasPrefix(s.src[s.i:], "/*"):
		s.i += 2
		s.skipTo("*/", 2)
	default:
		return false
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c == '\\' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// seen notes an operand; two in a row are two expressions.
func (s *scanner) seen() {
	if s.operand {
		s.reset()
	}
	s.operand = true
}

func (s *scanner) reset() { s.top().operators, s.top().arrows = 0, 0 }

func (s *scanner) skipTo(end string, more int) {
	n := strings.Index(s.src[s.i:], end)
	if n < 0 {
		n = len(s.src) - s.i
		more = 0
	}
	s.line += strings.Count(s.src[s.i:s.i+n], "\n")
	s.i += n + more
}

func (s *scanner) text(quote byte) {
	for s.i++; s.i < len(s.src); s.i++ {
		switch s.src[s.i] {
		case '\\':
			s.i++
		case '\n':
			return
		case quote:
			s.i++
			return
		}
	}
}

// template reads template text up to its end or its next substitution.
func (s *scanner) template() error {
	for ; s.i < len(s.src); s.i++ {
		switch s.src[s.i] {
		case '\\':
			s.i++
		case '\n':
			s.line++
		case '`':
			s.i++
			s.seen()
			return nil
		case '$':
			if strings.HasPrefix(s.src[s.i:], "${") {
				s.i++
				return s.enter('$')
			}
		}
	}
	return nil
}

// pattern passes over a pattern literal, in which a slash between brackets does not end it.
func (s *scanner) pattern() {
	class := false
	for s.i++; s.i < len(s.src); s.i++ {
		switch s.src[s.i] {
		case '\\':
			s.i++
		case '[':
			class = true
		case ']':
			class = false
		case '\n':
			return
		case '/':
			if !class {
				s.i++
				return
			}
		}
	}
}

// before are words after which a slash begins a pattern and an expression goes on.
var before = map[string]bool{
	"await": true, "case": true, "delete": true, "do": true, "else": true, "in": true, "instanceof": true, "new": true,
	"of": true, "return": true, "throw": true, "typeof": true, "void": true, "yield": true,
}

func (s *scanner) word() {
	from := s.i
	for s.i < len(s.src) && isWord(s.src[s.i]) {
		s.i++
	}
	switch w := s.src[from:s.i]; {
	// It changes nothing about what may follow: async x => y begins like x => y.
	case w == "async":
	case before[w]:
		s.top().operators++
		s.operand = false
	default:
		s.seen()
	}
}

func (s *scanner) enter(c byte) error {
	s.i++
	if s.nesting() >= maxNesting {
		return s.refuse("nested more than %d deep", maxNesting)
	}
	if c != '{' {
		s.top().operators++
		if s.top().operators > maxExpression {
			return s.refuse("an expression with more than %d parts", maxExpression)
		}
	}
	s.groups = append(s.groups, group{open: c})
	s.operand = false
	return nil
}

// nesting counts the open brackets and the arrow functions that go on.
func (s *scanner) nesting() int {
	n := len(s.groups) - 1
	for _, g := range s.groups {
		n += g.arrows
	}
	return n
}

func (s *scanner) leave(c byte) error {
	s.i++
	if len(s.groups) == 1 {
		return nil // the parser says what is wrong
	}
	g := *s.top()
	s.groups = s.groups[:len(s.groups)-1]
	if s.top().depth < g.depth {
		s.top().depth = g.depth
	}
	s.params = g.depth
	if g.open == '$' && c == '}' {
		return s.template()
	}
	// A block ends the expression that was going on; other brackets are part of it.
	if c == '}' {
		s.reset()
	}
	s.operand = true
	return nil
}

func (s *scanner) operator(c byte) error {
	g := s.top()
	if strings.HasPrefix(s.src[s.i:], "=>") {
		s.i += 2
		s.operand = false
		g.arrows++
		if s.src[:s.i-2] != "" && s.params+1 > g.depth {
			g.depth = s.params + 1
		}
		s.params = 0
		if g.depth > maxArrowDepth {
			return s.refuse("arrow functions nested more than %d deep in parameters", maxArrowDepth)
		}
		if s.nesting() > maxNesting {
			return s.refuse("nested more than %d deep", maxNesting)
		}
		return nil
	}
	s.i++
	switch c {
	case ';':
		s.reset()
		s.operand = false
		return nil
	case ',':
		s.reset()
	case '+', '-':
		if s.i < len(s.src) && s.src[s.i] == c { // ++ and --: an operand stays one
			s.i++
			g.operators++
			return nil
		}
	}
	s.operand = false
	if g.operators++; g.operators > maxExpression {
		return s.refuse("an expression with more than %d parts", maxExpression)
	}
	return nil
}
