package query

import (
	"strconv"
	"strings"
	"time"
)

// Period is a span of calendar and clock time.
type Period struct {
	Years, Months, Days    int
	Hours, Minutes, Millis int64
}

// maxPeriod bounds each part, so that sums of dates stay in range.
// 100 million years are 3.2e18 milliseconds; an int64 holds 9.2e18.
const maxPeriod = 100_000_000

// ParsePeriod reads an ISO 8601 period: "P1Y2M3W4DT5H6M7.5S", with a sign in front or at
// each number.
func ParsePeriod(s string) (Period, bool) {
	s, minus := strings.CutPrefix(strings.TrimPrefix(s, "+"), "-")
	s, ok := strings.CutPrefix(s, "P")
	var p Period
	clock, parts := false, 0
	for s != "" && ok {
		if s[0] == 'T' && !clock {
			clock, s = true, s[1:]
			continue
		}
		i := strings.IndexAny(s, "YMWDHST")
		if i <= 0 {
			return Period{}, false
		}
		ok = p.set(s[:i], s[i], clock)
		s, parts = s[i+1:], parts+1
	}
	if minus {
		p = p.negate()
	}
	return p, ok && parts > 0
}

// set takes one number with its unit; clock says that it follows the T, so that M are minutes rather than months.
func (p *Period) set(number string, unit byte, clock bool) bool {
	if unit == 'S' && clock {
		x, err := strconv.ParseFloat(number, 64)
		p.Millis = int64(x * 1000)
		return err == nil && x <= maxPeriod && x >= -maxPeriod
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > maxPeriod || n < -maxPeriod {
		return false
	}
	if clock {
		return p.setTime(n, unit)
	}
	switch unit {
	case 'Y':
		p.Years = int(n)
	case 'M':
		p.Months = int(n)
	case 'W':
		p.Days += int(n) * 7
	case 'D':
		p.Days += int(n)
	default:
		return false
	}
	return true
}

func (p *Period) setTime(n int64, unit byte) bool {
	switch unit {
	case 'H':
		p.Hours = n
	case 'M':
		p.Minutes = n
	default:
		return false
	}
	return true
}

func (p Period) negate() Period {
	return Period{-p.Years, -p.Months, -p.Days, -p.Hours, -p.Minutes, -p.Millis}
}

// String writes the period so that ParsePeriod reads it back.
func (p Period) String() string {
	if p == (Period{}) {
		return "P0D"
	}
	b := []byte{'P'}
	part := func(n int64, unit byte) {
		if n != 0 {
			b = append(strconv.AppendInt(b, n, 10), unit)
		}
	}
	part(int64(p.Years), 'Y')
	part(int64(p.Months), 'M')
	part(int64(p.Days), 'D')
	if p.Hours != 0 || p.Minutes != 0 || p.Millis != 0 {
		b = append(b, 'T')
		part(p.Hours, 'H')
		part(p.Minutes, 'M')
		if p.Millis != 0 {
			b = append(strconv.AppendFloat(b, float64(p.Millis)/1000, 'f', -1, 64), 'S')
		}
	}
	return string(b)
}

// After returns the instant the period after t.
// The calendar part comes first, as the end of a month depends on it; the clock part is a fixed
// time.
func (p Period) After(t time.Time) time.Time {
	seconds := p.Hours*3600 + p.Minutes*60
	t = t.AddDate(p.Years, p.Months, p.Days)
	return time.UnixMilli(t.UnixMilli() + seconds*1000 + p.Millis).UTC()
}
