package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
)

func sprint(v any) string { return fmt.Sprint(v) }

func TestAppendJSON(t *testing.T) {
	r := defaultsRegistry(t)
	a := blob.FromBytes("a <b>.txt", "text/plain", []byte("foo"))
	bare := &blob.Blob{Digest: a.Digest, Size: 3}
	meta := `"digestAlgorithm":"SHA-256","digest":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae","length":"3"`
	url := func(dst []byte, xpath string, _ *blob.Blob) []byte {
		return append(dst, `,"data":"http://h/`+xpath+`","blobUrl":"http://h/`+xpath+`"`...)
	}
	for _, x := range []struct {
		key  string
		v    any
		url  BlobFunc
		want string
	}{
		{"dc:title", nil, nil, `null`},
		{"dc:title", "a\"\\/<&>\x01\t\n\u2028é\U0001F600", nil, `"a\"\\/<&>\u0001\t\n` + "\u2028é\U0001F600\""},
		{"dc:title", "a\xffb\xc3", nil, `"a` + "\uFFFD" + `b` + "\uFFFD\""},
		{"dc:subjects", nil, nil, `[]`},
		{"dc:subjects", []any{"a", "b"}, nil, `["a","b"]`},
		{"dc:created", time.Date(2024, 5, 2, 12, 15, 30, 7e6, time.FixedZone("", 7200)), nil, `"2024-05-02T10:15:30.007Z"`},
		{"common:size", int64(math.MinInt64), nil, `-9223372036854775808`},
		{"deck:margin", 0.05, nil, `0.05`},
		{"deck:margin", 1e21, nil, `1e+21`},
		{"deck:margin", math.Inf(1), nil, `null`},
		{"deck:rtl", false, nil, `false`},
		{"file:content", nil, url, `null`},
		{"file:content", (*blob.Blob)(nil), nil, `null`},
		{"file:content", a, nil, `{"name":"a <b>.txt","mime-type":"text/plain","encoding":null,` + meta + `}`},
		{"file:content", bare, url, `{"name":null,"mime-type":null,"encoding":null,` + meta + `,"data":"http://h/file:content","blobUrl":"http://h/file:content"}`},
		{"files:files", []any{obj{}, obj{"file": bare}}, url, `[{"file":null},{"file":{"name":null,"mime-type":null,"encoding":null,` + meta +
			`,"data":"http://h/files:files/1/file","blobUrl":"http://h/files:files/1/file"}}]`},
		{"picture:info", obj{"width": int64(3)}, nil, `{"width":3,"height":null,"depth":null,"format":null,"colorSpace":null}`},
		{"picture:info", nil, nil, `null`},
	} {
		f, ok := r.FieldByKey(x.key)
		if !ok {
			t.Fatal(x.key)
		}
		if got := string(f.AppendJSON(nil, x.v, x.url)); got != x.want {
			t.Errorf("%s %v:\ngot  %s\nwant %s", x.key, x.v, got, x.want)
		}
	}
}

func TestParseJSON(t *testing.T) {
	r := defaultsRegistry(t)
	for _, x := range []struct {
		key, raw string
		want     any
	}{
		{"dc:title", ` "a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83d" `, "a\"\\/\b\f\n\r\té\U0001F600\uFFFD"},
		{"dc:title", `"\ud83d\u0041"`, "\uFFFDA"},
		{"dc:subjects", ` [ "a" , null, "b" ] `, []any{"a", nil, "b"}},
		{"dc:subjects", `[]`, nil},
		{"dc:subjects", `null`, nil},
		{"deck:margin", `1`, 1.0},
		{"picture:info", `{"width":3,"gone":{"a":[1,{"b":"}"}],"c":null,"d":true,"e":false},"format":null,"height":4}`, obj{"width": int64(3), "height": int64(4)}},
		{"files:files", `[{"file":{"digest":"d","length":"5","data":"x","future":[]}}]`, []any{obj{"file": &blob.Blob{Digest: "d", Size: 5}}}},
	} {
		f, _ := r.FieldByKey(x.key)
		if got, err := f.ParseJSON([]byte(x.raw)); err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s %s: got %#v, %v", x.key, x.raw, got, err)
		}
	}
	for key, raws := range map[string][]string{
		"dc:title":     {``, `x`, `nul`, `"a`, `"a\x"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", "\"\xff\"", "\"\\n\xff\"", `"a" x`, `1`, `["a"]`, `{}`},
		"dc:subjects":  {`[`, `["a"`, `["a",]`, `["a" "b"]`, `"a"`, `[1]`},
		"dc:created":   {`"2024-05-02"`, `"2024-02-30T10:15:30.000Z"`, `"2024-05-02T24:15:30.000Z"`, `"2024-05-0xT10:15:30.000Z"`, `5`},
		"common:size":  {`1.5`, `"1"`, `1e3`, `+1`, `9223372036854775808`, `-`},
		"deck:margin":  {`"1"`, `1e999`, `--1`, `.`},
		"deck:rtl":     {`tru`, `falsey`, `"true"`, `0`},
		"file:content": {`{}`, `"x"`, `{"digest":"d","length":5}`, `{"digest":"d","length":"-5"}`, `{"digest":"d"`, `{"digest":5}`},
		"picture:info": {`{"width"}`, `{"width":}`, `{"width":1,}`, `{width:1}`, `[]`, `{"gone":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, `{"gone":x}`},
	} {
		f, _ := r.FieldByKey(key)
		for _, raw := range raws {
			if got, err := f.ParseJSON([]byte(raw)); !fault.Is(err, fault.Internal) {
				t.Errorf("%s %s: got %#v, %v", key, raw, got, err)
			}
		}
	}
}

// randomValue makes any value that a field may hold.
func randomValue(r *rand.Rand, f *Field, depth int) any {
	if r.IntN(6) == 0 {
		return nil
	}
	if f.List {
		var items []any
		for range 1 + r.IntN(3) {
			if v := randomValue(r, f.Item(), depth+1); v != nil {
				items = append(items, v)
			}
		}
		return emptied(items)
	}
	switch f.Kind {
	case String:
		return randomText(r)
	case Integer:
		return int64(int32(r.Uint64()))
	case Long:
		return int64(r.Uint64()) >> r.IntN(64)
	case Double:
		v := math.Float64frombits(r.Uint64())
		if v-v != 0 {
			v = 0.1
		}
		return v
	case Boolean:
		return r.IntN(2) == 0
	case Date:
		return time.UnixMilli(r.Int64N(253402300800000+62167219200000) - 62167219200000).UTC()
	case Blob:
		return &blob.Blob{Name: randomText(r), Type: randomText(r), Digest: strings.Repeat("0a", 32), Size: r.Int64()}
	}
	m := obj{}
	for _, sub := range f.Fields {
		if v := randomValue(r, sub, depth+1); v != nil {
			m[sub.Name] = v
		}
	}
	return m
}

func randomText(r *rand.Rand) string {
	runes := make([]rune, r.IntN(12))
	for i := range runes {
		runes[i] = rune(r.IntN([]int{0x30, 0x80, 0x3000, 0x10FFFF}[r.IntN(4)]))
	}
	return strings.ToValidUTF8(string(runes), "")
}

func TestJSONRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := defaultsRegistry(t).Schemas()
	for range 300 {
		for _, s := range all {
			for _, f := range s.Fields {
				v := randomValue(r, f, 0)
				raw := f.AppendJSON(nil, v, nil)
				got, err := f.ParseJSON(raw)
				if err != nil || !Equal(got, v) {
					t.Fatalf("%s: %#v written as %s, read as %#v, %v", f.Key, v, raw, got, err)
				}
				var generic any
				if err := json.Unmarshal(raw, &generic); err != nil {
					t.Fatalf("%s: %s: %v", f.Key, raw, err)
				}
				if text, ok := v.(string); ok && generic != text {
					t.Fatalf("%s: %s reads as %q", f.Key, raw, generic)
				}
				if again, err := f.Coerce(v); err != nil || !Equal(again, v) {
					t.Fatalf("%s: %#v coerced to %#v, %v", f.Key, v, again, err)
				}
			}
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`"a\u00e9"`, `["a",null]`, `-1.5e3`, `{"file":{"digest":"d","length":"5"}}`, `[{"info":{"width":3}}]`, `"2024-05-02T10:15:30.000Z"`, `true`, `null`} {
		f.Add([]byte(s))
	}
	var fields []*Field
	for _, s := range defaultsRegistry(f).Schemas() {
		fields = append(fields, s.Fields...)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, field := range fields {
			v, err := field.ParseJSON(raw)
			if err != nil {
				continue
			}
			written := field.AppendJSON(nil, v, nil)
			again, err := field.ParseJSON(written)
			if err != nil || !Equal(v, again) {
				t.Fatalf("%s: %q read as %#v, written as %s, read as %#v, %v", field.Key, raw, v, written, again, err)
			}
			if !json.Valid(written) {
				t.Fatalf("%s: wrote %s", field.Key, written)
			}
		}
	})
}

func TestParseProps(t *testing.T) {
	for _, x := range []struct {
		text string
		want obj
	}{
		{"", obj{}},
		{"dc:title=A", obj{"dc:title": "A"}},
		{" dc:title = A b \r\n\n# no=thing\n  # nor this\nx=1=2\ny=\n", obj{"dc:title": " A b ", "x": "1=2", "y": ""}},
		{"a=one\\\n two\\\n#three\nb=2", obj{"a": "one\n two\n#three", "b": "2"}},
		{"a=1\na=2", obj{"a": "2"}},
		{`a=end\`, obj{"a": `end\`}},
	} {
		if got, err := ParseProps(x.text); err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%q: got %q, %v", x.text, got, err)
		}
	}
	for text, line := range map[string]int{"a=1\nb": 2, "=x": 1, "# c\n\n\n oops \n": 4, "a=1\\\n2\nb": 3} {
		_, err := ParseProps(text)
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Invalid || e.Line != line {
			t.Errorf("%q: got %#v", text, err)
		}
	}
}

func FuzzParseProps(f *testing.F) {
	f.Add("a=b\\\nc\n# d\n e = f")
	f.Fuzz(func(t *testing.T, text string) {
		props, err := ParseProps(text)
		if err != nil {
			return
		}
		for key := range props {
			if key == "" || key != strings.TrimSpace(key) || strings.ContainsAny(key, "\n=") {
				t.Fatalf("%q: key %q", text, key)
			}
		}
	})
}

func dublincore(tb testing.TB) (*Schema, map[string]any) {
	s, _ := defaultsRegistry(tb).Schema("dublincore")
	now := time.Date(2024, 5, 2, 10, 15, 30, 0, time.UTC)
	return s, obj{
		"title": "Annual report of the committee", "description": "What was done, and what was not", "subjects": []any{"art", "society"},
		"created": now, "modified": now, "creator": "Administrator", "contributors": []any{"Administrator", "bob"}, "lastContributor": "bob",
		"nature": "article", "language": "en",
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	s, values := dublincore(b)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = dst[:0]
		for _, f := range s.Fields {
			dst = f.AppendJSON(dst, values[f.Name], nil)
		}
	}
	b.SetBytes(int64(len(dst)))
}

func BenchmarkParseJSON(b *testing.B) {
	s, values := dublincore(b)
	raw, size := make([][]byte, len(s.Fields)), 0
	for i, f := range s.Fields {
		raw[i] = f.AppendJSON(nil, values[f.Name], nil)
		size += len(raw[i])
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for i, f := range s.Fields {
			if _, err := f.ParseJSON(raw[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAppendString writes HTML as a deck has it, with a character to escape every twenty or so.
func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("<li class=\"fragment fade-up\" data-fragment-index=\"2\">It takes <em>land</em> from one bank and gives it to the <strong>other</strong></li>\n\t\t", 300)
	var dst []byte
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		dst = AppendString(dst[:0], s)
	}
}

// FuzzAppendString: text reads back as it was, with U+FFFD for what is not UTF-8, wherever its parts fall among eight bytes.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "0123456789abcdef", "1234567\"", "12345678\\", "\x00\x1f\x7f\u0080", "ä\n\t\r ü", "1234567\xff89", "日本語のテキスト", "<&>\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for shift := range 9 {
			text := strings.Repeat("x", shift) + s
			got := AppendString(nil, text)
			var back string
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatalf("%q: %s: %v", text, got, err)
			}
			want, _ := json.Marshal(text)
			var other string
			if err := json.Unmarshal(want, &other); err != nil || other != back {
				t.Fatalf("%q: got %q, encoding/json %q", text, back, other)
			}
		}
	})
}
