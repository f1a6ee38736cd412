package repository

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/engine/expr"
	"catena/storage/fault"
	"catena/storage/query"
)

// step is one group of a histogram: from belongs to it, to does not. Steps that no result falls into are
// not in the answer.
type step struct {
	key      string
	from, to any
}

func (s step) compare(other step) int { return order(s.from, other.from) }

func (y aggregate) checkStep() error {
	if y.Type == "date_histogram" {
		if !slices.Contains(query.Units, y.Step) {
			return fault.Invalid.Errorf("interval: %q: must be one of %s", y.Step, strings.Join(query.Units, ", "))
		}
		return nil
	}
	if n, err := strconv.ParseFloat(y.Step, 64); err != nil || n <= 0 || math.IsInf(n, 0) {
		return fault.Invalid.Errorf("interval: %q: must be a number greater than 0", y.Step)
	}
	return nil
}

// size is the step of numbers; declarations are checked.
func (y aggregate) size() float64 {
	n, _ := strconv.ParseFloat(y.Step, 64)
	return n
}

// stepOf is the group of a histogram that a value falls into; size is the step of numbers. A value of
// the wrong kind, a text in a histogram of numbers, falls into no group instead of failing the page.
func (y aggregate) stepOf(v any, size float64) (step, bool) {
	switch v := v.(type) {
	case time.Time:
		if y.Type != "date_histogram" {
			return step{}, false
		}
		from, to, layout := query.Calendar(v, y.Step)
		return step{from.Format(layout), from, to}, true
	case int64:
		return y.number(float64(v), size)
	case float64:
		return y.number(v, size)
	}
	return step{}, false
}

func (y aggregate) number(v, size float64) (step, bool) {
	if y.Type != "histogram" {
		return step{}, false
	}
	from := math.Floor(v/size) * size
	return step{strconv.FormatFloat(from, 'f', -1, 64), from, from + size}, true
}

// inStep is the condition of the group that the caller has chosen by its key. The key is all that a
// client sends back, so the bounds are computed from it again. Dates are in one of the layouts that
// keys are written in. A key that fits none finds nothing rather than everything.
func (y aggregate) inStep(key any, param string, named map[string]any) string {
	text, _ := key.(string)
	var (
		s  step
		ok bool
	)
	if n, err := strconv.ParseFloat(text, 64); err == nil && y.Type == "histogram" {
		s, ok = y.number(n, y.size())
	}
	for _, layout := range [...]string{"2006", "2006-01", time.DateOnly, "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil && y.Type == "date_histogram" {
			s, ok = y.stepOf(t, 0)
		}
	}
	if !ok {
		return "(" + y.Field + " IS NULL AND " + y.Field + " IS NOT NULL)" // there is no such group
	}
	named[param+"_from"], named[param+"_to"] = whole(s.from), whole(s.to)
	return "(" + y.Field + " >= :" + param + "_from AND " + y.Field + " < :" + param + "_to)"
}

// key is the group of terms or of a histogram that a value falls into, "" for none.
func (k *counter) key(v any) string {
	switch k.aggregate.Type {
	case "terms":
		return expr.Text(v)
	case "histogram", "date_histogram":
		if s, ok := k.aggregate.stepOf(v, k.size); ok {
			k.steps[s.key] = s
			return s.key
		}
	}
	return ""
}
