package schema

import (
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
// offset or without (UTC), the day alone, the month or the year alone. The result is in
// UTC, cut to milliseconds.
func ParseDate(s string) (time.Time, error) {
	text := strings.TrimSpace(s)
	if t, ok := parseStamp([]byte(text)); ok {
		return t, nil
	}
	iso := text
	if len(iso) > 10 && (iso[10] == ' ' || iso[10] == 't') {
		iso = iso[:10] + "T" + strings.TrimSpace(iso[11:])
	}
	iso = strings.TrimSuffix(iso, "[UTC]")
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
	return time.Time{}, fault.Invalid.Errorf("date %q: must be ISO 8601", clip(text))
}
