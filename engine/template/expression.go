package template

import (
	"errors"
	"math"
)

// missing is the error of a value that is not there.
type missing struct {
	at   pos
	what string
}

func (m *missing) Error() string { return m.what + " is missing" }

// eval evaluates an expression, which is a step.
func (r *run) eval(x expression) (any, error) {
	if err := r.step(x.position(), 0); err != nil {
		return nil, err
	}
	return x.eval(r)
}

// need evaluates what has to be there.
func (r *run) need(x expression) (any, error) {
	v, err := r.eval(x)
	if err == nil && v == nil {
		err = &missing{x.position(), nameOf(x)}
	}
	return v, err
}

// nameOf is how errors call an expression: as the template spells it, if that is short enough to be useful.
func nameOf(x expression) string {
	switch x := x.(type) {
	case *variable:
		return x.name
	case *member:
		return x.text
	case *call:
		return x.text
	case *enclosed:
		return nameOf(x.x)
	case *built:
		return nameOf(x.of) + "?" + x.name
	}
	return "the value"
}

type (
	constant struct {
		at pos
		v  any
	}
	variable struct {
		at   pos
		name string
	}
	member struct {
		at   pos
		of   expression
		key  expression
		text string
	}
	call struct {
		at   pos
		f    expression
		args []expression
		text string
	}
	lambda struct {
		at   pos
		name string
		body expression
	}
	built struct {
		at   pos
		name string
		of   expression
		args []expression
		do   builtin
	}
	defined struct {
		at pos
		x  expression
	}
	fallback struct {
		at     pos
		of, or expression // or: nil for nothing
	}
	enclosed struct {
		at pos
		x  expression
	}
	unary struct {
		at pos
		op string
		x  expression
	}
	binary struct {
		at          pos
		op          string
		left, right expression
	}
	interval struct {
		at       pos
		from, to expression // to: nil for no end
		op       string
	}
	listed struct {
		at    pos
		items []expression
	}
	hashed struct {
		at           pos
		keys, values []expression
	}
	joined struct {
		at    pos
		parts []expression
	}
)

func (x *constant) position() pos { return x.at }
func (x *variable) position() pos { return x.at }
func (x *member) position() pos   { return x.of.position() }
func (x *call) position() pos     { return x.at }
func (x *lambda) position() pos   { return x.at }
func (x *built) position() pos    { return x.at }
func (x *defined) position() pos  { return x.at }
func (x *fallback) position() pos { return x.at }
func (x *enclosed) position() pos { return x.at }
func (x *unary) position() pos    { return x.at }
func (x *binary) position() pos   { return x.at }
func (x *interval) position() pos { return x.at }
func (x *listed) position() pos   { return x.at }
func (x *hashed) position() pos   { return x.at }
func (x *joined) position() pos   { return x.at }

func (x *constant) eval(*run) (any, error) { return x.v, nil }

func (x *variable) eval(r *run) (any, error) { return r.lookup(x.at, x.name) }

func (x *enclosed) eval(r *run) (any, error) { return r.eval(x.x) }

// Built-ins that take a function look at the argument itself and never evaluate it.
func (x *lambda) eval(*run) (any, error) {
	return nil, x.at.fail("a function with -> is not allowed here")
}

// optional evaluates what may be missing; in parentheses, also any part of it may.
func (r *run) optional(x expression) (any, error) {
	v, err := r.eval(x)
	// FreeMarker's rule: a.b! permits b to be missing, (a.b)! also a.
	if _, whole := x.(*enclosed); whole {
		var m *missing
		if errors.As(err, &m) {
			return nil, nil
		}
	}
	return v, err
}

func (x *defined) eval(r *run) (any, error) {
	v, err := r.optional(x.x)
	return v != nil, err
}

func (x *fallback) eval(r *run) (any, error) {
	v, err := r.optional(x.of)
	switch {
	case err != nil || v != nil:
		return v, err
	case x.or == nil:
		// x! without a default is an empty text, an empty list and an empty hash at the same time, whatever
		// is done with it.
		return nothing{}, nil
	}
	return r.eval(x.or)
}

func (x *member) eval(r *run) (any, error) {
	// date?string["yyyy"] looks like a member and is a format.
	if b, ok := x.of.(*built); ok && b.name == "string" && len(b.args) == 0 {
		format, err := r.textOf(x.key)
		if err != nil {
			return nil, err
		}
		return b.formatted(r, format)
	}
	of, err := r.need(x.of)
	if err != nil {
		return nil, err
	}
	if part, ok := x.key.(*interval); ok {
		return r.part(x.at, of, part)
	}
	key, err := r.need(x.key)
	if err != nil {
		return nil, err
	}
	switch k := key.(type) {
	case string:
		return r.field(x, of, k)
	case int64, float64:
		i, ok := whole(k)
		if !ok {
			return nil, x.at.fail("%v is not an integer", k)
		}
		return r.item(x.at, of, i)
	}
	return nil, x.at.fail("expected a name or a number in the brackets, not %s", what(key))
}

// field is what a name stands for in a value.
func (r *run) field(x *member, of any, name string) (any, error) {
	switch of := of.(type) {
	case nothing:
		return nil, nil
	// A key that is not there gives nil, which is an error only where the value is needed.
	case *hash:
		return of.values[name], nil
	case view:
		return of.get(name), nil
	}
	return nil, x.at.fail("%s is %s, which has no %s", nameOf(x.of), what(of), name)
}

// item is one of a list, or a character of a text.
func (r *run) item(at pos, of any, i int) (any, error) {
	switch of := of.(type) {
	case nothing:
		return nil, nil
	case []any:
		// Outside of the list there is no value, which a default can replace.
		if i < 0 || i >= len(of) {
			return nil, nil
		}
		return normal(of[i]), nil
	case string:
		if err := r.step(at, len(of)); err != nil {
			return nil, err
		}
		// Positions in texts count characters, not bytes.
		if c := []rune(of); i >= 0 && i < len(c) {
			return string(c[i]), nil
		}
		return nil, nil
	}
	return nil, at.fail("expected a list before the bracket, not %s", what(of))
}

// bounds says where a range begins, how many it has, -1 if it has no end, and whether it goes down.
func (x *interval) bounds(r *run) (from, n int, down bool, err error) {
	if from, err = r.whole(x.from); err != nil || x.to == nil {
		return from, -1, false, err
	}
	to, err := r.whole(x.to)
	if err != nil {
		return 0, 0, false, err
	}
	switch x.op {
	// The number behind ..* is a length: it may exceed the list, and a negative one goes down.
	case "..*":
		n, down = to, to < 0
	case "..<":
		n, down = to-from, to < from
	default:
		n, down = to-from, to < from
		if down {
			return from, from - to + 1, true, nil
		}
		n++
	}
	return from, max(n, -n), down, nil
}

func (r *run) whole(x expression) (int, error) {
	v, err := r.need(x)
	if err != nil {
		return 0, err
	}
	i, ok := whole(v)
	if !ok {
		return 0, x.position().fail("expected an integer, not %s", what(v))
	}
	return i, nil
}

// whole is a number as an integer if it is one of at most 32 bits. The bound keeps products of sizes, such as
// a length times itemSize, from overflowing.
func whole(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(v), math.MinInt32 <= v && v <= math.MaxInt32
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) <= math.MaxInt32
	}
	return 0, false
}

// eval makes the list of a range; one that has no end cannot be made.
func (x *interval) eval(r *run) (any, error) {
	from, n, down, err := x.bounds(r)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, x.at.fail("a range without an end is only allowed for slices of texts and lists")
	}
	// Counted before the list is made: 0..1000000000 must not allocate anything.
	if err := r.made(x.at, n*itemSize); err != nil {
		return nil, err
	}
	by := int64(1)
	if down {
		by = -1
	}
	out := make([]any, n)
	for i := range out {
		out[i] = int64(from) + int64(i)*by
	}
	return out, nil
}

// part is a part of a text or a list.
func (r *run) part(at pos, of any, x *interval) (any, error) {
	from, n, down, err := x.bounds(r)
	if err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case []any:
		if down && n > 0 {
			return r.backwards(at, of, from, n, x.op)
		}
		if n, err = within(at, from, n, len(of), x.op); err != nil {
			return nil, err
		}
		// The capacity is cut as well, so that nothing appended to the part could overwrite the list.
		return of[from : from+n : from+n], nil
	case string:
		if down && n > 1 {
			return nil, at.fail("a slice of a text cannot go backwards")
		}
		if err := r.step(at, len(of)); err != nil {
			return nil, err
		}
		chars := []rune(of)
		if n, err = within(at, from, n, len(chars), x.op); err != nil {
			return nil, err
		}
		return string(chars[from : from+n]), nil
	}
	return nil, at.fail("expected a text or a list before the bracket, not %s", what(of))
}

// backwards are n items of a list from a place down. As for parts that go up, only ..* may ask for more than there are.
func (r *run) backwards(at pos, of []any, from, n int, op string) (any, error) {
	if op == "..*" {
		n = min(n, from+1)
	}
	if from < 0 || from >= len(of) || n > from+1 {
		return nil, at.fail("a slice from %d is outside a length of %d", from, len(of))
	}
	if err := r.made(at, n*itemSize); err != nil {
		return nil, err
	}
	out := make([]any, n)
	for i := range out {
		out[i] = of[from-i]
	}
	return out, nil
}

// within is how many of size a part from a place on has. A negative n means up to the end; only ..* may ask
// for more than there is.
func within(at pos, from, n, size int, op string) (int, error) {
	if n < 0 || op == "..*" && from+n > size {
		n = size - from
	}
	if from < 0 || n < 0 || from+n > size {
		return 0, at.fail("a slice from %d is outside a length of %d", from, size)
	}
	return n, nil
}

func (x *listed) eval(r *run) (any, error) {
	out := make([]any, len(x.items))
	for i, item := range x.items {
		var err error
		if out[i], err = r.need(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (x *hashed) eval(r *run) (any, error) {
	h := newHash()
	for i := range x.keys {
		key, err := r.need(x.keys[i])
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, x.keys[i].position().fail("expected a text as the key, not %s", what(key))
		}
		v, err := r.need(x.values[i])
		if err != nil {
			return nil, err
		}
		if err := r.step(x.at, entrySize); err != nil {
			return nil, err
		}
		h.set(name, v)
	}
	return h, nil
}

func (x *joined) eval(r *run) (any, error) {
	var out []byte
	for _, part := range x.parts {
		v, err := r.need(part)
		if err != nil {
			return nil, err
		}
		s, err := r.text(part.position(), v)
		if err != nil {
			return nil, err
		}
		out = append(out, s...)
		if err := r.grown(x.at, len(out), len(s)); err != nil {
			return nil, err
		}
	}
	return string(out), nil
}

func (x *built) eval(r *run) (any, error) {
	if x.do.absent != nil {
		v, err := r.optional(x.of)
		if err != nil {
			return nil, err
		}
		return x.do.absent(r, x, v)
	}
	v, err := r.need(x.of)
	if err != nil {
		return nil, err
	}
	return x.do.f(r, x, v)
}
