// Package limit describes limits. A package that bounds something has a struct named Limits, whose fields are ints, byte
// counts or durations; their tags hold the name of the setting, the default and what the limit is for. The command line,
// the configuration file, the environment and the manual derive from these tags.
//
//	type Limits struct {
//		Size int           `setting:"limit-style" unit:"bytes" default:"64 KiB" doc:"Size of a style sheet"`
//		Time time.Duration `setting:"download-time" default:"24h" doc:"Time that a link works"`
//	}
//
// Optional tags: max is the largest value permitted, and unlimited:"true" permits negative values, which mean no limit.
// A field that is a struct holds the limits of another package.
package limit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Limit is one limit, which can be read and set as text.
type Limit struct {
	Name    string // of the setting
	Doc     string
	Default string // as declared, which may depend on the machine: "2 per processor"

	max       string
	unlimited bool
	unit      string
	field     reflect.Value
}

// The units that limits are counted in.
const (
	Bytes    = "bytes"
	Duration = "duration"
	Number   = "number"
)

// All lists the limits of a pointer to a struct of limits, in the order of its fields.
func All(limits any) []*Limit { return appendLimits(nil, reflect.ValueOf(limits).Elem()) }

func appendLimits(all []*Limit, v reflect.Value) []*Limit {
	for i := range v.NumField() {
		f, tag := v.Field(i), v.Type().Field(i).Tag
		if f.Kind() == reflect.Struct {
			all = appendLimits(all, f)
			continue
		}
		all = append(all, &Limit{
			Name: tag.Get("setting"), Doc: tag.Get("doc"), Default: tag.Get("default"),
			max: tag.Get("max"), unlimited: tag.Get("unlimited") == "true", unit: unitOf(f, tag.Get("unit")), field: f,
		})
	}
	return all
}

// Positive is a limit outside of a struct of limits, at a pointer to an int, int64 or time.Duration.
func Positive(at any) *Limit {
	f := reflect.ValueOf(at).Elem()
	return &Limit{unit: unitOf(f, ""), field: f}
}

func unitOf(f reflect.Value, unit string) string {
	switch {
	case unit != "":
		return unit
	case f.Type() == reflect.TypeFor[time.Duration]():
		return Duration
	}
	return Number
}

// Defaults returns a struct of limits in which every limit has its default.
func Defaults[T any]() T {
	var t T
	Fill(&t)
	return t
}

// Fill sets the limits that are zero, or negative without permission, to their defaults, and lowers what exceeds its
// maximum. A declaration that cannot be read panics: every server reads all of them when it starts.
func Fill(limits any) {
	for _, l := range All(limits) {
		if n := l.field.Int(); n > 0 || n < 0 && l.unlimited {
			if l.max != "" {
				l.field.SetInt(min(n, l.must(l.max)))
			}
			continue
		}
		l.field.SetInt(l.must(l.Default))
	}
}

func (l *Limit) must(text string) int64 {
	n, err := l.parse(text)
	if err != nil {
		panic(fmt.Sprintf("limit %s: %q: %v", l.Name, text, err))
	}
	return n
}

// Set parses a value.
func (l *Limit) Set(text string) error {
	n, err := l.parse(text)
	switch {
	case err != nil:
		return errors.New("must be " + forms[l.unit])
	case n == 0, n < 0 && !l.unlimited:
		return errors.New("must be greater than 0")
	case l.max != "" && n > l.must(l.max):
		return errors.New("must be at most " + l.max)
	}
	l.field.SetInt(n)
	return nil
}

// forms say what values of each unit look like.
var forms = map[string]string{Bytes: "a size such as 10 MiB", Duration: "a duration such as 30s or 2h", Number: "an integer"}

func (l *Limit) parse(text string) (int64, error) {
	switch l.unit {
	case Bytes:
		n, err := humanize.ParseBytes(text)
		if n > math.MaxInt64 {
			err = strconv.ErrRange
		}
		return int64(n), err
	case Duration:
		d, err := time.ParseDuration(text)
		return int64(d), err
	}
	each, perProcessor := strings.CutSuffix(text, " per processor")
	n, err := strconv.ParseInt(each, 10, strconv.IntSize)
	if perProcessor {
		n *= int64(Processors)
	}
	return n, err
}

// String is the value, in the largest unit that represents it exactly.
func (l *Limit) String() string {
	if l.field.Kind() == reflect.Invalid {
		return ""
	}
	n := l.field.Int()
	switch l.unit {
	case Bytes:
		return exactly(n)
	case Duration:
		return shortly(time.Duration(n))
	}
	return strconv.FormatInt(n, 10)
}

// Type is the unit.
func (l *Limit) Type() string { return l.unit }

func exactly(n int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if shift := 40 - 10*i; n > 0 && n%(1<<shift) == 0 {
			return strconv.FormatInt(n>>shift, 10) + " " + unit
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}

// shortly is a duration without the units that are 0: 24h, not 24h0m0s.
func shortly(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Set holds structs of limits of several packages, by type.
type Set struct{ all map[reflect.Type]any }

// With returns the set with more structs of limits. What is zero in them takes its default.
func (s Set) With(limits ...any) Set {
	out := Set{maps.Clone(s.all)}
	if out.all == nil {
		out.all = map[reflect.Type]any{}
	}
	for _, l := range limits {
		filled := reflect.New(reflect.TypeOf(l))
		filled.Elem().Set(reflect.ValueOf(l))
		Fill(filled.Interface())
		out.all[reflect.TypeOf(l)] = filled.Elem().Interface()
	}
	return out
}

// Of returns the limits of one type, the defaults if the set does not have them.
func Of[T any](s Set) T {
	if t, ok := s.all[reflect.TypeFor[T]()].(T); ok {
		return t
	}
	return Defaults[T]()
}
