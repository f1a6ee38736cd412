package render

import (
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// sheet is the rules of style sheets, found by what their last part asks for: an element is only compared
// with rules whose last class, id or tag it has, which for a large sheet is a small part of them.
type sheet struct {
	byKey map[string][]*rule // ".class", "#id", "tag", "*"
	count int
}

// rule is one selector with its declarations.
type rule struct {
	sel   cascadia.Sel
	decls []declaration
	order int
}

type declaration struct {
	name, value string
	important   bool
}

const (
	// maxRules and maxNested bound what style sheets of a deck may cost: the rules together, and the levels
	// of @media and of var() within each other.
	maxRules  = 5000
	maxNested = 8
)

func newSheet(texts ...string) *sheet {
	s := &sheet{byKey: map[string][]*rule{}}
	for _, t := range texts {
		s.add(uncomment(t), 0)
	}
	return s
}

// uncomment takes comments out.
func uncomment(css string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(css, "/*")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, css, _ = strings.Cut(rest, "*/")
	}
}

// add reads the rules of a style sheet; what it cannot read is left out.
func (s *sheet) add(css string, depth int) {
	for {
		i := strings.IndexAny(css, "{;")
		if i < 0 || depth > maxNested {
			return
		}
		head := strings.TrimSpace(css[:i])
		if css[i] == ';' {
			css = css[i+1:]
			continue
		}
		body, rest := block(css[i+1:])
		css = rest
		at, query, _ := strings.Cut(head, " ")
		switch {
		case !strings.HasPrefix(head, "@"):
			s.rules(head, body)
		case at == "@media" && printed(query), at == "@supports", at == "@layer":
			s.add(body, depth+1)
		}
	}
}

// printed reports whether a media query holds for paper. Queries that compare sizes are not evaluated and do
// not hold.
func printed(query string) bool {
	q := strings.ToLower(query)
	return !strings.Contains(q, "screen") && !strings.ContainsAny(q, "(") || strings.Contains(q, "print")
}

// block returns what stands before the closing brace, and what follows it; an open block ends with the text.
// Quotes are not looked at: a brace within them counts.
func block(css string) (body, rest string) {
	depth := 1
	for i := range len(css) {
		switch css[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return css[:i], css[i+1:]
			}
		}
	}
	return css, ""
}

func (s *sheet) rules(selectors, body string) {
	decls := declarations(body)
	if len(decls) == 0 {
		return
	}
	for _, text := range outside(selectors, ',') {
		text = strings.TrimSpace(text)
		// The tree is a fragment and not a document, so :root would match nothing; the body inherits to all slides.
		if text == ":root" {
			text = ".reveal-viewport"
		}
		if s.count >= maxRules || text == "" {
			return
		}
		sel, err := cascadia.Parse(text)
		if err != nil || sel.PseudoElement() != "" {
			continue
		}
		s.count++
		// The order counts over all sheets, so that a later sheet wins where selectors are equally specific.
		key := keyOf(text)
		s.byKey[key] = append(s.byKey[key], &rule{sel, decls, s.count})
	}
}

// keyOf returns a class, id or tag that everything the selector matches has, or "*" if none can be read off
// with certainty. A wrong key would hide a rule; "*" only costs time.
func keyOf(selector string) string {
	if i := strings.LastIndexAny(selector, " >+~"); i >= 0 && !strings.ContainsAny(selector, "[(") {
		selector = selector[i+1:]
	} else if i >= 0 {
		return "*"
	}
	end := strings.IndexAny(selector, ":[")
	if end >= 0 {
		selector = selector[:end]
	}
	if i := strings.LastIndexAny(selector, ".#"); i >= 0 {
		return selector[i:]
	}
	if selector == "" {
		return "*"
	}
	return strings.ToLower(selector)
}

// declarations reads what stands between braces or in a style attribute. What is not a declaration is left
// out, as browsers do.
func declarations(css string) []declaration {
	var out []declaration
	for _, d := range outside(css, ';') {
		name, value, ok := strings.Cut(d, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || value == "" {
			continue
		}
		value, important := strings.CutSuffix(value, "!important")
		if !strings.HasPrefix(name, "--") {
			name = strings.ToLower(name)
		}
		out = append(out, declaration{name, strings.TrimSpace(value), important})
	}
	return out
}

// outside splits at a separator that is not within parentheses or quotes.
func outside(s string, sep byte) []string {
	var out []string
	depth, start := 0, 0
	var quote byte
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == sep && depth <= 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// match returns the declarations for an element, the strongest last: by specificity, then by order; the style
// attribute above all rules, and !important above the style attribute.
func (s *sheet) match(n *html.Node) []declaration {
	var found []*rule
	try := func(key string) {
		for _, r := range s.byKey[key] {
			if r.sel.Match(n) {
				found = append(found, r)
			}
		}
	}
	try("*")
	try(n.Data)
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			try("#" + a.Val)
		case "class":
			for c := range strings.FieldsSeq(a.Val) {
				try("." + c)
			}
		}
	}
	slices.SortFunc(found, func(a, b *rule) int {
		x, y := a.sel.Specificity(), b.sel.Specificity()
		switch {
		case x.Less(y):
			return -1
		case y.Less(x):
			return 1
		}
		return a.order - b.order
	})
	var out, strong []declaration
	take := func(ds []declaration) {
		for _, d := range ds {
			if d.important {
				strong = append(strong, d)
			} else {
				out = append(out, d)
			}
		}
	}
	for _, r := range found {
		take(r.decls)
	}
	take(declarations(attr(n, "style")))
	return append(out, strong...)
}
