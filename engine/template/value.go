package template

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/engine/expr"
	"catena/storage/fault"
)

// Values are nil, string, bool, int64, float64, moment, []any, *hash, view, function, *macro, markup and nothing.

// nothing is the default where none is given (x!): an empty text, list and hash at once, since what it will
// be used for is not known yet.
type nothing struct{}

// opaque is a value that templates can do nothing with.
type opaque struct{}

// markup is text that is already safe for the output format: what ?no_esc returns, and what <#assign>
// captures where values are escaped. Interpolations write it as it is, and + refuses it, because a sum of
// escaped and plain text would be neither.
type markup string

// function is one that is given with the variables. It is the only way from a template to Go code.
type function expr.Func

// moment is a date, a time or both.
type moment struct {
	t    time.Time
	kind string // date, time or datetime
}

// clipped is the part of a moment that counts beside one of another kind: of a time the time of day, of two dates the days.
// ?date and ?time only mark a moment, which ?string and ?long show as a whole.
func (m moment) clipped(beside string) time.Time {
	t := m.t.UTC()
	switch {
	case m.kind == "time":
		return time.Date(1970, 1, 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	case m.kind == "date" && beside == "date":
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	return t
}

// normal is a value that was given as templates know it. Maps become views and are not copied. Anything else
// is opaque: a template may hold it, but neither show it nor look into it.
func normal(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int64, float64, []any:
		return v
	case moment, *hash, view, function, *macro, markup, nothing, opaque: // an item of a list made here
		return v
	case int:
		return int64(v)
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	case []int:
		out := make([]any, len(v))
		for i, n := range v {
			out[i] = int64(n)
		}
		return out
	case time.Time:
		return moment{v.UTC(), "datetime"}
	case map[string]any:
		if t, ok := v[expr.Handle].(time.Time); ok {
			return moment{t.UTC(), "datetime"}
		}
		return view(v)
	case expr.Func:
		return function(v)
	}
	return opaque{}
}

// normal is normal where it may make a list.
func (r *run) normal(at pos, v any) (any, error) {
	size := 0
	switch v := v.(type) {
	case []string:
		size = len(v)
	case []int:
		size = len(v)
	}
	if size > 0 {
		if err := r.step(at, size*itemSize); err != nil {
			return nil, err
		}
	}
	return normal(v), nil
}

// what names the kind of a value.
func what(v any) string {
	switch v := v.(type) {
	case nil:
		return "missing"
	case string, markup, nothing:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case moment:
		return "a " + v.kind
	case []any:
		return "a list"
	case *hash, view:
		return "a hash"
	case function:
		return "a function"
	case *macro:
		return "a macro"
	}
	return "not a template value"
}

// text is a value as an interpolation shows it. A boolean has no text unless <#setting boolean_format> gives
// it one: FreeMarker's rule, which finds conditions that were meant to be tested. A document shows as its
// identifier, or as its own toString says.
func (r *run) text(at pos, v any) (string, error) {
	switch v := v.(type) {
	case nothing:
		return "", nil
	case string:
		return v, nil
	case markup:
		return string(v), nil
	case int64, float64:
		return r.numberText(at, v)
	case moment:
		return r.momentText(at, v, "")
	case bool:
		if yes, no, ok := strings.Cut(r.boolean, ","); ok && v {
			return yes, nil
		} else if ok {
			return no, nil
		}
		return "", at.fail("true or false is not a text: write ?c or ?string(\"yes\", \"no\")")
	case view:
		if f, ok := v["toString"].(expr.Func); ok {
			s, err := f()
			return expr.Text(s), err
		}
		if d, ok := v[expr.Handle].(interface{ ID() string }); ok {
			return d.ID(), nil
		}
	}
	return "", at.fail("%s is not a text", what(v))
}

// textOf evaluates what has to be text, or can be.
func (r *run) textOf(x expression) (string, error) {
	v, err := r.need(x)
	if err != nil {
		return "", err
	}
	return r.text(x.position(), v)
}

func (r *run) truth(x expression) (bool, error) {
	v, err := r.need(x)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, x.position().fail("must be true or false, not %s", what(normal(v)))
	}
	return b, nil
}

// float is a number as float64; integers beyond 2^53 lose digits, so arithmetic prefers int64 where both
// sides are.
func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func (x *unary) eval(r *run) (any, error) {
	if x.op == "!" {
		b, err := r.truth(x.x)
		return !b, err
	}
	v, err := r.need(x.x)
	if err != nil {
		return nil, err
	}
	if _, ok := float(v); !ok {
		return nil, x.at.fail("expected a number after %s, not %s", x.op, what(v))
	}
	if x.op == "-" {
		return arithmetic(x.at, "-", int64(0), v)
	}
	return v, nil
}

// eval evaluates the right side of && and || only if the left one does not decide.
func (x *binary) eval(r *run) (any, error) {
	if x.op == "&&" || x.op == "||" {
		b, err := r.truth(x.left)
		if err != nil || b == (x.op == "||") {
			return b, err
		}
		return r.truth(x.right)
	}
	left, err := r.need(x.left)
	if err != nil {
		return nil, err
	}
	right, err := r.need(x.right)
	if err != nil {
		return nil, err
	}
	switch x.op {
	case "==", "=", "!=":
		same, err := r.equal(x.at, left, right)
		return same == (x.op != "!="), err
	case "<", "<=", ">", ">=":
		c, err := compare(x.at, left, right)
		return map[string]bool{"<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[x.op], err
	case "+":
		return r.plus(x.at, left, right)
	}
	return arithmetic(x.at, x.op, left, right)
}

// plus adds numbers, joins lists and hashes, and otherwise texts.
func (r *run) plus(at pos, left, right any) (any, error) {
	if _, ok := float(left); ok {
		if _, ok := float(right); ok {
			return arithmetic(at, "+", left, right)
		}
	}
	if a, ok := left.([]any); ok {
		b, ok := items(right)
		if !ok {
			return nil, at.fail("a list cannot be joined with %s", what(right))
		}
		if err := r.made(at, (len(a)+len(b))*itemSize); err != nil {
			return nil, err
		}
		return slices.Concat(a, b), nil
	}
	if isHash(left) {
		return r.joinHashes(at, left, right)
	}
	for _, v := range []any{left, right} {
		if _, safe := v.(markup); safe {
			return nil, at.fail("escaped text cannot be joined with +: write one after the other")
		}
	}
	a, err := r.text(at, left)
	if err != nil {
		return nil, err
	}
	b, err := r.text(at, right)
	if err != nil {
		return nil, err
	}
	if err := r.made(at, len(a)+len(b)); err != nil {
		return nil, err
	}
	return a + b, nil
}

// joinHashes has the entries of both; the right one wins where they have the same key.
func (r *run) joinHashes(at pos, left, right any) (any, error) {
	if !isHash(right) {
		return nil, at.fail("a hash cannot be joined with %s", what(right))
	}
	a, err := r.keys(at, left)
	if err != nil {
		return nil, err
	}
	b, err := r.keys(at, right)
	if err != nil {
		return nil, err
	}
	if err := r.grown(at, (len(a)+len(b))*itemSize, (len(a)+len(b))*entrySize); err != nil {
		return nil, err
	}
	h := newHash()
	for _, k := range a {
		h.set(k, valueOf(left, k))
	}
	for _, k := range b {
		h.set(k, valueOf(right, k))
	}
	return h, nil
}

// items are those of a list.
func items(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case nothing:
		return nil, true
	}
	return nil, false
}

// arithmetic computes with numbers only. An infinite result or NaN is an error and never a value, so that no
// other code has to expect one.
func arithmetic(at pos, op string, left, right any) (any, error) {
	a, ok := float(left)
	b, ok2 := float(right)
	if !ok || !ok2 {
		if ok {
			left = right
		}
		return nil, at.fail("expected numbers around %s, not %s", op, what(left))
	}
	if (op == "/" || op == "%") && b == 0 {
		return nil, at.fail("division by zero")
	}
	var f float64
	switch op {
	case "+":
		f = a + b
	case "-":
		f = a - b
	case "*":
		f = a * b
	case "/":
		f = a / b
	default:
		f = math.Mod(math.Trunc(a), math.Trunc(b))
		if math.IsNaN(f) {
			return nil, at.fail("division by zero")
		}
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, at.fail("the number is too large")
	}
	return number(f, left, right, op), nil
}

// number is a whole number as such, exactly if both sides are and the result is not too large. Results that
// are not integers are rounded to 15 significant digits, which is what float64 represents exactly in decimal.
func number(f float64, left, right any, op string) any {
	a, whole1 := left.(int64)
	b, whole2 := right.(int64)
	const most = 1 << 62
	if whole1 && whole2 && math.Abs(f) < most {
		switch op {
		case "+":
			return a + b
		case "-":
			return a - b
		case "*":
			return a * b
		case "%":
			return a % b
		case "/":
			if a%b == 0 {
				return a / b
			}
		}
	}
	// Decimal fractions are meant: 0.1 + 0.2 is 0.3.
	short, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	if err == nil {
		f = short
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}

// compare orders numbers, and moments: a time has no place among dates. Texts have no order here, as in FreeMarker, where < of texts is an
// error; sorting has one of its own (sortOrder).
func compare(at pos, left, right any) (int, error) {
	if a, ok := left.(int64); ok {
		if b, ok := right.(int64); ok {
			return cmp.Compare(a, b), nil
		}
	}
	if a, ok := float(left); ok {
		if b, ok := float(right); ok {
			return cmp.Compare(a, b), nil
		}
	}
	if a, ok := left.(moment); ok {
		if b, ok := right.(moment); ok && (a.kind == "time") == (b.kind == "time") {
			return a.clipped(b.kind).Compare(b.clipped(a.kind)), nil
		}
	}
	return 0, at.fail("%s and %s cannot be ordered", what(left), what(right))
}

// equal compares values of the same kind. Comparing values of different kinds is an error instead of false,
// as in FreeMarker: such a condition is always a mistake.
func (r *run) equal(at pos, left, right any) (bool, error) {
	if _, ok := left.(nothing); ok {
		left = ""
	}
	if _, ok := right.(nothing); ok {
		right = ""
	}
	switch a := left.(type) {
	case string:
		if b, ok := right.(string); ok {
			return a == b, r.step(at, min(len(a), len(b)))
		}
	case bool:
		if b, ok := right.(bool); ok {
			return a == b, nil
		}
	case int64, float64, moment:
		c, err := compare(at, left, right)
		if err == nil {
			return c == 0, nil
		}
	}
	return false, at.fail("%s and %s cannot be compared", what(left), what(right))
}

func perhaps[V any](name string, known map[string]V) string {
	return fault.Perhaps(name, func(yield func(string) bool) {
		for k := range known {
			if !yield(k) {
				return
			}
		}
	})
}
