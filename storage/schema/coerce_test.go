package schema

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
)

func TestCoerce(t *testing.T) {
	a := blob.FromBytes("a.txt", "text/plain", []byte("aa"))
	day := time.Date(2011, 10, 23, 0, 0, 0, 0, time.UTC)
	people := &Field{Name: "people", Key: "p:people", Kind: Complex, List: true, Fields: []*Field{
		{Name: "name", Key: "p:people/*/name"}, {Name: "age", Key: "p:people/*/age", Kind: Integer}, {Name: "tags", Key: "p:people/*/tags", List: true},
	}}
	text, texts := &Field{Key: "f"}, &Field{Key: "f", List: true}
	kind := func(k Kind) *Field { return &Field{Key: "f", Kind: k} }
	list := func(k Kind) *Field { return &Field{Key: "f", Kind: k, List: true} }
	for _, x := range []struct {
		f        *Field
		in, want any // want is a value, or the field of the error
		bad      bool
	}{
		{f: text, in: nil, want: nil},
		{f: text, in: "", want: ""},
		{f: text, in: "a\xff", want: "a\uFFFD"},
		{f: text, in: json.Number("1.50"), want: "1.50"},
		{f: text, in: 1.5, want: "1.5"},
		{f: text, in: true, want: "true"},
		{f: text, in: day, want: "2011-10-23T00:00:00.000Z"},
		{f: text, in: a, want: "aa"},
		{f: text, in: obj{"entity-type": "user", "id": "bob", "properties": obj{}}, want: "bob"},
		{f: text, in: obj{"entity-type": "directoryEntry", "id": "article"}, want: "article"},
		{f: text, in: obj{"entity-type": "document", "uid": "u1"}, want: "u1"},
		{f: text, in: obj{"entity-type": "group", "groupname": "g"}, want: "g"},
		{f: text, in: obj{"entity-type": "date", "id": "bob"}, want: "f", bad: true},
		{f: text, in: obj{"id": "bob"}, want: "f", bad: true},
		{f: text, in: []any{"a"}, want: "f", bad: true},
		{f: texts, in: `a, b\,c ,`, want: []any{"a", "b,c"}},
		{f: texts, in: `["a,b", 1]`, want: []any{"a,b", "1"}},
		{f: texts, in: `[a,b]`, want: []any{"[a", "b]"}},
		{f: texts, in: []string{"a"}, want: []any{"a"}},
		{f: texts, in: []any{"a", nil}, want: []any{"a"}},
		{f: texts, in: 7, want: []any{"7"}},
		{f: texts, in: [2]int{1, 2}, want: []any{"1", "2"}},
		{f: texts, in: []any{}, want: nil},
		{f: texts, in: "  ", want: nil},
		{f: texts, in: []any{obj{"entity-type": "user", "id": "bob"}}, want: []any{"bob"}},
		{f: texts, in: []any{obj{}}, want: "f", bad: true},
		{f: kind(Long), in: " 12 ", want: int64(12)},
		{f: kind(Long), in: "", want: nil},
		{f: kind(Long), in: json.Number("9007199254740993"), want: int64(9007199254740993)},
		{f: kind(Long), in: json.Number("1e3"), want: int64(1000)},
		{f: kind(Long), in: 3.0, want: int64(3)},
		{f: kind(Long), in: uint8(3), want: int64(3)},
		{f: kind(Long), in: 3.5, want: "f", bad: true},
		{f: kind(Long), in: math.Inf(1), want: "f", bad: true},
		{f: kind(Long), in: math.NaN(), want: "f", bad: true},
		{f: kind(Long), in: 9.3e18, want: "f", bad: true},
		{f: kind(Long), in: "1_000", want: "f", bad: true},
		{f: kind(Long), in: "0x10", want: "f", bad: true},
		{f: kind(Long), in: "twelve", want: "f", bad: true},
		{f: kind(Long), in: true, want: "f", bad: true},
		{f: kind(Long), in: uint64(math.MaxUint64), want: "f", bad: true},
		{f: kind(Integer), in: int64(math.MaxInt32), want: int64(math.MaxInt32)},
		{f: kind(Integer), in: int64(math.MaxInt32 + 1), want: "f", bad: true},
		{f: kind(Double), in: "1.5", want: 1.5},
		{f: kind(Double), in: json.Number("2"), want: 2.0},
		{f: kind(Double), in: 2, want: 2.0},
		{f: kind(Double), in: float32(0.5), want: 0.5},
		{f: kind(Double), in: "", want: nil},
		{f: kind(Double), in: "NaN", want: "f", bad: true},
		{f: kind(Double), in: "1e999", want: "f", bad: true},
		{f: kind(Double), in: obj{}, want: "f", bad: true},
		{f: list(Double), in: "1.5,2", want: []any{1.5, 2.0}},
		{f: kind(Boolean), in: "TRUE", want: true},
		{f: kind(Boolean), in: "false", want: false},
		{f: kind(Boolean), in: "", want: nil},
		{f: kind(Boolean), in: "yes", want: "f", bad: true},
		{f: kind(Boolean), in: 1, want: "f", bad: true},
		{f: kind(Date), in: "2011-10-23", want: day},
		{f: kind(Date), in: obj{"entity-type": "date", "value": "2011-10-23"}, want: day},
		{f: kind(Date), in: obj{"entity-type": "date", "value": obj{"entity-type": "date"}}, want: "f", bad: true},
		{f: kind(Date), in: day.UnixMilli(), want: day},
		{f: kind(Date), in: day.Add(999), want: day},
		{f: kind(Date), in: " ", want: nil},
		{f: kind(Date), in: "soon", want: "f", bad: true},
		{f: kind(Date), in: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), want: "f", bad: true},
		{f: kind(Blob), in: a, want: a},
		{f: kind(Blob), in: (*blob.Blob)(nil), want: nil},
		{f: kind(Blob), in: obj{"data": "aa", "name": "a.txt", "mime-type": "text/plain"}, want: a},
		{f: kind(Blob), in: obj{"data": "http://x/y"}, want: "f", bad: true},
		{f: kind(Blob), in: obj{"digest": a.Digest, "length": "2"}, want: "f", bad: true},
		{f: kind(Blob), in: "aa", want: "f", bad: true},
		{f: list(Blob), in: a, want: []any{a}},
		{f: people, in: `[{"name":"A","age":"3","tags":"x,y"}]`, want: []any{obj{"name": "A", "age": int64(3), "tags": []any{"x", "y"}}}},
		{f: people, in: `{"name":"A","age":null}`, want: []any{obj{"name": "A"}}},
		{f: people, in: obj{"name": "A"}, want: []any{obj{"name": "A"}}},
		{f: people, in: map[string]string{"age": "4"}, want: []any{obj{"age": int64(4)}}},
		{f: people, in: []map[string]any{{"name": "A"}, {}}, want: []any{obj{"name": "A"}, obj{}}},
		{f: people, in: []any{obj{}, obj{"age": "old"}}, want: "p:people/1/age", bad: true},
		{f: people, in: []any{obj{"nme": "A"}}, want: "p:people/0/nme", bad: true},
		{f: people, in: "A,B", want: "p:people", bad: true},
		{f: people, in: "12", want: "p:people", bad: true},
		{f: people, in: `[{}] x`, want: "p:people", bad: true},
		{f: people.Item(), in: `{"name":"A"}`, want: obj{"name": "A"}},
		{f: people.Item(), in: "", want: nil},
		{f: people.Item(), in: "null", want: nil},
		{f: people.Item(), in: "[]", want: "p:people", bad: true},
	} {
		got, err := x.f.Coerce(x.in)
		if x.bad {
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Invalid || e.Field != x.want {
				t.Errorf("%s %v: got %v, %#v", x.f.TypeName(), x.in, got, err)
			}
			continue
		}
		if b, ok := x.want.(*blob.Blob); ok && err == nil && Equal(b, got) {
			continue
		}
		if err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s %v: got %#v, %v, want %#v", x.f.TypeName(), x.in, got, err, x.want)
		}
	}
}

func TestCoerceNamesWhatItGot(t *testing.T) {
	title, _ := defaultsRegistry(t).FieldByKey("dc:title")
	_, err := title.Coerce(obj{})
	if want := "property dc:title: must be of type string, not an object"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	size, _ := defaultsRegistry(t).FieldByKey("common:size")
	_, err = size.Coerce("big")
	if want := `property common:size: must be of type long, not "big"`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestParseDate(t *testing.T) {
	for _, x := range []struct{ in, want string }{
		{"2024-05-02T10:15:30.000Z", "2024-05-02T10:15:30.000Z"},
		{"2011-10-23T12:00:00.00Z", "2011-10-23T12:00:00.000Z"},
		{"2024-05-02T10:15:30Z", "2024-05-02T10:15:30.000Z"},
		{"2024-05-02T10:15:30.123456789+02:00", "2024-05-02T08:15:30.123Z"},
		{"2024-05-02T10:15:30+0200", "2024-05-02T08:15:30.000Z"},
		{"2024-05-02T10:15-05", "2024-05-02T15:15:00.000Z"},
		{"2024-05-02 10:15:30", "2024-05-02T10:15:30.000Z"},
		{" 2024-05-02 ", "2024-05-02T00:00:00.000Z"},
		{"2024-05-02Z", "2024-05-02T00:00:00.000Z"},
		{"2024-05", "2024-05-01T00:00:00.000Z"},
		{"2024", "2024-01-01T00:00:00.000Z"},
		{"2024-02-29", "2024-02-29T00:00:00.000Z"},
		{"2026-11-23 16:11:65", "2026-11-23T16:12:05.000Z"},
		{"2024-12-31 23:59:60", "2025-01-01T00:00:00.000Z"},
	} {
		got, err := ParseDate(x.in)
		if text := strings.Trim(string(AppendTime(nil, got)), `"`); err != nil || text != x.want {
			t.Errorf("%s: got %s, %v", x.in, text, err)
		}
	}
	for _, bad := range []string{"", "tomorrow", "2023-02-29", "2024-13-01", "2024-05-02T25:00:00Z", "20240502", "2024-00-02 10:15:30", "2024-05-02 10:15:3x", "2024-05-02 10:1530:", "2024-05-02T10:15:30.000Zx", strings.Repeat("2", 1000)} {
		if got, err := ParseDate(bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: got %v, %v", bad, got, err)
		}
	}
}

func TestValidate(t *testing.T) {
	r, err := Load(layer("a.yaml", `
schemas:
  vs:
    fields:
      description: {type: string, required: true, maxLength: 5, pattern: "[a-z]*"}
      age: {type: long, min: 1, max: 9}
      colours: {type: "string[]", enum: [red, green], minLength: 4}
      parts:
        type: complex[]
        fields:
          ratio: {type: double, max: 0.5}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		key  string
		v    any
		want string
	}{
		{"vs:description", nil, "vs:description NotNullConstraint map[]"},
		{"vs:description", "", "vs:description NotNullConstraint map[]"},
		{"vs:description", "abcde", ""},
		{"vs:description", "éÀ Bcd", "vs:description LengthConstraint map[Maximum:5]; vs:description PatternConstraint map[Pattern:[a-z]*]"},
		{"vs:age", int64(9), ""},
		{"vs:age", int64(0), "vs:age NumericIntervalConstraint map[Maximum:9 MaximumInclusive:true Minimum:1 MinimumInclusive:true]"},
		{"vs:age", int64(10), "vs:age NumericIntervalConstraint map[Maximum:9 MaximumInclusive:true Minimum:1 MinimumInclusive:true]"},
		{"vs:colours", []any{"green", "red"}, "vs:colours/1 LengthConstraint map[Minimum:4]"},
		{"vs:colours", []any{"green", "blue"}, "vs:colours/1 EnumConstraint map[Values:red,green]"},
		{"vs:parts", []any{obj{"ratio": 0.5}, obj{}, obj{"ratio": 0.6}}, "vs:parts/2/ratio NumericIntervalConstraint map[Maximum:0.5 MaximumInclusive:true]"},
	} {
		f, _ := r.FieldByKey(x.key)
		var got []string
		for _, v := range f.Validate(x.v) {
			got = append(got, strings.TrimSpace(strings.Join([]string{v.Path, v.Constraint, sprint(v.Parameters)}, " ")))
			if !strings.HasPrefix(v.Message, "property "+v.Path+": ") {
				t.Errorf("message %q", v.Message)
			}
			if p := f.Describe()[v.Constraint]; f.Kind != Complex && sprint(p) != sprint(v.Parameters) {
				t.Errorf("described as %v", p)
			}
		}
		if strings.Join(got, "; ") != x.want {
			t.Errorf("%s %v: got %s, want %s", x.key, x.v, strings.Join(got, "; "), x.want)
		}
	}
}
