//go:build !race

package expr

import (
	"errors"
	"strings"
	"testing"

	"catena/storage/fault"
)

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
