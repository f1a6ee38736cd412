package schema

import (
	"strconv"
	"strings"
	"time"

	"catena/storage/fault"
)

// layouts are the dates clients send, after the time zone is cut off. Fractions of a
// second are read wherever seconds are.
var layouts = []string{
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02",
	"2006-01",
	"2006",
}

// zones are the ways to write one.
var zones = []string{"", "Z07:00", "Z0700", "Z07"}

// ParseDate reads an ISO 8601 date liberally: with any fraction of a second or none, with
// offset or without (UTC), the day alone, the month or the year alone, or the literal of a query. The result is in
// UTC, cut to milliseconds.
func ParseDate(s string) (time.Time, error) {
	text := strings.TrimSpace(s)
	// The form that this server writes is by far the most frequent, and read without trying
	// layouts.
	if t, ok := parseStamp([]byte(text)); ok {
		return t, nil
	}
	if literal, ok := strings.CutPrefix(text, "TIMESTAMP '"); ok { // as expressions write a date, for queries
		text = strings.TrimSuffix(literal, "'")
	}
	iso := text
	if len(iso) > 10 && (iso[10] == ' ' || iso[10] == 't') {
		iso = iso[:10] + "T" + strings.TrimSpace(iso[11:])
	}
	iso = strings.TrimSuffix(iso, "[UTC]")
	// No date is longer; 20 attempts at a long text would only cost time.
	if len(iso) <= 40 {
		for _, layout := range layouts {
			for _, zone := range zones {
				if zone != "" && len(layout) < len("2006-01-02") {
					continue
				}
				if t, err := time.Parse(layout+zone, iso); err == nil {
					return t.UTC().Truncate(time.Millisecond), nil
				}
			}
		}
	}
	if t, ok := lenient(text); ok {
		return t, nil
	}
	return time.Time{}, fault.Invalid.Errorf("date %q: must be ISO 8601", clip(text))
}

// lenient reads the form of SQL, "2026-11-23 16:11:65", as the platform does: what is too large is carried over.
func lenient(text string) (time.Time, bool) {
	if len(text) != len(time.DateTime) || text[10] != ' ' {
		return time.Time{}, false
	}
	var n [6]int
	for i, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '-' || r == ' ' || r == ':' }) {
		if i == len(n) || len(part) != 2 && i > 0 {
			return time.Time{}, false
		}
		var err error
		if n[i], err = strconv.Atoi(part); err != nil {
			return time.Time{}, false
		}
	}
	if n[0] == 0 || n[1] == 0 || n[2] == 0 {
		return time.Time{}, false
	}
	return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC), true
}
