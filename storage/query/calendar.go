package query

import "time"

// Units are the steps that Calendar divides time into.
var Units = []string{"minute", "hour", "day", "week", "month", "quarter", "year"}

// Calendar returns the minute, hour and so on of UTC that a time is in: from belongs to it, to does not. Weeks begin on
// Monday, as in ISO 8601. Layout is how the step is written.
func Calendar(t time.Time, unit string) (from, to time.Time, layout string) {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch unit {
	case "minute":
		from = t.Truncate(time.Minute)
		return from, from.Add(time.Minute), "2006-01-02T15:04"
	case "hour":
		from = t.Truncate(time.Hour)
		return from, from.Add(time.Hour), "2006-01-02T15:04"
	case "week":
		from = day.AddDate(0, 0, -(int(t.Weekday())+6)%7)
		return from, from.AddDate(0, 0, 7), time.DateOnly
	case "month":
		from = day.AddDate(0, 0, 1-t.Day())
		return from, from.AddDate(0, 1, 0), "2006-01"
	case "quarter":
		from = time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(0, 3, 0), "2006-01"
	case "year":
		from = time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(1, 0, 0), "2006"
	}
	return day, day.AddDate(0, 0, 1), time.DateOnly
}
