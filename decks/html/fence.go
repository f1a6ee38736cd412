package html

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"catena/storage/lazy"
)

// Code between fences in Markdown is text to those who see the slide, so it stays as it is. The programs that read
// Markdown differ in the unusual cases, and the framework divides slides before it looks for fences. Hence only code is
// taken for code that all of them read as such: between fences at the margin, in no HTML, list or quotation, of a
// known language, and without a line that could divide slides. After the first that is uncertain nothing else is. All
// other text is filtered like HTML. Of each slide the framework takes the margin again, wherever in a line that many
// blanks stand, so that what follows blanks may begin a line.
var (
	openFence = lazy.Regexp("^(```+|~~~+)[ ]?[A-Za-z0-9#+._-]*[ ]?(?:\\[[0-9,|: -]*\\])?$")
	topMargin = lazy.Regexp(`^(?:\n{0,2}|\n?(\t+|  +))[^\s]`)
	oneRemark = lazy.Regexp(`<!--.*?-->`)
	longBlock = lazy.Regexp(`(?i)<(?:pre|script|style|textarea|[!?])`)  // does not end at a blank line
	plainRule = lazy.Regexp(`^(?:[A-Za-z0-9 ^$?:=_~-]|\\[rns]){0,40}$`) // matches no more bytes than it has
	bracketed = lazy.Regexp(`^\[[^\[\]\\]*\](?:[^:]|$)`)                // begins no definition of a link, which may go on over lines
)

// fences finds the code between fences in the text of a template, which a section with separators reads.
func fences(text string, separators []attribute) []span {
	m := topMargin().FindStringSubmatch(text)
	rules, ok := divisions(separators)
	if m == nil || !ok || strings.ContainsFunc(text, odd) {
		return nil
	}
	c := code{src: text, margin: m[1], rules: rules, lines: 2}
	for _, r := range rules {
		c.lines = max(c.lines, 2+strings.Count(r.pattern.String(), `\n`)+strings.Count(r.pattern.String(), `\s`))
	}
	var found []span
	free := true // no HTML goes on
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		line := text[at:end]
		bare := oneRemark().ReplaceAllString(line, "")
		switch {
		case strings.Contains(line, "```"), strings.Contains(line, "~~~"):
			fence := openFence().FindStringSubmatch(strings.TrimPrefix(strings.TrimRight(line, " "), c.margin))
			if !free || fence == nil || !strings.HasPrefix(line, c.margin) {
				return found
			}
			if end = c.closed(at, fence[1]); end == 0 || len(found) == maxFences {
				return found
			}
			found = append(found, span{at, end})
		case strings.TrimSpace(line) == "":
			free = true
		case longBlock().MatchString(bare), strings.Contains(line, "]:"), !strings.HasPrefix(line, c.margin):
			return found
		default:
			html, certain := begins(bare)
			if !certain {
				return found
			}
			free = free && !html
		}
		at = end + 1
	}
	return found
}

const maxFences = 1000 // in a template; what follows is filtered like HTML

// begins reports whether HTML begins in a line, at its beginning or behind blanks and the marks of quotations and items, and whether
// it is certain that no definition of a link does.
func begins(line string) (html, certain bool) {
	fresh := true
	for i := range len(line) {
		switch c := line[i]; {
		case c == '\t', c == ' ' && i > 0 && line[i-1] == ' ':
			fresh = true
		case !fresh, strings.IndexByte(" >*+-.)0123456789", c) >= 0:
		case c == '[' && !bracketed().MatchString(line[i:]):
			return html, false
		default:
			html, fresh = html || c == '<', false
		}
	}
	return html, true
}

// odd reports whether programs disagree about what a character is at the end of a line or between words.
func odd(r rune) bool {
	return r == '\r' || r == '\v' || r == '\f' || r > unicode.MaxASCII && (unicode.IsSpace(r) || r == '\ufeff')
}

// allNotes matches what begins notes unless a section says otherwise, in this version of the framework and in others.
const allNotes = `^[s\t ]*notes?:`

// divisions are the rules that divide the slides and the notes of a section; false if one is not understood.
func divisions(separators []attribute) (rules []rule, ok bool) {
	for _, by := range [][2]string{{"data-separator", mdSlide}, {"data-separator-vertical", ""}, {"data-separator-notes", allNotes}} {
		pattern := cmp.Or(valueOf(separators, by[0]), by[1])
		if pattern == "" {
			continue
		}
		compiled, err := regexp.Compile(`(?mi)\A(?:` + pattern + `)`)
		if err != nil || pattern != allNotes && !plainRule().MatchString(pattern) {
			return nil, false
		}
		rules = append(rules, rule{compiled, pattern[0] == '^', pattern == mdSlide})
	}
	return rules, true
}

// rule is a pattern that divides the text, and whether it matches only where a line begins or ends.
type rule struct {
	pattern   *regexp.Regexp
	line, end bool
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
	rules  []rule
	lines  int // more than a rule matches
}

// closed returns the end of the line that closes the fence at a position; 0 if it is uncertain.
func (c *code) closed(at int, fence string) int {
	for end := lineEnd(c.src, at); end < len(c.src); {
		begin := end + 1
		end = lineEnd(c.src, begin)
		line := c.src[begin:end]
		text := strings.TrimSpace(line)
		switch {
		case text != "" && !strings.HasPrefix(line, c.margin), strings.LastIndex(text, fence) > len(text)-len(strings.TrimLeft(text, fence[:1])):
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

// divided reports whether slides or notes are divided in a part of the text, or across its ends. Rules are tried at every
// place, because what the framework finds depends on what it found before.
func (c *code) divided(from, to int) bool {
	low, high := from, to
	for n := 0; low > 0 && n < c.lines; low-- {
		if c.src[low-1] == '\n' {
			n++
		}
	}
	for n := 0; high < len(c.src) && n < c.lines; high++ {
		if c.src[high] == '\n' {
			n++
		}
	}
	text := func(a, b int) string { return strings.ReplaceAll("\n"+c.src[a:b], "\n"+c.margin, "\n") }
	before, after := len(text(low, from)), len(text(low, to))
	whole := text(low, high)
	for at := range after {
		if c.matched(whole[at:], at == 0 || whole[at-1] == '\n', before-at) {
			return true
		}
	}
	return false
}

// matched reports whether a rule matches the beginning of text and more bytes than some; begin says that a line begins there.
func (c *code) matched(text string, begin bool, more int) bool {
	for _, r := range c.rules {
		if r.line && !begin || r.end && text[0] != '\n' && text[0] != '\r' {
			continue
		}
		if m := r.pattern.FindStringIndex(text); m != nil && m[1] > more {
			return true
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
		f.marking.fenced, f.marking.ticks = false, ""
		return true
	case f.pos > at.from:
		f.fences = nil
	}
	return false
}
