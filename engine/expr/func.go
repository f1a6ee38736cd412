package expr

import (
	"fmt"
	"html"
	"maps"
	"math"
	"strings"
	"time"

	"catena/engine/jsonpath"
	"catena/storage/fault"
)

// Func is a function of the environment.
type Func = func(args ...any) (any, error)

// Fn are the helpers that need nothing but their arguments.
func Fn() map[string]any {
	fn := forms()
	maps.Copy(fn, map[string]any{
		"date":                       date,
		"calendar":                   date,
		"escapeHtml":                 text("escapeHtml", html.EscapeString),
		"htmlEscape":                 text("htmlEscape", html.EscapeString),
		"nxqlEscape":                 text("nxqlEscape", queryEscape),
		"concatenateIntoList":        concatenateIntoList,
		"concatenateValuesAsNewList": concatenateIntoList,
		"jsonPath":                   jsonPath,
	})
	return fn
}

func text(name string, f func(string) string) Func {
	return func(args ...any) (any, error) {
		if len(args) != 1 {
			return nil, fault.Invalid.Errorf("Fn.%s: requires one argument", name)
		}
		return f(Text(args[0])), nil
	}
}

// queryEscape makes text safe between the quotes of a query.
func queryEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`, `"`, `\"`).Replace(s)
}

// A number is milliseconds since 1970, as scripts and the platform count; text without a zone is
// UTC.
func date(args ...any) (any, error) {
	if len(args) != 1 {
		return nil, fault.Invalid.Errorf("Fn.date: requires one argument")
	}
	switch v := args[0].(type) {
	case time.Time:
		return Date(v), nil
	case int, int64, float64:
		n, err := whole(v)
		if err != nil {
			return nil, err
		}
		return dated(time.UnixMilli(n))
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02"} {
			if t, err := time.Parse(layout, v); err == nil {
				return dated(t)
			}
		}
	case map[string]any:
		if t, ok := v[Handle].(time.Time); ok {
			return Date(t), nil
		}
	}
	return nil, fault.Invalid.Errorf("Fn.date: %s is not a date", Text(args[0]))
}

// jsonPath returns the list of all parts of a value that a query selects. Handles are no parts: what is selected from is what
// Data.Read and Http.Request return.
func jsonPath(args ...any) (any, error) {
	if len(args) != 2 {
		return nil, fault.Invalid.Errorf("Fn.jsonPath: requires a value and a query")
	}
	q, err := jsonpath.Parse(Text(args[1]))
	if err != nil {
		return nil, fault.Wrap(err, "Fn.jsonPath")
	}
	out, err := q.Select(args[0], func() error { return nil })
	if err != nil {
		return nil, fault.Wrap(err, "Fn.jsonPath")
	}
	return append([]any{}, out...), nil
}

// concatenateIntoList appends the values, or the values of lists, to its first argument.
func concatenateIntoList(args ...any) (any, error) {
	out := []any{}
	for _, arg := range args {
		out = appendFlat(out, arg)
	}
	return out, nil
}

func appendFlat(out []any, v any) []any {
	switch v := v.(type) {
	case nil:
		return out
	case []any:
		return append(out, v...)
	case []string:
		for _, s := range v {
			out = append(out, s)
		}
		return out
	}
	return append(out, v)
}

// Date is the plain view of an instant: its parts, shifts and forms.
// Months count from 0 and hours go to 11, as in the java.util.Calendar that chains of the platform
// were written for. A shift returns a further view and never changes this one.
func Date(t time.Time) map[string]any {
	t = t.UTC()
	_, week := t.ISOWeek()
	shift := func(f func(n int) time.Time) Func {
		return func(args ...any) (any, error) {
			if len(args) != 1 {
				return nil, fault.Invalid.Errorf("date: requires one argument")
			}
			n, err := whole(args[0])
			if err != nil {
				return nil, err
			}
			if n < -maxShift || n > maxShift {
				return nil, fault.Invalid.Errorf("date: %d is outside ±%d", n, int64(maxShift)).WithCode(fault.CodeOutOfRange)
			}
			return dated(f(int(n)))
		}
	}
	// Seconds and not a time.Duration, which holds 292 years only.
	after := func(seconds int64) Func {
		return shift(func(n int) time.Time { return time.Unix(t.Unix()+int64(n)*seconds, int64(t.Nanosecond())) })
	}
	return map[string]any{
		Handle:  t,
		"years": shift(func(n int) time.Time { return t.AddDate(n, 0, 0) }), "months": shift(func(n int) time.Time { return t.AddDate(0, n, 0) }),
		"weeks": shift(func(n int) time.Time { return t.AddDate(0, 0, 7*n) }), "days": shift(func(n int) time.Time { return t.AddDate(0, 0, n) }),
		"hours": after(3600), "minutes": after(60), "seconds": after(1),
		"year": t.Year(), "month": int(t.Month()) - 1, "day": t.Day(), "hour": t.Hour() % 12,
		"minute": t.Minute(), "second": t.Second(), "week": week, "time": t.UnixMilli(),
		"date": t, "calendar": t,
		"format": func(args ...any) (any, error) {
			if len(args) != 1 {
				return nil, fault.Invalid.Errorf("date.format: requires one argument")
			}
			return Format(t, Text(args[0])), nil
		},
		"toString": func(...any) (any, error) {
			// A date in a template is most often part of a query, so its text is a literal of that
			// language.
			return fmt.Sprintf("TIMESTAMP '%s'", t.Format("2006-01-02 15:04:05.000")), nil
		},
	}
}

// maxShift bounds by how much a date is shifted at once, in any unit: as many seconds as 20,000 years have.
const maxShift = 631_152_000_000

// dated is the view of an instant that was computed. Years have four digits everywhere else.
func dated(t time.Time) (any, error) {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return nil, fault.Invalid.Errorf("date: the year is outside 0 to 9999").WithCode(fault.CodeOutOfRange)
	}
	return Date(t), nil
}

// whole is a number without its fraction.
func whole(v any) (int64, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case float64:
		if math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
	}
	return 0, fault.Invalid.Errorf("date: must be a number, not %s", Text(v))
}

// Format writes a date by a pattern of letters: yyyy-MM-dd'T'HH:mm:ss.SSSZ. Letters that stand for nothing stay.
// A quote that is not closed takes
// the rest of the pattern. Templates refuse letters without a meaning first, by FormatKnown.
func Format(t time.Time, pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		c := pattern[i]
		if c == '\'' {
			end := strings.IndexByte(pattern[i+1:], '\'')
			switch {
			case end == 0:
				b.WriteByte('\'')
				i += 2
			case end < 0:
				b.WriteString(pattern[i+1:])
				i = len(pattern)
			default:
				b.WriteString(pattern[i+1 : i+1+end])
				i += end + 2
			}
			continue
		}
		n := 1
		for i+n < len(pattern) && pattern[i+n] == c {
			n++
		}
		b.WriteString(letters(t, c, n, pattern[i:i+n]))
		i += n
	}
	return b.String()
}

// FormatKnown reports whether each letter of a pattern stands for something.
func FormatKnown(pattern string) bool {
	quoted := false
	for _, c := range pattern {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case 'a' <= c|0x20 && c|0x20 <= 'z' && !strings.ContainsRune("yMdHhmsSEaDZXz", c):
			return false
		}
	}
	return pattern != "" && !quoted
}

// letters formats n times the letter c of a date pattern, as SimpleDateFormat of Java does; same is what they stand for if
// the letter has no meaning.
func letters(t time.Time, c byte, n int, same string) string {
	switch c {
	case 'y':
		if n == 2 {
			return t.Format("06")
		}
	case 'M':
		if n > 2 {
			return t.Format(word(n, "Jan", "January"))
		}
	case 'E':
		return t.Format(word(n, "Mon", "Monday"))
	case 'a':
		return t.Format("PM")
	case 'Z':
		return t.Format("-0700")
	case 'X':
		return t.Format("Z07")
	case 'z':
		return t.Format("MST")
	}
	number := numbers[c]
	if number == nil {
		return same
	}
	return fmt.Sprintf("%0*d", n, number(t))
}

// word is the layout of a name: four letters or more of a pattern spell it out.
func word(n int, short, long string) string {
	if n >= 4 {
		return long
	}
	return short
}

// numbers are the letters of a date pattern that stand for a number, which is padded with zeros.
var numbers = map[byte]func(time.Time) int{
	'D': time.Time.YearDay,
	'H': time.Time.Hour,
	'M': func(t time.Time) int { return int(t.Month()) },
	'S': func(t time.Time) int { return t.Nanosecond() / 1e6 },
	'd': time.Time.Day,
	'h': func(t time.Time) int { return (t.Hour()+11)%12 + 1 },
	'm': time.Time.Minute,
	's': time.Time.Second,
	'y': time.Time.Year,
}
