package expr

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"catena/storage/fault"
)

// forms are the helpers that write numbers, dates and texts in a form.
func forms() map[string]any {
	return map[string]any{
		"daysBetween":  daysBetween,
		"formatDate":   formatDate,
		"formatNumber": formatNumber,
		"padLeft":      pad("padLeft", func(text, fill string) string { return fill + text }),
		"padRight":     pad("padRight", func(text, fill string) string { return text + fill }),
		"urlEncode":    text("urlEncode", func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }),
	}
}

// maxPadded bounds the length of a text that is filled up, in characters.
const maxPadded = 1000

// pad fills a text up to a length in characters: Fn.padLeft(7, 5, "0") is 00007.
func pad(name string, join func(text, fill string) string) Func {
	return func(args ...any) (any, error) {
		if len(args) < 2 || len(args) > 3 {
			return nil, fault.Invalid.Errorf("Fn.%s: requires a text, a length and perhaps a character", name)
		}
		s, fill := Text(args[0]), " "
		if len(args) == 3 {
			fill = Text(args[2])
		}
		n, err := whole(args[1])
		if err != nil || n < 0 || n > maxPadded || utf8.RuneCountInString(fill) != 1 {
			return nil, fault.Invalid.Errorf("Fn.%s: requires a length from 0 to %d and one character", name, maxPadded)
		}
		return join(s, strings.Repeat(fill, max(0, int(n)-utf8.RuneCountInString(s)))), nil
	}
}

// maxDigits bounds the digits behind the point.
const maxDigits = 15

// formatNumber writes a number with digits behind a decimal mark, and a mark between thousands if one is given:
// Fn.formatNumber(1234.5, 2, ",", ".") is 1.234,50.
func formatNumber(args ...any) (any, error) {
	usage := fault.Invalid.Errorf("Fn.formatNumber: requires a number, 0 to %d digits, and perhaps the marks before the digits and between thousands", maxDigits)
	if len(args) < 2 || len(args) > 4 {
		return nil, usage
	}
	n, err := strconv.ParseFloat(Text(args[0]), 64)
	digits, digitsErr := whole(args[1])
	if err != nil || digitsErr != nil || digits < 0 || digits > maxDigits || math.IsInf(n, 0) || math.IsNaN(n) || math.Abs(n) > 1<<53 {
		return nil, usage
	}
	point, group := ".", ""
	if len(args) > 2 {
		point = Text(args[2])
	}
	if len(args) > 3 {
		group = Text(args[3])
	}
	written := strconv.FormatFloat(n, 'f', int(digits), 64)
	written, minus := strings.CutPrefix(written, "-")
	integer, fraction, _ := strings.Cut(written, ".")
	var b strings.Builder
	if minus && strings.Trim(written, "0.") != "" {
		b.WriteByte('-')
	}
	writeGrouped(&b, integer, group)
	if fraction != "" {
		b.WriteString(point + fraction)
	}
	return b.String(), nil
}

// writeGrouped writes digits with a mark between thousands.
func writeGrouped(b *strings.Builder, digits, mark string) {
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(mark)
		}
		b.WriteRune(digit)
	}
}

// formatDate writes a date by a pattern, in a time zone if one is given: Fn.formatDate(CurrentDate, "dd.MM.yyyy HH:mm", "Europe/Berlin").
func formatDate(args ...any) (any, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, fault.Invalid.Errorf("Fn.formatDate: requires a date, a pattern and perhaps a time zone")
	}
	t, err := timeOf(args[0])
	if err != nil {
		return nil, err
	}
	if len(args) == 3 {
		zone, err := time.LoadLocation(Text(args[2]))
		if name := Text(args[2]); err != nil || name == "" || name == "Local" {
			return nil, fault.Invalid.Errorf("Fn.formatDate: unknown time zone %q", name)
		}
		t = t.In(zone)
	}
	return Format(t, Text(args[1])), nil
}

// daysBetween counts the days from one date to another, in UTC: -1 from today to yesterday.
func daysBetween(args ...any) (any, error) {
	if len(args) != 2 {
		return nil, fault.Invalid.Errorf("Fn.daysBetween: requires two dates")
	}
	var days [2]int64
	for i := range days {
		t, err := timeOf(args[i])
		if err != nil {
			return nil, err
		}
		days[i] = t.UTC().Truncate(24*time.Hour).Unix() / 86400
	}
	return days[1] - days[0], nil
}

// timeOf is the instant of a date, a text or milliseconds since 1970.
func timeOf(v any) (time.Time, error) {
	d, err := date(v)
	if err != nil {
		return time.Time{}, err
	}
	return d.(map[string]any)[Handle].(time.Time), nil
}
