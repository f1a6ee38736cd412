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
