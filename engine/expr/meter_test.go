package expr

import (
	"errors"
	"strings"
	"testing"

	"catena/storage/fault"
)

var errSteps = errors.New("too many steps")

// limited is a meter that ends after so many steps.
func limited(most int) *Meter {
	steps := 0
	return NewMeter(func(size int) error {
		if steps += 1 + size>>6; steps > most {
			return errSteps
		}
		return nil
	})
}

// TestMeter runs programs that would take very long, or make very much: the meter ends them first.
func TestMeter(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	list := make([]any, 5000)
	for i := range list {
		list[i] = i
	}
	double := "let a1 = a + a; "
	nested := "let l0 = [1, 1]; "
	for i := '1'; i < '9'; i++ {
		double += "let a" + string(i+1) + " = a" + string(i) + " + a" + string(i) + "; "
		nested += "let l" + string(i) + " = [l" + string(i-1) + ", l" + string(i-1) + ", l" + string(i-1) + ", l" + string(i-1) + ", l" + string(i-1) + ", l" + string(i-1) + "]; "
	}
	for source, limit := range map[string]bool{
		double + "len(a9)":                                true,
		nested + "l8":                                     false,
		nested + "toJSON(l8)":                             false,
		nested + "len(flatten(l8))":                       false,
		nested + "l8 == [l7, l7, l7, l7, l7, l7]":         false,
		"repeat(a, 1000000)":                              true,
		"join(map(1..1000, a), a)":                        true,
		"replace(a, 'a', a)":                              true,
		"all(list, all(list, all(list, true)))":           false,
		"count(list, # in list) + count(list, # in list)": false,
		"len(uniq(list))":                                 false,
		"any(1..1000, a contains 'b')":                    false,
		"any(1..1000, a matches '(a?a?a?)*b')":            false,
		"any(1..1000, a matches ('(a?)*b' + '$'))":        false,
		"reduce(1..5000, [#acc])":                         true,
		"len(map(1..1000, upper(a)))":                     false,
		"len(map(1..1000, f(a)))":                         false,
		"sum(map(1..1000, sum(list)))":                    false,
		"len(map(1..1000, sort(list)))":                   false,
	} {
		p, err := Parse("expr:"+source, false)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		env := map[string]any{"a": long, "list": list, "f": func(args ...any) (any, error) { return args[0], nil }}
		_, err = p.Eval(env, limited(200_000))
		if !errors.Is(err, errSteps) && (!limit || !fault.Is(err, fault.Limit)) {
			t.Errorf("%s: ended with %v", source, err)
		}
	}
}

// TestMetered compares programs with what they mean.
func TestMetered(t *testing.T) {
	env := map[string]any{"a": "x", "n": 2, "list": []any{"b", "a", "b"}, "object": map[string]any{"k": "v"}}
	for source, want := range map[string]any{
		"a + 'y' + a": "xyx", "n + 1": int64(3), "n + n * 1.5": 5.0, "join(list, '-')": "b-a-b", "join(list)": "bab", "repeat(a, 3)": "xxx",
		"replace('aXbX', 'X', a)": "axbx", "replace('aXbX', 'X', '', 1)": "abX", "len(uniq(list))": int64(2), "a in list": false, "'b' in list": true, "'k' in object": true,
		"'ab' matches '^a'": true, "'ab' matches (a + '?ab')": true, "count(list, # == 'b')": int64(2), "join(sort(list), '')": "abb", "a == 'x' and a != 'y'": true,
		"list | filter(# != 'a') | len()": int64(2), "sum(1..3)": int64(6), "'abc' contains 'b'": true, "upper(a)": "X", "(a + a)[1:]": "x", "list[0] + object.k": "bv", "-n + +n": int64(0),
		"'it is ' + string(n)": "it is 2", "a < 'y'": true, "first(list)": "b", "nope?.x ?? a": "x", "none(list, # == 'c') ? 1 : 2": int64(1), "sum(list, len(#))": int64(3),
	} {
		p, err := Parse("expr:"+source, false)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := p.Eval(env, limited(10_000)); err != nil || got != want {
			t.Errorf("%s: got %v (%T), %v, want %v", source, got, got, err, want)
		}
	}
	for _, source := range []string{"'a' + 1", "n + 'a'", "join([1], ',')", "repeat(n, 2)", "replace(n, 'a', 'b')", "list matches 'a'", "uniq(n)"} {
		p, err := Parse("expr:"+source, false)
		if err == nil {
			_, err = p.Eval(env, limited(10_000))
		}
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", source, err)
		}
	}
	p, err := Parse("expr:all(list, a + # != '')", false)
	if err != nil || strings.Join(p.Names, " ") != "list a" {
		t.Errorf("reads %q, %v", p.Names, err)
	}
}
