// Package style rewrites a deck's style sheet for its pages: every rule applies to slides only, nothing is fetched
// from the network, and what is not CSS, such as the variables and mixins of its dialects, is dropped. It knows the
// grammar of style sheets and no properties.
//
// The style sheet of a deck is stored as it was written and compiled whenever the deck is shown, so that a
// way out that is closed later is closed for stored decks too. Every selector is put below the element that
// holds the slides; what could reach the network is left out.
package style

import "strings"

const (
	slides   = ".reveal"          // holds the slides
	viewport = ".reveal-viewport" // holds what is around them; stands for the page
	maxDepth = 16
)

// Compile returns a style sheet for the slides of a deck. Compiling what it returned changes
// nothing.
func Compile(css string) string {
	if strings.TrimSpace(css) == "" {
		return ""
	}
	var b strings.Builder
	rules(&b, css, 0, true)
	return b.String()
}

// within are the at-rules that hold rules.
var within = map[string]bool{"container": true, "layer": true, "media": true, "starting-style": true, "supports": true}

// alone are the at-rules that hold for no element, with declarations in them or frames.
var alone = map[string]bool{
	"-webkit-keyframes": true, "counter-style": true, "font-face": true, "font-palette-values": true, "keyframes": true, "property": true,
}

// rules writes a list of rules; scoped ones get the slides before their selectors.
func rules(b *strings.Builder, css string, depth int, scoped bool) {
	r := reader{css: css}
	for depth < maxDepth {
		head, end := r.until(";{}")
		head = strings.TrimSpace(head)
		switch end {
		case 0:
			return
		case ';':
			if name, rest := atRule(head); name == "layer" && harmless(rest) {
				b.WriteString("@layer " + rest + ";\n")
			}
		case '{':
			rule(b, head, r.block(), depth, scoped)
		}
	}
}

// rule writes one rule, if anything of it stays.
func rule(b *strings.Builder, head, body string, depth int, scoped bool) {
	var inner strings.Builder
	name, rest := atRule(head)
	switch {
	case name == "":
		if scoped {
			head = scope(head)
		}
		if head == "" || !plain(head) {
			return
		}
		declarations(&inner, body, depth)
	case within[name]:
		if !harmless(rest) {
			return
		}
		head = strings.TrimSpace("@" + name + " " + rest)
		if scoped {
			rules(&inner, body, depth+1, true)
		} else {
			declarations(&inner, body, depth)
		}
	case alone[name] && scoped && harmless(rest):
		head = strings.TrimSpace("@" + name + " " + rest)
		declarations(&inner, body, depth)
	}
	if text := strings.TrimSpace(inner.String()); text != "" {
		b.WriteString(head + " {\n" + text + "\n}\n")
	}
}

// declarations writes declarations and the rules nested among them.
func declarations(b *strings.Builder, css string, depth int) {
	r := reader{css: css}
	for depth < maxDepth {
		text, end := r.until(";{}")
		text = strings.TrimSpace(text)
		if end == '{' {
			if body := r.block(); !strings.HasPrefix(text, "--") {
				rule(b, text, body, depth+1, false)
			}
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if ok && value != "" && isName(name) && harmless(value) && harmlessName(name) {
			b.WriteString(name + ": " + value + ";\n")
		}
		if end == 0 {
			return
		}
	}
}

// atRule takes a rule's head apart if it begins with @.
func atRule(head string) (name, rest string) {
	after, ok := strings.CutPrefix(head, "@")
	if !ok {
		return "", ""
	}
	i := 0
	for i < len(after) && nameByte(after[i]) {
		i++
	}
	return strings.ToLower(after[:i]), strings.TrimSpace(after[i:])
}

// scope puts the slides before each selector of a list.
func scope(list string) string {
	var out []string
	r := reader{css: list}
	for {
		text, end := r.until(",")
		if s := scopeOne(strings.TrimSpace(text)); s != "" {
			out = append(out, s)
		}
		if end == 0 {
			return strings.Join(out, ", ")
		}
	}
}

// scopeOne returns a selector as it is within the slides; the page itself is what holds them.
func scopeOne(selector string) string {
	rest, page := selector, false
	for {
		after, ok := cutPage(rest)
		if !ok {
			break
		}
		rest, page = after, true
		if trimmed := strings.TrimLeft(rest, " \t\r\n\f>"); trimmed != rest && trimmed != "" {
			if _, again := cutPage(trimmed); again {
				rest = trimmed
			}
		}
	}
	switch {
	case selector == "" || strings.ContainsRune(">+~", rune(selector[0])):
		return ""
	case page:
		return viewport + rest
	case selector[0] == '&' && len(selector) > 1 && nameByte(selector[1]):
		return ""
	case selector[0] == '&':
		return slides + selector[1:]
	case names(first(selector), slides) || names(first(selector), viewport):
		return selector
	}
	return slides + " " + selector
}

// cutPage cuts what stands for the whole page off a selector.
func cutPage(selector string) (rest string, ok bool) {
	for _, page := range [...]string{":root", "html", "body"} {
		if len(selector) >= len(page) && strings.EqualFold(selector[:len(page)], page) &&
			(len(selector) == len(page) || !nameByte(selector[len(page)])) {
			return selector[len(page):], true
		}
	}
	return selector, false
}

// first is the part of a selector that stands for its first element.
func first(selector string) string {
	r := reader{css: selector}
	text, _ := r.until(" \t\r\n\f>+~")
	return text
}

// names reports whether a part of a selector names a class.
func names(part, class string) bool {
	for at := 0; ; {
		i := strings.Index(part[at:], class)
		if i < 0 {
			return false
		}
		if at += i + len(class); at == len(part) || !nameByte(part[at]) {
			return true
		}
	}
}
