package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// odd are patterns that native readers stumble over, each with what to write in its place.
var odd = []struct {
	words   []string // in lower case, one of which is in whatever matches: looking for them takes much less time
	pattern *regexp.Regexp
	instead string
}{
	{[]string{"none "}, regexp.MustCompile(`(?i)\bnone is there\b|\bis none there\b`), `"unknown …" or "does not exist"`},
	{[]string{"who"}, regexp.MustCompile(`(?i)\bwhoever\b|\bwho asks\b`), `"the caller", "users who …"`},
	{[]string{", as "}, regexp.MustCompile(`(?i), as (\d|mailto:|https?:)`), `"such as"`},
	{[]string{"told", "tell"}, regexp.MustCompile(`(?i)\b(is|are|was) told\b|\bthe (line|reason) told\b|\btells? (of|it of)\b`), `"named", "reported", "shown"`},
	{[]string{"mend"}, regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`), `"fix"`},
	{[]string{"alike"}, regexp.MustCompile(`(?i)\balike\b`), `"the same", "equal"`},
	{[]string{"anew"}, regexp.MustCompile(`(?i)\banew\b`), `"again"`},
	{[]string{"to be"}, regexp.MustCompile(`(?i)\b(is|are) to be\b`), `"must be"`},
	{[]string{"away", "off"}, regexp.MustCompile(`(?i)\bgives? away\b|\bbroken off\b|\bbroke off\b`), `"reassign" or "interrupted"`},
	{[]string{"of much", "of no"}, regexp.MustCompile(`(?i)\bof much\b|\bof no use\b`), `"high-value", "unused"`},
	{[]string{"unless"}, regexp.MustCompile(`(?i)\bunless (it|he|she|they) (is|are) told\b`), `"by default"`},
	{[]string{"one's"}, regexp.MustCompile(`(?i)\bone's own\b`), `"the caller's"`},
	{[]string{"first"}, regexp.MustCompile(`(?i)\bthe (newest|oldest|latest|last) first\b`), `"newest first"`},
	{[]string{"at hand"}, regexp.MustCompile(`(?i)\bat hand\b`), `"current"`},
	{[]string{"over"}, regexp.MustCompile(`(?i)\b(is|are) over\b`), `"has ended", "has expired"`},
	{[]string{"any more"}, regexp.MustCompile(`(?i)\bany more\b`), `"no longer"`},
	{[]string{"the input"}, regexp.MustCompile(`(?i)\bkeeps? the input\b`), `"returns the input"`},
	{[]string{"not below"}, regexp.MustCompile(`(?i)\bnot below \d`), `"at least"`},
	{[]string{"may"}, regexp.MustCompile(`(?i)\bthan (it|they|is|one) may\b`), `"too …", "than allowed"`},
	{[]string{"who"}, regexp.MustCompile(`(^|[.;:] )Who(se)? (is|has|does|names|wants)\b`), `"users who …"`},
	{[]string{"in the place"}, regexp.MustCompile(`(?i)\bin the place of\b`), `"in place of", "instead of"`},
	{[]string{"behind the"}, regexp.MustCompile(`(?i)\bbehind the back of\b`), `"in the background"`},
	{[]string{"there", "where"}, regexp.MustCompile(`(?i)\b(thereof|therein|whereof|wherein)\b`), `"of it", "in it"`},
}

// oddComments are the patterns that comments are searched for as well. The others have uses in comments that read well.
var oddComments = []string{"whoever", "anew", "of no use", "any more", "is over", "alike", "who asks", "one's own", "in the place of", "broken off", "at hand"}

// noX finds "is no X", which is odd unless "there" stands before it.
var noX = regexp.MustCompile(`(?i)(\w+|%\w:)\s+(?:is|are|was|were) no (\w+)`)

// oddities lists what is odd in a text.
func oddities(text string) (out []string) {
	lower := strings.ToLower(text)
	has := func(words string) bool { return strings.Contains(lower, words) }
	for _, o := range odd {
		if !slices.ContainsFunc(o.words, has) {
			continue
		}
		for _, found := range o.pattern.FindAllString(text, -1) {
			out = append(out, strconv.Quote(found)+": write "+o.instead)
		}
	}
	if !has(" no ") {
		return out
	}
	for _, m := range noX.FindAllStringSubmatch(text, -1) {
		if before, after := strings.ToLower(m[1]), strings.ToLower(m[2]); before != "there" && after != "longer" && after != "more" {
			out = append(out, strconv.Quote(m[0])+`: write "is not a …", "must be …"`)
		}
	}
	return out
}

// oddRemarks lists what is odd in a comment.
func oddRemarks(text string) (out []string) {
	for _, o := range oddities(text) {
		if slices.ContainsFunc(oddComments, func(words string) bool { return strings.Contains(strings.ToLower(o), `"`+words+`":`) }) {
			out = append(out, o)
		}
	}
	return out
}

// generated are the pages that come from texts of the program.
var generated = map[string]bool{"commands.md": true, "settings.md": true}

// pageTypes are the endings of the files that pages are made of.
var pageTypes = map[string]bool{".html": true, ".js": true, ".css": true}

// TestEnglish reads the documentation for odd English.
func TestEnglish(t *testing.T) {
	files := []string{"CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"}
	for i, name := range files {
		files[i] = filepath.Join("..", "..", name)
	}
	pages, err := filepath.Glob(filepath.Join(manualDir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, pages...) {
		if generated[filepath.Base(file)] {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range oddities(string(text)) {
			t.Errorf("%s: %s", file, o)
		}
	}
}
