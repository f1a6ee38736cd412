package deck

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"catena/decks/field"
	"catena/storage/fault"
)

func TestSlugOf(t *testing.T) {
	tests := []struct{ title, want string }{
		{"", "deck"},
		{"   ", "deck"},
		{"!?", "deck"},
		{"Talk", "talk"},
		{"Two  Words", "two-words"},
		{" -- Two -- Words -- ", "two-words"},
		{"Ünder the Séa!", "under-the-sea"},
		{"It's Bob’s", "its-bobs"},
		{"C++ & Go/Rust", "c-go-rust"},
		{"2026", "2026"},
		{"日本語 入門", "日本語-入門"},
		{"Ελληνικά", "ελληνικα"},
		{"Straße", "straße"},
		{"한국어", "한국어"},
		{"😀", "deck"},
		{"a😀b", "a-b"},
		{"../../etc", "etc"},
		{"a\x00b\nc", "a-b-c"},
		{strings.Repeat("a", 80), strings.Repeat("a", 80)},
		{strings.Repeat("a", 81), strings.Repeat("a", 80)},
		{strings.Repeat("a", 79) + " b", strings.Repeat("a", 79)},
		{strings.Repeat("a", 79) + "é", strings.Repeat("a", 79) + "e"},
		{strings.Repeat("日", 27), strings.Repeat("日", 26)},             // 78 bytes
		{strings.Repeat("a", 78) + "日", strings.Repeat("a", 78)},       // would be 81
		{strings.Repeat("a", 77) + "각", strings.Repeat("a", 77) + "각"}, // whole, although its parts are longer
		{strings.Repeat("a", 78) + "각", strings.Repeat("a", 78)},       // or not at all
		{strings.Repeat("한", 30), strings.Repeat("한", 26)},
	}
	for _, test := range tests {
		if got := SlugOf(test.title); got != test.want {
			t.Errorf("%.40q: got %q, want %q", test.title, got, test.want)
		}
	}
}

func FuzzSlugOf(f *testing.F) {
	for _, title := range []string{"Talk", "Ünder", "각", "a-b", "İ", "ﬀ", "\xff"} {
		f.Add(title)
	}
	f.Fuzz(func(t *testing.T, title string) {
		slug := SlugOf(title)
		if slug == "" || len(slug) > maxSlug || !utf8.ValidString(slug) || strings.ContainsAny(slug, "/ \n?#%") || strings.HasPrefix(slug, "-") || strings.HasSuffix(slug, "-") {
			t.Errorf("%q: %q", title, slug)
		}
	})
}

func TestPaging(t *testing.T) {
	tests := []struct {
		page, perPage, offset int64
		fields                string // that are wrong
	}{
		{1, 20, 0, ""},
		{2, 20, 20, ""},
		{3, 1, 2, ""},
		{1, 100, 0, ""},
		{1 << 50, 100, (1<<50 - 1) * 100, ""},
		{math.MaxInt64, 100, (1<<50 - 1) * 100, ""},
		{0, 20, 0, "page"},
		{-1, 20, 0, "page"},
		{1, 0, 0, "per_page"},
		{1, 101, 0, "per_page"},
		{1, -5, 0, "per_page"},
		{0, 0, 0, "page per_page"},
		{math.MinInt64, math.MinInt64, 0, "page per_page"},
	}
	for _, test := range tests {
		p := Paging{Page: test.page, PerPage: test.perPage}
		if got := fieldsOf(p.Check(), fault.CodeOutOfRange); got != test.fields {
			t.Errorf("%+v: wrong fields %q, want %q", p, got, test.fields)
		}
		if test.fields == "" && p.Offset() != test.offset {
			t.Errorf("%+v: offset %d, want %d", p, p.Offset(), test.offset)
		}
		if out, err := p.Empty(nil); (err != nil) != (test.fields != "") || err == nil && fmt.Sprint(out["data"]) != "[]" {
			t.Errorf("%+v: empty page %v, %v", p, out, err)
		}
	}
}

// fieldsOf are the fields that errors name, all of them with a code.
func fieldsOf(err error, code fault.Code) string {
	var out []string
	var walk func(error)
	walk = func(err error) {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				walk(e)
			}
			return
		}
		if e := (*fault.Error)(nil); errors.As(err, &e) {
			if e.Kind != fault.Invalid || code != 0 && e.Code != code {
				out = append(out, fmt.Sprintf("%s(%s %s)", e.Field, e.Kind, e.Code))
				return
			}
			out = append(out, e.Field)
		}
	}
	if err != nil {
		walk(err)
	}
	return strings.Join(out, " ")
}

func TestReadInput(t *testing.T) {
	tests := []struct {
		params string
		code   fault.Code
		wrong  string
		in     string
	}{
		{`{}`, 0, "", `{}`},
		{`{"title": "A", "width": 960}`, 0, "", `{"title":"A","width":960}`},
		{`{"title": "A", "fields": {"title": "B"}}`, 0, "", `{"title":"B"}`}, // what is in the object counts
		{`{"title": null}`, 0, "", `{}`},
		{`{"fields": {"description": null}}`, 0, "", `{"description":""}`},
		{`{"fields": {"width": 960.0}}`, 0, "", `{"width":960}`},
		{`{"fields": {"width": 960.5}}`, fault.CodeInvalidType, "width", ""},
		{`{"fields": {"width": "960"}}`, fault.CodeInvalidType, "width", ""},
		{`{"fields": {"width": true}}`, fault.CodeInvalidType, "width", ""},
		{`{"fields": {"width": null}}`, fault.CodeInvalidType, "width", ""},
		{`{"fields": {"width": 1e300}}`, fault.CodeInvalidType, "width", ""},
		{`{"fields": {"title": 7}}`, fault.CodeInvalidType, "title", ""},
		{`{"fields": {"title": ""}}`, fault.CodeTooShort, "title", ""},
		{`{"fields": {"title": " "}}`, fault.CodeTooShort, "title", ""},
		{`{"fields": {"title": "a\nb"}}`, fault.CodeInvalidText, "title", ""},
		{`{"fields": {"nope": 1}}`, fault.CodeUnknownField, "nope", ""},
		{`{"fields": {"id": 1}}`, fault.CodeReadOnlyField, "id", ""},
		{`{"fields": {"created_at": "x"}}`, fault.CodeReadOnlyField, "created_at", ""},
		{`{"fields": {"visibility": "nobody"}}`, fault.CodeInvalidValue, "visibility", ""},
		{`{"fields": {"data": "<p>", "deck_html": "<p>"}}`, 0, "", `{"data":"\u003cp\u003e","deck_html":"\u003cp\u003e"}`},
		{`{"fields": {"data": "<p>", "deck_html": "<b>"}}`, fault.CodeConflictingFields, "data deck_html", ""},
	}
	for _, test := range tests {
		var params map[string]any
		if err := json.Unmarshal([]byte(test.params), &params); err != nil {
			t.Fatal(err)
		}
		in, err := ReadInput(params)
		if got := fieldsOf(err, test.code); got != test.wrong {
			t.Errorf("%s: wrong fields %q (%v), want %q", test.params, got, err, test.wrong)
		}
		if raw, _ := json.Marshal(in); test.wrong == "" && string(raw) != test.in {
			t.Errorf("%s: got %s, want %s", test.params, raw, test.in)
		}
	}
}

// TestBoundsOfFields sends each field a value at its bounds and one beyond.
func TestBoundsOfFields(t *testing.T) {
	for _, f := range field.Fields.Of(field.Direct) {
		check := func(v any, fine bool) {
			t.Helper()
			if err := bounds(f, v); (err == nil) != fine {
				t.Errorf("%s: %.40v: %v", f.Name, v, err)
			}
		}
		if f.Max != nil {
			check(int64(*f.Max), true)
			check(int64(*f.Max)+1, false)
			check(math.Inf(1), false)
			check(math.NaN(), false)
		}
		if f.Min != nil {
			check(int64(*f.Min), true)
			check(int64(*f.Min)-1, false)
		}
		if f.MaxLength > 0 && f.Values == nil && !f.Tag && !f.Origins {
			check(strings.Repeat("ü", f.MaxLength), true) // characters, not bytes
			check(strings.Repeat("ü", f.MaxLength+1), false)
		}
		for _, v := range f.Values {
			check(v, true)
			check(v+"x", f.Known(v+"x"))
		}
	}
}

func TestTags(t *testing.T) {
	tests := []struct {
		tags, tag string
		want      bool
	}{
		{`"1-a"`, `"1-a"`, true},
		{`W/"1-a"`, `"1-a"`, true},
		{`"1-b", "1-a"`, `"1-a"`, true},
		{` "1-b" ,W/"1-a" `, `"1-a"`, true},
		{`*`, `"1-a"`, true},
		{`"0-a", *`, `"1-a"`, true},
		{`"1-ah"`, `"1-a"`, false},
		{`1-a`, `"1-a"`, false},
		{`"11-a"`, `"1-a"`, false},
		{``, `"1-a"`, false},
		{`,`, `"1-a"`, false},
	}
	for _, test := range tests {
		if got := HasTag(test.tags, test.tag); got != test.want {
			t.Errorf("%s in %s: got %v", test.tag, test.tags, got)
		}
	}
}

func TestStamps(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_999_000, time.FixedZone("", 3600))
	if got, want := Stamp(at), "2026-01-02T02:04:05.678Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := StampOrNone(time.Time{}); got != nil {
		t.Errorf("no instant: got %v", got)
	}
	if got := StampOrNone(time.Unix(0, 0)); got != "1970-01-01T00:00:00.000Z" {
		t.Errorf("got %v", got)
	}
}

func TestUnknownField(t *testing.T) {
	tests := []struct{ name, want string }{
		{"x", `"x": is not a field of a deck`},
		{"", `"": is not a field of a deck`},
		{strings.Repeat("a", 101), `"` + strings.Repeat("a", 100) + `…": is not a field of a deck`},
		{strings.Repeat("a", 99) + "é", `"` + strings.Repeat("a", 99) + `…": is not a field of a deck`}, // not half a letter
	}
	for _, test := range tests {
		if got := UnknownField(test.name, "deck").Error(); got != test.want {
			t.Errorf("%q: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestHomeName: different users have different folders, whose names documents may have.
func TestHomeName(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ user, want string }{
		{"ada", "ada"},
		{"a/b", "a%2Fb"},
		{".", "%2E"},
		{"..", "%2E%2E"},
		{"é", "%C3%A9"},
		{strings.Repeat("é", 42), strings.Repeat("%C3%A9", 42)},
		{strings.Repeat("é", 43), strings.Repeat("%C3%A9", 37) + "~…"},
		{strings.Repeat("é", 127), strings.Repeat("%C3%A9", 37) + "~…"},
		{strings.Repeat("日", 85), strings.Repeat("%E6%97%A5", 24) + "%E6%97~…"},
		{strings.Repeat("日", 84) + "本", strings.Repeat("%E6%97%A5", 24) + "%E6%97~…"},
		{strings.Repeat("a", 255), strings.Repeat("a", 255)},
	} {
		got := homeName(c.user)
		want, cut := strings.CutSuffix(c.want, "…")
		if cut && (!strings.HasPrefix(got, want) || len(got) != maxHomeName) || !cut && got != want || len(got) > maxHomeName {
			t.Errorf("%q: %d bytes, %q", c.user, len(got), got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q have one folder", c.user, other)
		}
		seen[got] = c.user
	}
}
