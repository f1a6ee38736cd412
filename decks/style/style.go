// Package style rewrites a deck's style sheet for its pages: every rule applies to slides only, nothing is fetched
// from the network, and what is not CSS, such as the variables and mixins of its dialects, is dropped. It knows the
// grammar of style sheets and no properties.
//
// The style sheet of a deck is stored as it was written and compiled whenever the deck is shown, so that a
// way out that is closed later is closed for stored decks too. Every selector is put below the element that
// holds the slides; what could reach the network is left out.
package style

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

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
	(*report)(nil).rules(&b, &reader{css: css}, 0, true)
	return b.String()
}

// Removed says what Compile leaves out of a style sheet, with its place.
func Removed(css string) []string {
	r := &report{css: css}
	r.rules(&strings.Builder{}, &reader{css: css}, 0, true)
	if r.count > maxRemoved {
		r.removed = append(r.removed, fmt.Sprintf("and %d more in the style sheet", r.count-maxRemoved))
	}
	return r.removed
}

const maxRemoved = 100 // reported

// report gathers what is left out; nil gathers nothing.
type report struct {
	css     string
	removed []string
	count   int
}

// drop notes that something is left out.
func (r *report) drop(what string, at int) {
	if r == nil {
		return
	}
	if r.count++; r.count > maxRemoved {
		return
	}
	before := r.css[:at]
	line, column := strings.Count(before, "\n")+1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])+1
	r.removed = append(r.removed, fmt.Sprintf("%s of the style sheet at line %d, column %d", what, line, column))
}

// within are the at-rules that hold rules.
var within = map[string]bool{"container": true, "layer": true, "media": true, "starting-style": true, "supports": true}

// alone are the at-rules that hold for no element, with declarations in them or frames.
var alone = map[string]bool{
	"-webkit-keyframes": true, "counter-style": true, "font-face": true, "font-palette-values": true, "keyframes": true, "property": true,
}

// rules writes a list of rules; scoped ones get the slides before their selectors.
func (r *report) rules(b *strings.Builder, in *reader, depth int, scoped bool) {
	for depth < maxDepth {
		in.blank()
		at := in.from + in.at
		head, end := in.until(";{}")
		head = strings.TrimSpace(head)
		name, rest := atRule(head)
		switch end {
		case 0:
			if head != "" {
				r.drop(nameOf(head), at)
			}
			return
		case ';':
			if name == "layer" && harmless(rest) {
				b.WriteString("@layer " + rest + ";\n")
			} else if head != "" && name != "charset" {
				r.drop(nameOf(head), at)
			}
		case '{':
			r.rule(b, heading{head, at}, in.block(), depth, scoped)
		}
	}
	r.drop("nested rules", in.from)
}

// heading is what stands before a block, and where it begins.
type heading struct {
	text string
	at   int
}

// nameOf names a rule for those who wrote it.
func nameOf(head string) string {
	if name, _ := atRule(head); name != "" {
		return "@" + shortened(name)
	}
	return "rule " + shortened(strings.Join(strings.Fields(head), " "))
}

func shortened(s string) string {
	if letters := []rune(s); len(letters) > 40 {
		return string(letters[:40]) + "…"
	}
	return s
}

// rule writes one rule, if anything of it stays.
func (r *report) rule(b *strings.Builder, head heading, body *reader, depth int, scoped bool) {
	var inner strings.Builder
	text := head.text
	name, rest := atRule(text)
	switch {
	case name == "":
		if scoped {
			text = scope(text)
		}
		if text == "" || !plain(text) {
			r.drop(nameOf(head.text), head.at)
			return
		}
		r.declarations(&inner, body, depth)
	case within[name] && harmless(rest):
		text = strings.TrimSpace("@" + name + " " + rest)
		if scoped {
			r.rules(&inner, body, depth+1, true)
		} else {
			r.declarations(&inner, body, depth)
		}
	case alone[name] && scoped && harmless(rest):
		text = strings.TrimSpace("@" + name + " " + rest)
		r.declarations(&inner, body, depth)
	default:
		r.drop(nameOf(head.text), head.at)
		return
	}
	if inside := strings.TrimSpace(inner.String()); inside != "" {
		b.WriteString(text + " {\n" + inside + "\n}\n")
	}
}

// declarations writes declarations and the rules nested among them.
func (r *report) declarations(b *strings.Builder, in *reader, depth int) {
	for depth < maxDepth {
		in.blank()
		at := in.from + in.at
		text, end := in.until(";{}")
		text = strings.TrimSpace(text)
		if end == '{' {
			if body := in.block(); !strings.HasPrefix(text, "--") {
				r.rule(b, heading{text, at}, body, depth+1, false)
			} else {
				r.drop("declaration "+shortened(text), at)
			}
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case ok && value != "" && isName(name) && harmless(value) && harmlessName(name):
			b.WriteString(name + ": " + value + ";\n")
		case text != "":
			r.drop("declaration "+shortened(name), at)
		}
		if end == 0 {
			return
		}
	}
	r.drop("nested rules", in.from)
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
