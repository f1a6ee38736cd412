package template

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"catena/engine/expr"
)

// plainNumber is a number for programs: no grouping, at most 16 digits behind the point.
func plainNumber(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// digitSize is what a digit costs that is written by a pattern, or a letter of the pattern.
const digitSize = 64

// numberFormats are the named ones.
var numberFormats = map[string]string{"": "#,##0.###", "number": "#,##0.###", "percent": "#,##0%"}

// numberText is a number as the settings say.
func (r *run) numberText(at pos, v any) (string, error) { return r.formatNumber(at, v, r.number) }

// formatNumber writes a number by a name or a pattern: #,##0.00
func (r *run) formatNumber(at pos, v any, pattern string) (string, error) {
	plain := plainNumber(v)
	if pattern == "computer" || pattern == "c" {
		return plain, nil
	}
	if err := r.step(at, digitSize*(len(plain)+len(pattern))); err != nil {
		return "", err
	}
	if named, ok := numberFormats[pattern]; ok {
		pattern = named
	}
	p, ok := readPattern(pattern)
	if !ok {
		return "", at.fail("%q is not a number format", pattern)
	}
	exact, ok := new(big.Rat).SetString(plain)
	if !ok {
		return "", at.fail("the number cannot be formatted")
	}
	return p.format(exact), nil
}

// numberPattern is a pattern of a number taken apart, as in Java's DecimalFormat: #,##0.00 has groups of
// three digits, at least one digit before the point and two behind it.
type numberPattern struct {
	before, after string
	group         int // 0: none
	whole         int // least digits
	least, most   int // digits behind the point
	// what the number is multiplied with: 100 for %, 1000 for ‰, otherwise 1
	scale int64
}

// readPattern takes a pattern apart. At most 100 bytes: the digits behind the point are computed one by one.
// Parts of DecimalFormat that would need more (exponents, currency, a pattern for negative numbers) are
// rejected.
func readPattern(s string) (p numberPattern, ok bool) {
	if s == "" || len(s) > 100 || strings.ContainsAny(s, ";¤'") {
		return p, false
	}
	p.scale = 1
	i := strings.IndexAny(s, "#0.,")
	if i < 0 {
		return p, false
	}
	j := strings.LastIndexAny(s, "#0.,") + 1
	p.before, p.after = s[:i], s[j:]
	switch marks := p.before + p.after; {
	case strings.ContainsAny(marks, "#0.,") || strings.HasPrefix(p.after, "E"): // only there an exponent: 0.00 EUR has none
		return p, false
	case strings.Count(marks, "%")+strings.Count(marks, "‰") > 1:
		return p, false
	case strings.Contains(marks, "%"):
		p.scale = 100
	case strings.Contains(marks, "‰"):
		p.scale = 1000
	}
	left, right, _ := strings.Cut(s[i:j], ".")
	if comma := strings.LastIndexByte(left, ','); comma >= 0 {
		p.group = len(left) - comma - 1
		left = strings.ReplaceAll(left, ",", "")
		if p.group == 0 {
			return p, false
		}
	}
	p.whole = strings.Count(left, "0")
	p.least, p.most = strings.Count(right, "0"), len(right)
	return p, strings.Trim(left, "#") == strings.Repeat("0", p.whole) && strings.HasSuffix(left, strings.Repeat("0", p.whole)) &&
		right == strings.Repeat("0", p.least)+strings.Repeat("#", p.most-p.least)
}

// format writes a number exactly: the calculation is in rationals, so that rounding sees the decimal digits
// of the number and not the nearest binary fraction.
func (p *numberPattern) format(v *big.Rat) string {
	v = new(big.Rat).Mul(v, new(big.Rat).SetInt64(p.scale))
	negative := v.Sign() < 0
	v.Abs(v)
	text := halfEven(v, p.most)
	whole, part, _ := strings.Cut(text, ".")
	for len(part) > p.least && strings.HasSuffix(part, "0") {
		part = part[:len(part)-1]
	}
	if whole == "0" {
		whole = ""
	}
	if len(whole) < p.whole {
		whole = strings.Repeat("0", p.whole-len(whole)) + whole
	}
	if whole == "" && part == "" {
		whole = "0"
	}
	if p.group > 0 {
		for i := len(whole) - p.group; i > 0; i -= p.group {
			whole = whole[:i] + "," + whole[i:]
		}
	}
	if part != "" {
		whole += "." + part
	}
	// What is rounded to zero has no sign.
	if negative && strings.Trim(whole, "0.,") != "" {
		return "-" + p.before + whole + p.after
	}
	return p.before + whole + p.after
}

// halfEven rounds to digits behind the point; what is in the middle goes to the even side.
func halfEven(v *big.Rat, digits int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	n := new(big.Int).Mul(v.Num(), scale)
	n, rest := n.QuoRem(n, v.Denom(), new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(v.Denom()) {
	case 1:
		n.Add(n, big.NewInt(1))
	case 0:
		if n.Bit(0) == 1 {
			n.Add(n, big.NewInt(1))
		}
	}
	s := n.String()
	if digits == 0 {
		return s
	}
	if len(s) <= digits {
		s = strings.Repeat("0", digits-len(s)+1) + s
	}
	return s[:len(s)-digits] + "." + s[len(s)-digits:]
}

// dateFormats and timeFormats are the named ones.
var (
	dateFormats = map[string]string{"short": "M/d/yy", "medium": "MMM d, yyyy", "long": "MMMM d, yyyy", "full": "EEEE, MMMM d, yyyy"}
	timeFormats = map[string]string{"short": "h:mm a", "medium": "h:mm:ss a", "long": "h:mm:ss a z", "full": "h:mm:ss a z"}
	isoFormats  = map[string]string{"date": "yyyy-MM-dd", "time": "HH:mm:ss'Z'", "datetime": "yyyy-MM-dd'T'HH:mm:ss'Z'"}
)

// momentPattern is the pattern of a format, by its name or as it is.
func momentPattern(kind, format string) string {
	switch {
	case format == "":
		format = "medium"
	case strings.HasPrefix(format, "iso") || strings.HasPrefix(format, "xs"):
		switch format {
		case "iso", "iso_utc", "iso u", "xs", "xs u":
			return isoFormats[kind]
		}
		return ""
	}
	first, second, two := strings.Cut(format, "_")
	if !two {
		second = first
	}
	d, ok := dateFormats[first]
	t, ok2 := timeFormats[second]
	switch {
	case !ok || !ok2:
		return format
	case kind == "date":
		return d
	case kind == "time":
		return t
	}
	return d + ", " + t
}

// momentText is a moment in a format, "" for the one that the settings say.
func (r *run) momentText(at pos, m moment, format string) (string, error) {
	if format == "" {
		format = map[string]string{"date": r.date, "time": r.time, "datetime": r.datetime}[m.kind]
	}
	pattern := momentPattern(m.kind, format)
	if err := r.step(at, digitSize*len(pattern)); err != nil {
		return "", err
	}
	if !expr.FormatKnown(pattern) {
		return "", at.fail("%q is not a date format", format)
	}
	return expr.Format(m.t, pattern), nil
}

// goLayouts are letters of patterns as layouts; those of a number of letters come longest first.
var goLayouts = []struct{ letters, layout string }{
	{"yyyy", "2006"},
	{"yy", "06"},
	{"MMMM", "January"},
	{"MMM", "Jan"},
	{"MM", "01"},
	{"M", "1"},
	{"dd", "02"},
	{"d", "2"},
	{"EEEE", "Monday"},
	{"EEE", "Mon"},
	{"HH", "15"},
	{"hh", "03"},
	{"h", "3"},
	{"mm", "04"},
	{"m", "4"},
	{"ss", "05"},
	{"s", "5"},
	{"SSS", "000"},
	{"a", "PM"},
	{"XXX", "Z07:00"},
	{"XX", "Z0700"},
	{"X", "Z07"},
	{"Z", "-0700"},
	{"z", "MST"},
}

// readMoment reads a text by a pattern; without one it may be as ISO 8601 says, or as dates are written here.
func readMoment(at pos, text, pattern, kind string) (moment, error) {
	layouts := map[string][]string{
		"date":     {time.DateOnly, "Jan 2, 2006"},
		"time":     {time.TimeOnly, "15:04:05Z07:00", "3:04:05 PM"},
		"datetime": {time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "Jan 2, 2006, 3:04:05 PM"},
	}[kind]
	if pattern != "" {
		layout, ok := goLayout(momentPattern(kind, pattern))
		if !ok {
			return moment{}, at.fail("%q is not a format for parsing dates", pattern)
		}
		layouts = []string{layout}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return moment{t.UTC(), kind}, nil
		}
	}
	return moment{}, at.fail("%q is not a valid %s", cut(text), kind)
}

// bareFraction are thousandths behind neither a point nor a comma.
var bareFraction = regexp.MustCompile(`(^|[^.,])000`)

// layoutOf is the part of a Go layout that letters stand for.
func layoutOf(letters string) (string, bool) {
	for _, l := range goLayouts {
		if l.letters == letters {
			return l.layout, true
		}
	}
	return "", false
}

func goLayout(pattern string) (string, bool) {
	var b strings.Builder
	for pattern != "" {
		if pattern[0] == '\'' {
			text, rest, ok := strings.Cut(pattern[1:], "'")
			// The quoted text becomes part of a Go layout, where a word such as Jan
			// or a digit would be read as a part of the date.
			if !ok || strings.ContainsAny(text, "0123456789_") || len(text) > 1 {
				return "", false
			}
			b.WriteString(text)
			pattern = rest
			continue
		}
		n := 1
		for n < len(pattern) && pattern[n] == pattern[0] {
			n++
		}
		layout, known := layoutOf(pattern[:n])
		c := pattern[0]
		switch {
		case known:
			b.WriteString(layout)
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			return "", false
		default:
			b.WriteString(pattern[:n])
		}
		pattern = pattern[n:]
	}
	// Package time takes these for something else: a day that is filled with a blank, and digits without a separator.
	layout := strings.ReplaceAll(b.String(), "_2006", "")
	return b.String(), !strings.Contains(layout, "_2") && !bareFraction.MatchString(layout)
}

// cut is the beginning of a text, for errors.
func cut(s string) string {
	if c := []rune(s); len(c) > 60 {
		return string(c[:60]) + "…"
	}
	return s
}
