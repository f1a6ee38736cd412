package engine

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

// refused stands for a value that cannot be converted.
type refused struct{}

var day = time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC)

// conversion is a value, the kind that it is converted to, and what it becomes.
type conversion struct {
	v    any
	to   kind
	want any
}

var scalars = []conversion{
	{nil, kInt, nil},
	{Value{V: "1", Word: "string"}, kInt, 1},
	{json.RawMessage(`"7"`), kInt, 7},
	{json.RawMessage(`{`), kInt, refused{}},
	{map[string]any{"entity-type": "number", "value": int64(3)}, kString, "3"},
	{map[string]any{"entity-type": "string"}, kString, refused{}},
	{map[string]any{"entity-type": "document", "value": "a"}, kString, refused{}},
	{"", kString, ""},
	{true, kString, "true"},
	{7, kString, "7"},
	{int64(math.MinInt64), kString, "-9223372036854775808"},
	{1e21, kString, "1000000000000000000000"},
	{day, kString, "2024-05-02T00:00:00.000Z"},
	{storage.Ref("/a"), kString, "/a"},
	{[]any{"a"}, kString, refused{}},
	{map[string]any{}, kString, refused{}},
	{[]string{"a"}, kString, refused{}},
	{"true", kBool, true},
	{" FALSE ", kBool, false},
	{"True", kBool, true},
	{"1", kBool, refused{}},
	{"yes", kBool, refused{}},
	{"", kBool, refused{}},
	{1, kBool, refused{}},
	{0.0, kBool, refused{}},
	{"7", kInt, 7},
	{" -7\n", kInt, -7},
	{"+7", kInt, 7},
	{"07", kInt, 7},
	{"7.0", kInt, refused{}},
	{"1e3", kInt, refused{}},
	{"0x10", kInt, refused{}},
	{"1_000", kInt, refused{}},
	{"٧", kInt, refused{}},
	{"", kInt, refused{}},
	{true, kInt, refused{}},
	{int64(7), kInt, 7},
	{7.0, kInt, 7},
	{7.5, kInt, refused{}},
	{math.NaN(), kInt, refused{}},
	{math.Inf(1), kInt, refused{}},
	{math.Copysign(0, -1), kInt, 0},
	{"9223372036854775807", kLong, int64(math.MaxInt64)},
	{"9223372036854775808", kLong, refused{}},
	{"-9223372036854775808", kLong, int64(math.MinInt64)},
	{4611686018427387904.0, kLong, refused{}},
	{4611686018427387392.0, kLong, int64(4611686018427387392)},
	{7, kLong, int64(7)},
	{"1.5", kFloat, 1.5},
	{"1e3", kFloat, 1000.0},
	{" -.5 ", kFloat, -0.5},
	{"NaN", kFloat, refused{}},
	{"Inf", kFloat, refused{}},
	{"-infinity", kFloat, refused{}},
	{"1e400", kFloat, refused{}},
	{"1,5", kFloat, refused{}},
	{7, kFloat, 7.0},
	{int64(7), kFloat, 7.0},
	{true, kFloat, refused{}},
	{"2024-05-02", kDate, day},
	{" 2024-05-02T00:00:00Z ", kDate, day},
	{"2024-05-02T02:00:00.000+02:00", kDate, day},
	{"", kDate, time.Time{}},
	{"  ", kDate, time.Time{}},
	{"2024-02-30", kDate, refused{}},
	{"today", kDate, refused{}},
	{"9999-12-31T23:59:59-01:00", kDate, refused{}},
	{int(day.UnixMilli()), kDate, day},
	{day.UnixMilli(), kDate, day},
	{float64(day.UnixMilli()), kDate, day},
	{1.5, kDate, refused{}},
	{true, kDate, refused{}},
	{int64(math.MaxInt64), kDate, refused{}},
	{int64(-1e15), kDate, refused{}},
	{int64(253402300799999), kDate, time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)},
	{int64(253402300800000), kDate, refused{}},
}

func TestConvertScalars(t *testing.T) {
	for _, c := range scalars {
		checkConvert(t, c.v, c.to, c.want)
	}
}

func checkConvert(t *testing.T, v any, to kind, want any) {
	t.Helper()
	got, err := (&Ctx{}).convert(v, to)
	if want == any(refused{}) {
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%#v to %s: %#v, %v", v, words[to], got, err)
		}
		return
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v to %s: %#v, %v, want %#v", v, words[to], got, err, want)
	}
}

// file is one that conversions are given.
var file = blob.FromBytes("a", "text/plain", []byte("x"))

var collections = []conversion{
	{"a, b ,c", kStrings, []string{"a", "b", "c"}},
	{7, kStrings, []string{"7"}},
	{[]any{"a", 1, true, 1.5}, kStrings, []string{"a", "1", "true", "1.5"}},
	{[]any{}, kStrings, []string{}},
	{[]any{"a", nil}, kStrings, refused{}},
	{[]any{[]any{"a"}}, kStrings, refused{}},
	{storage.Refs{"/a", "/b"}, kStrings, []string{"/a", "/b"}},
	{map[string]any{}, kStrings, refused{}},
	{"[1, \"a\"]", kList, []any{int64(1), "a"}},
	{" [] ", kList, []any{}},
	{"[", kList, refused{}},
	{"a,b", kList, []any{"a", "b"}},
	{7, kList, []any{7}},
	{[]string{"a"}, kList, []any{"a"}},
	{storage.Refs{"/a"}, kList, []any{storage.Ref("/a")}},
	{storage.Blobs{file}, kList, []any{file}},
	{map[string]any{"a": 1}, kList, refused{}},
	{storage.Props{}, kList, refused{}},
	{true, kList, []any{true}},
	{&storage.Page{}, kList, []any{}},
	{`{"a": 1}`, kMap, map[string]any{"a": int64(1)}},
	{`{"a": 1, "a": 2}`, kMap, refused{}},
	{`{"a": 1} x`, kMap, refused{}},
	{storage.Props{"a": 1}, kMap, map[string]any{"a": 1}},
	{[]any{}, kMap, refused{}},
	{7, kMap, refused{}},
	{"{}", kMap, map[string]any{}},
	{file, kBlobs, storage.Blobs{file}},
	{storage.Blobs{file}, kBlob, file},
	{storage.Blobs{file, file}, kBlob, refused{}},
	{storage.Blobs{}, kBlob, refused{}},
	{[]any{file, file}, kBlobs, storage.Blobs{file, file}},
	{[]any{file, "x"}, kBlobs, refused{}},
	{[]any{}, kBlobs, storage.Blobs{}},
	{[]any{file}, kBlob, refused{}},
	{"text", kBlob, refused{}},
	{7, kBlob, refused{}},
	{[]any{nil}, kBlobs, refused{}},
	{map[string]any{"data": "http://example.org/"}, kBlob, refused{}},
	{map[string]any{"data": 7}, kBlob, refused{}},
	{map[string]any{}, kBlob, refused{}},
	{map[string]any{"a": []any{"b"}}, kRaw, json.RawMessage(`{"a":["b"]}`)},
	{"a\u2028<", kRaw, json.RawMessage(`"a\u2028\u003c"`)},
	{math.Inf(1), kAny, math.Inf(1)},
	{7, kVoid, 7},
}

func TestConvertCollections(t *testing.T) {
	for _, c := range collections {
		checkConvert(t, c.v, c.to, c.want)
	}
	for to, want := range map[kind]int{kBlob: 1, kBlobs: 1} {
		got, err := (&Ctx{}).convert(map[string]any{"data": "hällo", "name": "n.txt", "mime-type": "text/plain"}, to)
		if list, ok := got.(storage.Blobs); ok && len(list) == want {
			got = list[0]
		}
		if b, ok := got.(*storage.Blob); err != nil || !ok || b.Name != "n.txt" || b.Size != 6 {
			t.Errorf("described to %s: %v, %v", words[to], got, err)
		}
	}
}

// TestConvertBack: what is written as text, or as JSON, is read as the same value.
func TestConvertBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		for to, v := range map[kind]any{
			kLong: int64(rnd.Uint64()) >> rnd.IntN(64), kFloat: math.Ldexp(rnd.Float64()-0.5, rnd.IntN(2000)-1000), kBool: rnd.IntN(2) == 0,
			kDate:   time.UnixMilli(rnd.Int64N(253402300800000*2) - 253402300800000/8).UTC(),
			kString: strings.Map(func(r rune) rune { return r ^ rune(rnd.IntN(2)) }, "a,b {\"c\"} [1] \U0001F600\u202e"),
		} {
			if at, ok := v.(time.Time); ok && !inYears(at) {
				continue
			}
			text, err := (&Ctx{}).convert(v, kString)
			back, err2 := (&Ctx{}).convert(text, to)
			if err != nil || err2 != nil || !reflect.DeepEqual(back, v) {
				t.Fatalf("%v: %q, back %v, %v, %v", v, text, back, err, err2)
			}
			raw, err := (&Ctx{}).convert(v, kRaw)
			back, err2 = (&Ctx{}).convert(raw, to)
			if err != nil || err2 != nil || !reflect.DeepEqual(back, v) {
				t.Fatalf("%v: %s, back %v, %v, %v", v, raw, back, err, err2)
			}
		}
	}
}

// TestMismatch: the message says what is wanted and what came, and shows no more of it than is needed.
func TestMismatch(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{"x", `must be of type integer, not text "x"`},
		{strings.Repeat("ä", 30), `must be of type integer, not text "` + strings.Repeat("ä", 20) + `…"`},
		{strings.Repeat("a", 40), `must be of type integer, not text "` + strings.Repeat("a", 40) + `"`},
		{Ref("/a"), `must be of type integer, not text "/a"`},
		{[]any{}, "must be of type integer, not list"},
		{true, "must be of type integer, not boolean"},
		{1.5, "must be of type integer, not float"},
		{struct{}{}, "must be of type integer, not object"},
		{"a\x00\xff", `must be of type integer, not text "a\x00\xff"`},
	} {
		if _, err := (&Ctx{}).convert(c.v, kInt); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.v, err, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	deep := any("bottom")
	for range maxPlainDepth + 2 {
		deep = []any{deep}
	}
	for _, c := range []struct{ v, want any }{
		{nil, nil},
		{7, int64(7)},
		{day, "2024-05-02T00:00:00.000Z"},
		{storage.Ref("/a"), "/a"},
		{Value{V: 7, Word: "x"}, int64(7)},
		{json.RawMessage(`{"a":[1.5]}`), map[string]any{"a": []any{1.5}}},
		{json.RawMessage(`{`), nil},
		{[]string{"a"}, []any{"a"}},
		{storage.Refs{"/a"}, []any{"/a"}},
		{storage.Props{"a": 1}, map[string]any{"a": int64(1)}},
		{map[string]any{"a": day}, map[string]any{"a": "2024-05-02T00:00:00.000Z"}},
		{struct {
			A int `json:"a"`
		}{1}, map[string]any{"a": int64(1)}},
		{func() {}, nil},
		{math.Inf(1), math.Inf(1)},
		{&storage.Page{}, []any{}},
	} {
		if got := Plain(c.v); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%#v: %#v, want %#v", c.v, got, c.want)
		}
	}
	got, levels := Plain(deep), 0
	for {
		list, ok := got.([]any)
		if !ok {
			break
		}
		got, levels = list[0], levels+1
	}
	if got != nil || levels != maxPlainDepth+1 {
		t.Errorf("%d levels, then %v", levels, got)
	}
}

func TestParseJSON(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), "-0": int64(0), "1.0": 1.0, "1e2": 100.0, "9223372036854775807": int64(math.MaxInt64), `"\u00e4\ud83d\ude00"`: "ä\U0001F600", "[]": []any{}, "{}": map[string]any{},
		" null ": nil, "true\n": true, `{"a":{"b":[1,"x",null]}}`: map[string]any{"a": map[string]any{"b": []any{int64(1), "x", nil}}},
	} {
		if got, err := ParseJSON([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v, want %#v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "nul", "1 2", "01", "+1", "1.", ".5", "1e", "0x1", "NaN", "'a'", `"a`, "\"a\nb\"", `"\x"`, "\"\xff\"", "[1,]", "[1 2]", "{a:1}", `{"a"}`, `{"a":1,}`, `{"a":1,"a":2}`,
		`{"a":1,"\u0061":2}`, "[", "{", "]", "// a\n1", "\ufeff1",
		strings.Repeat("[", 100_000), "1e999",
	} {
		if got, err := ParseJSON([]byte(text)); !fault.Is(err, fault.Invalid) || fault.CodeOf(err) != fault.CodeJSON {
			t.Errorf("%.20q: %#v, %v", text, got, err)
		}
	}
}

// TestWords: every word of a type is known in one spelling, and something close to it is suggested.
func TestWords(t *testing.T) {
	for word, k := range wordKinds {
		if err := CheckWord(word); err != nil || kindOfWord(word) != k {
			t.Errorf("%q: %v", word, err)
		}
		if upper := strings.ToUpper(word); upper != word && CheckWord(upper) == nil {
			t.Errorf("%q is a type", upper)
		}
	}
	if err := CheckWord("strin"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "string") {
		t.Errorf("a misspelt word: %v", err)
	}
	for typ, k := range typeKinds {
		if typ.Kind() == reflect.Interface || typ == reflect.TypeFor[*int]() {
			continue
		}
		if got := kindOf(reflect.Zero(typ).Interface()); got != k {
			t.Errorf("a %s is of kind %s, want %s", typ, words[got], words[k])
		}
	}
}
