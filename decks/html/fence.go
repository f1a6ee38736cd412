package html

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

// Code between fences in Markdown is text to those who see the slide, so it stays as it is. The programs that read
// Markdown differ in the unusual cases, and the framework divides slides before it looks for fences. Hence only code is
// taken for code that all of them read as such: between fences at the margin, in no HTML, list or quotation, of a
// known language, and without a line that could divide slides. After the first that is uncertain nothing else is. All
// other text is filtered like HTML.
var (
	openFence = regexp.MustCompile("^(```+|~~~+)[ ]?[A-Za-z0-9#+._-]*[ ]?(?:\\[[0-9,|: -]*\\])?$")
	topMargin = regexp.MustCompile(`^(?:\n{0,2}|\n?(\t+|  +))[^\s]`)
	oneRemark = regexp.MustCompile(`<!--.*?-->`)
	longBlock = regexp.MustCompile(`(?i)<(?:pre|script|style|textarea|[!?])`) // does not end at a blank line
	plainRule = regexp.MustCompile(`^(?:[A-Za-z0-9 ^$?*+:=_~-]|\\[rns])*$`)
)

// fences finds the code between fences in the text of a template, which a section with separators reads.
func fences(text string, separators []attribute) []span {
	m := topMargin.FindStringSubmatch(text)
	rules, ok := divisions(separators)
	if m == nil || !ok || strings.ContainsFunc(text, odd) {
		return nil
	}
	c := code{src: text, margin: m[1], rules: rules}
	var found []span
	free := true // no HTML goes on
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		line := text[at:end]
		bare := oneRemark.ReplaceAllString(line, "")
		switch {
		case strings.Contains(line, "```"), strings.Contains(line, "~~~"):
			fence := openFence.FindStringSubmatch(strings.TrimPrefix(strings.TrimRight(line, " "), c.margin))
			if !free || fence == nil || !strings.HasPrefix(line, c.margin) {
				return found
			}
			if end = c.closed(at, fence[1]); end == 0 {
				return found
			}
			found = append(found, span{at, end})
		case longBlock.MatchString(bare):
			return found
		case strings.TrimSpace(line) == "":
			free = true
		case strings.HasPrefix(strings.TrimSpace(bare), "<"):
			free = false
		}
		at = end + 1
	}
	return found
}

// odd reports whether programs disagree about what a character is at the end of a line or between words.
func odd(r rune) bool {
	return r == '\r' || r == '\v' || r == '\f' || r > unicode.MaxASCII && (unicode.IsSpace(r) || r == '\ufeff')
}

// divisions are the rules that divide the slides and the notes of a section; false if one is not understood.
func divisions(separators []attribute) (rules []*regexp.Regexp, ok bool) {
	for _, by := range [][2]string{{"data-separator", mdSlide}, {"data-separator-vertical", ""}, {"data-separator-notes", mdNotes}} {
		pattern := cmp.Or(valueOf(separators, by[0]), by[1])
		if pattern == "" {
			continue
		}
		rule, err := regexp.Compile(`(?mi)` + pattern)
		if err != nil || !plainRule.MatchString(pattern) {
			return nil, false
		}
		rules = append(rules, rule)
	}
	return rules, true
}

func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

// code is the text of a template and how it is read.
type code struct {
	src    string
	margin string // of every line
	rules  []*regexp.Regexp
}

// closed returns the end of the line that closes the fence at a position; 0 if it is uncertain.
func (c *code) closed(at int, fence string) int {
	for end := lineEnd(c.src, at); end < len(c.src); {
		begin := end + 1
		end = lineEnd(c.src, begin)
		line := c.src[begin:end]
		text := strings.TrimSpace(line)
		switch {
		case text != "" && !strings.HasPrefix(line, c.margin):
			return 0
		case !strings.HasPrefix(text, fence):
		case line != c.margin+text || strings.Trim(text, fence[:1]) != "" || c.divided(at, end):
			return 0
		default:
			return end
		}
	}
	return 0
}

// divided reports whether slides or notes are divided in a part of the text, or across its ends.
func (c *code) divided(from, to int) bool {
	low, high := from, to
	for n := 0; low > 0 && n < 4; low-- { // lines
		if c.src[low-1] == '\n' {
			n++
		}
	}
	for n := 0; high < len(c.src) && n < 4; high++ {
		if c.src[high] == '\n' {
			n++
		}
	}
	text := func(a, b int) string { return strings.ReplaceAll("\n"+c.src[a:b], "\n"+c.margin, "\n") }
	before, after := len(text(low, from)), len(text(low, to))
	for _, rule := range c.rules {
		for _, m := range rule.FindAllStringIndex(text(low, high), -1) {
			if m[0] < after && m[1] > before {
				return true
			}
		}
	}
	return false
}

// skipCode copies the code between fences that begins here, if any does. A fence within anything but text ends the
// certainty about those after it.
func (f *filter) skipCode() bool {
	if len(f.fences) == 0 {
		return false
	}
	at := f.fences[0]
	switch {
	case f.pos == at.from:
		f.out.keep(f.src[at.from:at.to], at.from)
		f.pos, f.fences, f.z = at.to, f.fences[1:], nil
		return true
	case f.pos > at.from:
		f.fences = nil
	}
	return false
}
