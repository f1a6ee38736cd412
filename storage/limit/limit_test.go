package limit

import (
	"strings"
	"testing"
	"time"
)

type inner struct {
	Steps int `setting:"limit-steps" default:"2 per processor" doc:"Steps"`
}

type sample struct {
	Files int           `setting:"limit-files" default:"500" doc:"Files"`
	Size  int64         `setting:"limit-size" unit:"bytes" default:"64 MiB" doc:"Size"`
	Time  time.Duration `setting:"time" default:"10s" max:"10s" doc:"Time"`
	Rate  int           `setting:"rate" default:"120" unlimited:"true" doc:"Rate"`
	Inner inner
}

func TestFill(t *testing.T) {
	defaults := sample{500, 64 << 20, 10 * time.Second, 120, inner{2 * Processors}}
	if got := Defaults[sample](); got != defaults {
		t.Errorf("defaults: %+v", got)
	}
	got := sample{Files: -1, Size: 3, Time: time.Minute, Rate: -7, Inner: inner{9}}
	Fill(&got)
	if want := (sample{500, 3, 10 * time.Second, -7, inner{9}}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestValues(t *testing.T) {
	l := Defaults[sample]()
	byName := map[string]*Limit{}
	for _, x := range All(&l) {
		byName[x.Name] = x
	}
	for _, c := range []struct{ name, text, want, err string }{
		{"limit-files", "7", "7", ""},
		{"limit-files", "0", "", "must be greater than 0"},
		{"limit-files", "-1", "", "must be greater than 0"},
		{"limit-files", "99999999999999999999", "", "must be an integer"},
		{"limit-files", "x", "", "must be an integer"},
		{"limit-size", "5MB", "5000000 B", ""},
		{"limit-size", "20 MiB", "20 MiB", ""},
		{"limit-size", "17179869184GiB", "", "must be a size such as 10 MiB"},
		{"limit-size", "five", "", "must be a size such as 10 MiB"},
		{"time", "90ms", "90ms", ""},
		{"time", "11s", "", "must be at most 10s"},
		{"time", "1", "", "must be a duration such as 30s or 2h"},
		{"rate", "-1", "-1", ""},
		{"rate", "0", "", "must be greater than 0"},
		{"limit-steps", "3", "3", ""},
		{"limit-steps", "1 per processor", "", ""},
	} {
		err := byName[c.name].Set(c.text)
		if got := errorText(err); got != c.err {
			t.Errorf("%s=%s: %q, want %q", c.name, c.text, got, c.err)
		}
		if got := byName[c.name].String(); c.want != "" && got != c.want {
			t.Errorf("%s=%s: %s, want %s", c.name, c.text, got, c.want)
		}
	}
	if l.Time != 90*time.Millisecond || l.Size != 20<<20 {
		t.Errorf("not written to the struct: %+v", l)
	}
}

func TestDurations(t *testing.T) {
	for _, text := range []string{"24h", "1h30m", "1m", "30s", "1h0m5s", "1.5s", "10m", "20h"} {
		var d time.Duration
		p := Positive(&d)
		if err := p.Set(text); err != nil || p.String() != text {
			t.Errorf("%s: %s, %v", text, p, err)
		}
	}
}

func TestOf(t *testing.T) {
	none := Set{}
	set := none.With(sample{Files: 3}, inner{4})
	if got := Of[sample](set); got.Files != 3 || got.Size != 64<<20 {
		t.Errorf("%+v", got)
	}
	if got := Of[inner](set); got.Steps != 4 {
		t.Errorf("%+v", got)
	}
	if got := Of[sample](none); got.Files != 500 {
		t.Errorf("%+v", got)
	}
}

func TestBadDeclaration(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, `limit a: "many"`) {
			t.Errorf("panic %q", text)
		}
	}()
	Defaults[struct {
		A int `setting:"a" default:"many"`
	}]()
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
