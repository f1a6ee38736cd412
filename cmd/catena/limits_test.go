package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// fieldsOf are the bounds in a structure of limits, by where they are.
func fieldsOf(v reflect.Value, at string, into map[string]int64) {
	for i := range v.NumField() {
		name := at + "." + v.Type().Field(i).Name
		if f := v.Field(i); f.Kind() == reflect.Struct {
			fieldsOf(f, name, into)
		} else {
			into[name] = f.Int()
		}
	}
}

func boundsOf(l *limits) map[string]int64 {
	out := map[string]int64{}
	fieldsOf(reflect.ValueOf(l).Elem(), "limits", out)
	return out
}

// TestLimits: every bound has a flag of its own, which the help tells of with its default, and nothing that is no bound
// is taken for one.
func TestLimits(t *testing.T) {
	var help, errs bytes.Buffer
	if code := run(t.Context(), []string{"serve", "--help"}, nil, &help, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	l := limits{}
	f := pflag.NewFlagSet("limits", pflag.ContinueOnError)
	l.flags(f)
	first := boundsOf(&l)
	for name, v := range first {
		if v <= 0 {
			t.Errorf("%s: has no default", name)
		}
	}
	set := map[string]string{}
	f.VisitAll(func(flag *pflag.Flag) {
		before := boundsOf(&l)
		text := map[string]string{"bytes": "7KiB", "duration": "7ms"}[flag.Value.Type()]
		if text == "" {
			text = "7"
		}
		if err := f.Set(flag.Name, text); err != nil {
			t.Errorf("%s: %v", flag.Name, err)
		}
		for name, v := range boundsOf(&l) {
			if v != before[name] {
				set[name] = flag.Name
			}
		}
		if !strings.Contains(help.String(), "--"+flag.Name+" ") || !settings.has(flag.Name) {
			t.Errorf("%s: is not in the help, or cannot be set by a file", flag.Name)
		}
		for _, bad := range []string{"0", "-1", "0s", "x", "", "99999999999999999999"} {
			if err := f.Set(flag.Name, bad); err == nil && strings.HasPrefix(flag.Name, "limit-") {
				t.Errorf("%s: took %q", flag.Name, bad)
			}
		}
	})
	for name := range first {
		if set[name] == "" {
			t.Errorf("%s: has no flag", name)
		}
	}
}
