package html

import (
	"strings"

	"catena/storage/lazy"
)

var (
	cssDanger = lazy.Regexp(`expression\s*\(|javascript:|vbscript:|-moz-binding|behavior\s*:|@import|<`)
	cssURL    = lazy.Regexp(`url\s*\(\s*["']?\s*([^"')]*)`)
	cssEscape = lazy.Regexp(`\\[0-9a-f]{1,6}\s?|\\|/\*.*?\*/`)
	// A string of its own; one in the brackets of url() is an address.
	cssString = lazy.Regexp(`url\s*\(\s*(?:` + aString + `)?|` + aString)
)

const aString = `"(?:[^"\\\n\r\f]|\\[^\n\r\f])*"|'(?:[^'\\\n\r\f]|\\[^\n\r\f])*'`

// HarmlessCSS reports whether a style sheet or declaration loads and runs nothing but
// harmless addresses.
func HarmlessCSS(s string) bool {
	plain := strings.ToLower(s)
	// What has an escape or a comment in it may spell something else.
	escaped := strings.Contains(plain, `\`) || strings.Contains(plain, "/*")
	if mayBeDanger(plain) && cssDanger().MatchString(plain) || escaped && cssDanger().MatchString(cssEscape().ReplaceAllString(plain, "")) {
		return false
	}
	if !escaped && !strings.Contains(plain, "url") {
		return true
	}
	bare := unquoted(plain)
	if escaped {
		for p := range cssPieces(bare) {
			if cssEscape().MatchString(p.text) && strings.Contains(cssEscape().ReplaceAllString(p.text, ""), "url") {
				return false
			}
		}
	}
	for _, m := range cssURL().FindAllStringSubmatch(bare, -1) {
		if !harmlessURL(m[1]) {
			return false
		}
	}
	return true
}

// mayBeDanger reports whether one of the words is in CSS, which few have, that cssDanger looks for.
func mayBeDanger(plain string) bool {
	return strings.ContainsAny(plain, "<@") || strings.Contains(plain, "script:") || strings.Contains(plain, "-moz-binding") ||
		strings.Contains(plain, "behavior") || strings.Contains(plain, "expression")
}

// unquoted is CSS with empty strings, since text in a string is not an address. Where a string is left open, it is not
// certain what the others are, and all stay.
func unquoted(css string) string {
	bare := cssString().ReplaceAllStringFunc(css, func(m string) string {
		if m[0] == 'u' {
			return m
		}
		return `""`
	})
	if strings.Count(bare, `"`)%2 != 0 || strings.Count(bare, `'`)%2 != 0 {
		return css
	}
	return bare
}

// piece is a part of a style sheet: a declaration, an at-rule without a block, or what stands before a block.
type piece struct {
	text string
	at   int
	end  byte // what ends it: one of ;{} or 0 at the end
}

// cssPieces divides a style sheet, or declarations, at what stands outside of strings, comments and brackets.
func cssPieces(css string) func(yield func(piece) bool) {
	return func(yield func(piece) bool) {
		from, depth := 0, 0
		for i := 0; i < len(css); i++ {
			switch c := css[i]; c {
			case '\\':
				i++
			case '"', '\'':
				i = endOfString(css, i)
			case '/':
				if strings.HasPrefix(css[i:], "/*") {
					i = endOfComment(css, i)
				}
			case '(', '[':
				depth++
			case ')', ']':
				depth = max(0, depth-1)
			case ';', '{', '}':
				if c == ';' && depth > 0 {
					continue
				}
				depth = 0
				if !yield(piece{css[from:i], from, c}) {
					return
				}
				from = i + 1
			}
		}
		if from < len(css) {
			yield(piece{css[from:], from, 0})
		}
	}
}

// endOfString is the place of the quotation mark that ends a string, or of the end of its line.
func endOfString(css string, at int) int {
	for i := at + 1; i < len(css); i++ {
		switch css[i] {
		case '\\':
			i++
		case '\n', '\r', '\f', css[at]:
			return i
		}
	}
	return len(css)
}

func endOfComment(css string, at int) int {
	if n := strings.Index(css[at+2:], "*/"); n >= 0 {
		return at + n + 3
	}
	return len(css)
}

// removal is what was taken out of a style sheet, and where it began.
type removal struct {
	what string
	at   int
}

// softened is a style sheet, or declarations, without the declarations and at-rules that are not harmless. What is left
// is not yet known to be harmless: callers look.
func softened(css string) (rest string, gone []removal) {
	var b strings.Builder
	for p := range cssPieces(css) {
		end := p.at + len(p.text)
		switch blank := len(p.text) - len(strings.TrimLeft(p.text, " \t\r\n\f")); {
		case p.end == '{' || HarmlessCSS(p.text):
			b.WriteString(p.text)
			if p.end != 0 {
				b.WriteByte(p.end)
			}
		case len(gone) > maxRemoved:
			return css, nil
		default:
			gone = append(gone, removal{declared(p.text[blank:]), p.at + blank})
			b.WriteString(strings.Repeat("\n", strings.Count(p.text[:blank], "\n"))) // what follows stays on its line
			if p.end == '}' {
				b.WriteString(css[end : end+1])
			}
		}
	}
	return b.String(), gone
}

// declared names a declaration or an at-rule.
func declared(text string) string {
	if strings.HasPrefix(text, "@") {
		name, _, _ := strings.Cut(strings.TrimLeft(text[1:], " "), " ")
		return "@" + printable(strings.ToLower(name))
	}
	name, _, _ := strings.Cut(text, ":")
	return "declaration " + printable(strings.ToLower(strings.TrimSpace(name)))
}
