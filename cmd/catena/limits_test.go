package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// numbers are the values in a structure of limits, by where they are.
func numbers(v reflect.Value, at string, into map[string]int64) {
	for i := range v.NumField() {
		name := at + "." + v.Type().Field(i).Name
		if f := v.Field(i); f.Kind() == reflect.Struct {
			numbers(f, name, into)
		} else {
			into[name] = f.Int()
		}
	}
}

// TestLimits: every field of every struct of limits is one setting, with a default and a description, which changes
// that field alone.
func TestLimits(t *testing.T) {
	l := limits{}
	all := l.all()
	values := func() map[string]int64 {
		out := map[string]int64{}
		numbers(reflect.ValueOf(&l).Elem(), "limits", out)
		return out
	}
	if first := values(); len(first) != len(all) {
		t.Errorf("%d fields, %d settings", len(first), len(all))
	}
	for _, x := range all {
		before := values()
		text := map[string]string{"bytes": "7KiB", "duration": "7ms", "number": "3"}[x.Type()]
		if err := x.Set(text); err != nil || x.Name == "" || x.Doc == "" || x.Default == "" {
			t.Errorf("%+v: %v", x, err)
		}
		changed := 0
		for name, v := range values() {
			if v != before[name] {
				changed++
			}
		}
		if changed != 1 || !settings().has(x.Name) {
			t.Errorf("%s: changes %d fields, or cannot be set by a file", x.Name, changed)
		}
	}
}

// TestServeHelp: the help of serve shows at most 40 flags, by topic; those that it does not show are accepted.
func TestServeHelp(t *testing.T) {
	code, help, errs := line(t, "serve", "--help")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, topic := range topics {
		if !strings.Contains(help, "\n"+topic.title+":\n") {
			t.Errorf("%s: not in the help", topic.title)
		}
	}
	flags := 0
	for l := range strings.Lines(help) {
		if strings.HasPrefix(strings.TrimSpace(l), "--") {
			flags++
		}
	}
	if flags < 30 || flags > 40 {
		t.Errorf("%d flags in the help", flags)
	}
	for _, want := range []string{"--addr ", "--config ", `"catena config print" lists them`} {
		if !strings.Contains(help, want) {
			t.Errorf("no %s in %s", want, help)
		}
	}
	if strings.Contains(help, "--limit-") || strings.Contains(help, "--drive-tests") {
		t.Error("rarely changed settings are in the help")
	}
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	(&serve{}).flags(f)
	if err := f.Parse([]string{"--limit-stall-time", "10s", "--script-time=2s", "--drive-tests"}); err != nil {
		t.Errorf("flags that are not shown: %v", err)
	}
	for _, command := range []string{"config print", "config check", "doctor"} {
		if _, help, _ := line(t, append(strings.Fields(command), "--help")...); strings.Contains(help, "--addr") || !strings.Contains(help, "flags of catena serve") {
			t.Errorf("%s: %s", command, help)
		}
	}
}

// TestSettingSources gives a limit by file, environment and command line, each of which overrides the one before.
func TestSettingSources(t *testing.T) {
	file := inFile(t, "c.yaml", "limit-stall-time: 10s\n")
	shown := func(args ...string) string {
		_, out, errs := line(t, append([]string{"config", "print"}, args...)...)
		for l := range strings.Lines(out) {
			if strings.HasPrefix(l, "limit-stall-time:") {
				return strings.TrimSpace(l)
			}
		}
		return errs
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	expect(shown(), "limit-stall-time: 30s # duration, default")
	expect(shown("--config", file), "limit-stall-time: 10s # duration, default 30s, from "+file+":1")
	t.Setenv("CATENA_LIMIT_STALL_TIME", "11s")
	expect(shown("--config", file), "limit-stall-time: 11s # duration, default 30s, from CATENA_LIMIT_STALL_TIME")
	expect(shown("--config", file, "--limit-stall-time", "12s"), "limit-stall-time: 12s # duration, default 30s, from flag")
	var buf bytes.Buffer
	if code := run(t.Context(), []string{"config", "print", "--limit-stall-time", "0s"}, nil, &buf, &buf); code != 2 || !strings.Contains(buf.String(), "must be greater than 0") {
		t.Errorf("%d %s", code, &buf)
	}
}
