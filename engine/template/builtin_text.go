package template

import (
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ofText makes a built-in of a text with arguments that are texts; each byte counts.
func ofText(least, most int, f func(r *run, x *built, s string, args []string) (any, error)) builtin {
	return builtin{least: least, most: most, f: func(r *run, x *built, v any) (any, error) {
		s, err := r.text(x.of.position(), v)
		if err != nil {
			return nil, err
		}
		args, err := x.texts(r)
		if err != nil {
			return nil, err
		}
		if err := r.step(x.at, len(s)); err != nil {
			return nil, err
		}
		return f(r, x, s, args)
	}}
}

// changed makes a built-in that makes one text of another.
func changed(f func(s string) string) builtin {
	return ofText(0, 0, func(r *run, x *built, s string, _ []string) (any, error) {
		out := f(s)
		return out, r.made(x.at, len(out))
	})
}

// asks makes a built-in that asks something about a text and another.
func asks(f func(s, of string) bool) builtin {
	return ofText(1, 1, func(_ *run, _ *built, s string, args []string) (any, error) { return f(s, args[0]), nil })
}

// keeps makes a built-in that keeps a part of a text.
// The part shares the memory of the text, so nothing is counted as made.
func keeps(f func(s, at string) string) builtin {
	return ofText(1, 1, func(_ *run, _ *built, s string, args []string) (any, error) { return f(s, args[0]), nil })
}

// htmlEscapes writes the apostrophe as a number, since HTML 4 has no &apos;.
var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

var textBuiltins = map[string]builtin{
	"html": changed(htmlEscapes.Replace), "xhtml": changed(htmlEscapes.Replace), "xml": changed(xmlEscapes.Replace),
	"js_string": changed(jsString), "json_string": changed(jsonString), "j_string": changed(jsonString),
	"url": changed(escapeURL), "url_path": changed(func(s string) string { return strings.ReplaceAll(escapeURL(s), "%2F", "/") }),
	"upper_case": changed(strings.ToUpper), "lower_case": changed(strings.ToLower),
	"cap_first": changed(func(s string) string { return first(s, unicode.ToUpper) }), "uncap_first": changed(func(s string) string { return first(s, unicode.ToLower) }),
	"capitalize":     changed(capitalize),
	"trim":           changed(strings.TrimSpace),
	"chop_linebreak": changed(func(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }),
	"length": ofText(0, 0, func(_ *run, _ *built, s string, _ []string) (any, error) {
		return int64(utf8.RuneCountInString(s)), nil
	}),
	"contains": asks(strings.Contains), "starts_with": asks(strings.HasPrefix), "ends_with": asks(strings.HasSuffix),
	"index_of": ofText(1, 1, indexOf(strings.Index)), "last_index_of": ofText(1, 1, indexOf(strings.LastIndex)),
	"keep_before":      keeps(func(s, at string) string { before, _, _ := strings.Cut(s, at); return before }),
	"keep_after":       keeps(func(s, at string) string { _, after, _ := strings.Cut(s, at); return after }),
	"keep_before_last": keeps(func(s, at string) string { return cutLast(s, at, s, true) }),
	"keep_after_last":  keeps(func(s, at string) string { return cutLast(s, at, "", false) }),
	"remove_beginning": keeps(strings.TrimPrefix),
	"remove_ending":    keeps(strings.TrimSuffix),
	"ensure_starts_with": ofText(1, 1, func(r *run, x *built, s string, args []string) (any, error) {
		return args[0] + strings.TrimPrefix(s, args[0]), r.made(x.at, len(s)+len(args[0]))
	}),
	"ensure_ends_with": ofText(1, 1, func(r *run, x *built, s string, args []string) (any, error) {
		return strings.TrimSuffix(s, args[0]) + args[0], r.made(x.at, len(s)+len(args[0]))
	}),
	"left_pad": padded(true), "right_pad": padded(false),
	"replace": ofText(2, 3, replaced), "split": ofText(1, 2, split),
	"word_list": ofText(0, 0, func(r *run, x *built, s string, _ []string) (any, error) { return r.listOf(x.at, strings.Fields(s)) }),
	"substring": {least: 1, most: 2, f: substring},
	"number":    ofText(0, 0, toNumber),
	"boolean":   ofText(0, 0, toBoolean),
	"no_esc":    ofText(0, 0, func(_ *run, _ *built, s string, _ []string) (any, error) { return markup(s), nil }),
}

// jsString is a text within quotes of JavaScript, also in a page.
func jsString(s string) string {
	s = jsonString(s)
	return strings.NewReplacer("'", `\'`, ">", `\>`, "<", `\u003C`).Replace(s)
}

// jsonString is a text within quotes of JSON. The sequences that could end a script element or a CDATA
// section are written with escapes, so that the result is safe in a page, too.
func jsonString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return "" // a text always can be
	}
	s = strings.TrimSuffix(b.String(), "\n")
	return strings.NewReplacer("</", `<\/`, "<!", `\u003C!`, "]]>", `]]\u003E`, "-->", `--\u003E`).Replace(s[1 : len(s)-1])
}

// escapeURL writes a blank as %20, which holds in paths as well as in queries; + is a blank in queries only.
func escapeURL(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func first(s string, to func(rune) rune) string {
	i := strings.IndexFunc(s, func(c rune) bool { return !unicode.IsSpace(c) })
	if i < 0 {
		return s
	}
	c, size := utf8.DecodeRuneInString(s[i:])
	return s[:i] + string(to(c)) + s[i+size:]
}

func capitalize(s string) string {
	before := ' '
	return strings.Map(func(c rune) rune {
		to := unicode.ToLower(c)
		if unicode.IsSpace(before) {
			to = unicode.ToUpper(c)
		}
		before = c
		return to
	}, s)
}

func cutLast(s, at, otherwise string, before bool) string {
	i := strings.LastIndex(s, at)
	switch {
	case i < 0:
		return otherwise
	case before:
		return s[:i]
	}
	return s[i+len(at):]
}

func indexOf(find func(s, of string) int) func(*run, *built, string, []string) (any, error) {
	return func(_ *run, _ *built, s string, args []string) (any, error) {
		i := find(s, args[0])
		if i > 0 {
			i = utf8.RuneCountInString(s[:i])
		}
		return int64(i), nil
	}
}

// padded makes ?left_pad and ?right_pad: sizes count characters. The fill is repeated from the left edge of the whole, so
// that what fills lines of different texts stands in columns.
func padded(left bool) builtin {
	return builtin{least: 1, most: 2, f: func(r *run, x *built, v any) (any, error) {
		s, err := r.text(x.of.position(), v)
		if err != nil {
			return nil, err
		}
		size, err := r.whole(x.args[0])
		if err != nil {
			return nil, err
		}
		fill := " "
		if len(x.args) == 2 {
			if fill, err = x.text(r, 1); err != nil {
				return nil, err
			}
		}
		length := utf8.RuneCountInString(s)
		n := size - length
		if n <= 0 || fill == "" {
			return s, r.step(x.at, len(s))
		}
		if err := r.made(x.at, len(s)+n*utf8.UTFMax); err != nil {
			return nil, err
		}
		chars := []rune(fill)
		pad := make([]rune, n)
		from := length
		if left {
			from = 0
		}
		for i := range pad {
			pad[i] = chars[(from+i)%len(chars)]
		}
		if left {
			return string(pad) + s, nil
		}
		return s + string(pad), nil
	}}
}

// maxPattern bounds regular expressions, which are compiled each time. A pattern of 200 bytes compiles within
// microseconds; the time to match grows with its length.
const maxPattern = 200

// replaced is ?replace(from, to) with the flags r, for a regular expression, i and f.
func replaced(r *run, x *built, s string, args []string) (any, error) {
	flags := ""
	if len(args) == 3 {
		flags = args[2]
	}
	n := -1
	if strings.Contains(flags, "f") {
		n = 1
	}
	switch {
	case strings.Trim(flags, "rif") != "":
		return nil, x.at.fail("?replace has the flags r, i and f, not %q", flags)
	case args[0] == "" && !strings.Contains(flags, "r"):
		return nil, x.at.fail("?replace cannot search for an empty text")
	case strings.ContainsAny(flags, "ri"):
		return (&replacing{x.at, args[0], args[1], flags, n}).in(r, s)
	}
	count := strings.Count(s, args[0])
	if err := r.made(x.at, len(s)+count*max(0, len(args[1])-len(args[0]))); err != nil {
		return nil, err
	}
	return strings.Replace(s, args[0], args[1], n), nil
}

// replacing is a call of ?replace whose flags ask for a regular expression or for letters of any case.
type replacing struct {
	at            pos
	pattern, with string
	flags         string // of r (regular expression), i (any case) and f (first only)
	n             int    // occurrences that are replaced; -1: all
}

// in replaces the occurrences in s. The rest of a text is matched again after each of them, so the steps are
// those of the square of its length in the worst case.
func (p *replacing) in(r *run, s string) (any, error) {
	pattern := p.pattern
	if !strings.Contains(p.flags, "r") {
		pattern = regexp.QuoteMeta(pattern)
	}
	if strings.Contains(p.flags, "i") {
		pattern = "(?i)" + pattern
	}
	if len(pattern) > maxPattern {
		return nil, p.at.exceed("the pattern is longer than %d bytes", maxPattern)
	}
	if err := r.step(p.at, len(pattern)*(len(s)+1)*(len(s)+1)); err != nil { // its time may grow with the square of s
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, p.at.fail("%q is not a regular expression: %v", cut(p.pattern), err)
	}
	var out []byte
	last, before := 0, 0
	for _, m := range re.FindAllStringSubmatchIndex(s, p.n) {
		out = append(out, s[last:m[0]]...)
		if strings.Contains(p.flags, "r") {
			out = re.ExpandString(out, numbered.ReplaceAllString(p.with, "$${$1}"), s, m)
		} else {
			out = append(out, p.with...)
		}
		if err := r.grown(p.at, len(out), len(p.with)+len(out)-before); err != nil {
			return nil, err
		}
		last, before = m[1], len(out)
	}
	return string(append(out, s[last:]...)), nil
}

// numbered is a group in what a regular expression puts: $1
var numbered = regexp.MustCompile(`\$(\d)`)

func split(r *run, x *built, s string, args []string) (any, error) {
	if len(args) == 2 && strings.Trim(args[1], "r") != "" || len(args) == 2 && args[1] != "" {
		return nil, x.at.fail("?split does not support flags such as %q", args[1])
	}
	if args[0] == "" {
		return nil, x.at.fail("?split cannot search for an empty text")
	}
	if err := r.made(x.at, strings.Count(s, args[0])*itemSize); err != nil {
		return nil, err
	}
	return r.listOf(x.at, strings.Split(s, args[0]))
}

func (r *run) listOf(at pos, list []string) (any, error) {
	if err := r.made(at, len(list)*itemSize); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out, nil
}

func substring(r *run, x *built, v any) (any, error) {
	s, err := r.text(x.of.position(), v)
	if err != nil {
		return nil, err
	}
	from, err := r.whole(x.args[0])
	if err != nil {
		return nil, err
	}
	if err := r.step(x.at, len(s)); err != nil {
		return nil, err
	}
	chars := []rune(s)
	to := len(chars)
	if len(x.args) == 2 {
		if to, err = r.whole(x.args[1]); err != nil {
			return nil, err
		}
	}
	if from < 0 || to < from || to > len(chars) {
		return nil, x.at.fail("the range %d to %d is outside a length of %d", from, to, len(chars))
	}
	return string(chars[from:to]), nil
}

func toNumber(_ *run, x *built, s string, _ []string) (any, error) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	// Hexadecimal numbers and underscores are Go's and not the language's.
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || strings.ContainsAny(s, "xXpP_") {
		return nil, x.at.fail("%q is not a number", cut(s))
	}
	return shortened(f), nil
}

func toBoolean(_ *run, x *built, s string, _ []string) (any, error) {
	switch s {
	case "true", "yes":
		return true, nil
	case "false", "no":
		return false, nil
	}
	return nil, x.at.fail("%q is neither true nor false", cut(s))
}

func ceil(f float64) float64  { return math.Ceil(f) }
func floor(f float64) float64 { return math.Floor(f) }

// round takes halves up, also below zero: -1.5 becomes -1.
func round(f float64) float64 { return math.Floor(f + 0.5) }
func trunc(f float64) float64 { return math.Trunc(f) }

// shortened is a number as a whole one, if it is.
func shortened(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}
