package layout

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseID(t *testing.T) {
	const text = "01234567-89ab-cdef-0123-456789abcdef"
	want := ID{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}
	for _, c := range []struct {
		text string
		want ID
		ok   bool
	}{
		{text, want, true},
		{strings.ToUpper(text), want, true},
		{"00000000-0000-0000-0000-000000000000", None, true},
		{"", None, false},
		{text[:35], None, false},
		{text + "0", None, false},
		{strings.ReplaceAll(text, "-", ""), None, false},
		{"{" + text[1:35] + "}", None, false},
		{strings.Replace(text, "-", "_", 1), None, false},
		{strings.Replace(text, "0", "g", 1), None, false},
		{strings.Replace(text, "0", "-", 1), None, false},
		{strings.Replace(text, "ab", "ä", 1), None, false},
		{strings.Replace(text, "f", " ", 1), None, false},
		{"0123456789ab-cdef-0123-456789abcdef--", None, false},
	} {
		got, ok := ParseID(c.text)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %v, %v", c.text, got, ok)
		}
	}
	if want.String() != text {
		t.Errorf("%s, want %s", want, text)
	}
}

// TestParseIDRound: what an identifier is shown as is read as the same one, and no text with another byte is.
func TestParseIDRound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var id ID
		for i := range id {
			id[i] = byte(rnd.Uint32())
		}
		text := id.String()
		if got, ok := ParseID(text); !ok || got != id {
			t.Fatalf("%s: %v", text, got)
		}
		changed := []byte(text)
		changed[rnd.IntN(len(changed))] ^= 1 << rnd.IntN(7)
		if got, ok := ParseID(string(changed)); ok && got == id && !strings.EqualFold(string(changed), text) {
			t.Fatalf("%s is read as %s", changed, text)
		}
	}
}

// TestKeyOrder: keys sort as what they are made of, and none begins with another one of the same table.
func TestKeyOrder(t *testing.T) {
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	a, b := ID{1}, ID{1, 0, 1}
	for _, c := range []struct {
		name string
		keys [][]byte
	}{
		{"children in order", [][]byte{
			ChildPositionKey(a, math.MinInt64, b), ChildPositionKey(a, -1, a), ChildPositionKey(a, 0, None), ChildPositionKey(a, 0, a),
			ChildPositionKey(a, 1, None), ChildPositionKey(a, math.MaxInt64, None), ChildPositionKey(b, math.MinInt64, None),
		}},
		{"children by name", [][]byte{ChildNameKey(a, ""), ChildNameKey(a, "A"), ChildNameKey(a, "AA"), ChildNameKey(a, "a"), ChildNameKey(a, "ä"), ChildNameKey(b, "")}},
		{"audit by time", [][]byte{
			AuditTimeKey(at(math.MinInt64/1000), 0), AuditTimeKey(at(-1), 5), AuditTimeKey(at(0), 0), AuditTimeKey(at(0), 1), AuditTimeKey(at(0), math.MaxInt64), AuditTimeKey(at(1), 0),
		}},
		{"audit by document", [][]byte{AuditDocKey(a, at(9), 9), AuditDocKey(b, at(-9), 1), AuditDocKey(b, at(1), 1)}},
		{"tables", [][]byte{TableKey(TableSpace, "a", ""), TableKey(TableSpace, "a", "\x00"), TableKey(TableSpace, "a", "b"), TableKey(TableSpace, "ab", ""), TableKey(TableSpace, "b", "")}},
		{"members", [][]byte{MemberKey(MemberUser, "a", "x"), MemberKey(MemberUser, "a", "y"), MemberKey(MemberUser, "a\x00", "x"), MemberKey(MemberUser, "ab", "x"), MemberKey(MemberOf, "a", "x")}},
		{"grantees", [][]byte{GranteeKey("", b), GranteeKey("a", a), GranteeKey("a", b), GranteeKey("aa", a)}},
		{"contents", [][]byte{BlobRefKey("", b), BlobRefKey("0a", None), BlobRefKey("0a", b), BlobRefKey("0b", None)}},
	} {
		for i := 1; i < len(c.keys); i++ {
			if before, key := c.keys[i-1], c.keys[i]; bytes.Compare(before, key) >= 0 {
				t.Errorf("%s: %d: %q is not before %q", c.name, i, before, key)
			}
		}
	}
}

// TestKeyParts: a key is found under its prefixes, and those of others are not.
func TestKeyParts(t *testing.T) {
	a, b := ID{1}, ID{1, 1}
	for _, c := range []struct {
		name        string
		key, prefix []byte
		want        bool
	}{
		{"member", MemberKey(MemberUser, "ab", "x"), MemberPrefix(MemberUser, "ab"), true},
		{"member of a longer name", MemberKey(MemberUser, "ab", "x"), MemberPrefix(MemberUser, "a"), false},
		{"member of a name with a zero", MemberKey(MemberUser, "a\x00b", "x"), MemberPrefix(MemberUser, "a"), false},
		{"grantee", GranteeKey("ab", a), GranteePrefix("ab"), true},
		{"grantee of a longer name", GranteeKey("ab", a), GranteePrefix("a"), false},
		{"child", ChildPositionKey(a, -7, b), ChildrenPrefix(a), true},
		{"child of another", ChildPositionKey(a, -7, b), ChildrenPrefix(b), false},
		{"content", BlobRefKey("0a", a), BlobRefs(), true},
		{"content of a longer digest", BlobRefKey("0a", a), BlobRefPrefix("0"), false},
		{"term of a longer word", TermKey("ab"), TermKey("a"), false},
		{"table of a longer name", TableKey(TableSpace, "ab", "c"), TableKey(TableSpace, "a", ""), false},
	} {
		if got := bytes.HasPrefix(c.key, c.prefix); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, position := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		if p, id := PositionAndID(ChildPositionKey(a, position, b)); p != position || id != b {
			t.Errorf("position %d: %d, %v", position, p, id)
		}
	}
	if IDAtEnd(RecordKey(b)) != b || IDAtEnd([]byte("short")) != None || IDAtEnd(nil) != None {
		t.Error("the id at the end")
	}
	ids := SortIDs([]ID{b, a, b, None, a})
	if !slices.Equal(ids, []ID{None, a, b}) || len(SortIDs(nil)) != 0 {
		t.Errorf("sorted %v", ids)
	}
}

// TestSpaces: no two tables of keys begin alike.
func TestSpaces(t *testing.T) {
	a := ID{1}
	seen := map[string]string{}
	for name, key := range map[string][]byte{
		"record": RecordKey(a), "node": NodeKey(a), "gone": GoneKey(a), "child by name": ChildNameKey(a, "b"), "child": ChildPositionKey(a, 1, a), "list": ListKey(ListID{1}),
		"grantee": GranteeKey("b", a), "content": BlobRefKey("b", a), "audit": AuditTimeKey(time.UnixMilli(1), 1), "audit of a document": AuditDocKey(a, time.UnixMilli(1), 1),
		"table": TableKey(TableSpace, "b", "c"), "secret table": TableKey(SecretSpace, "b", "c"), "member": MemberKey(MemberUser, "b", "c"), "member of": MemberKey(MemberOf, "b", "c"),
		"meta": MetaKey("b"), "term": TermKey("b"), "terms": TermsKey(a), "text": TextKey("b"), "inline": InlineKey("b"),
	} {
		begin := string(key[:1])
		if strings.ContainsRune("capwgb", rune(key[0])) {
			begin = string(key[:2])
		}
		if other := seen[begin]; other != "" {
			t.Errorf("%s and %s both begin with %q", name, other, begin)
		}
		seen[begin] = name
	}
}

func TestDictionary(t *testing.T) {
	many := make([]string, 300)
	for i := range many {
		many[i] = strings.Repeat("n", i+1)
	}
	n := NewDictionary(many)
	for _, name := range []string{many[0], many[126], many[127], many[299], "", "unknown", "ä\x00"} {
		in := Reader{B: append(n.Append([]byte("head"), name), "tail"...)[4:]}
		if got := string(n.Read(&in)); got != name || in.Bad || string(in.B) != "tail" {
			t.Errorf("%q: read as %q, left %q", name, got, in.B)
		}
	}
	for _, damaged := range []string{"", "\x00", "\x00\x05abc", "\xad\x02", "\xff", strings.Repeat("\xff", 11)} {
		in := Reader{B: []byte(damaged)}
		if got := n.Read(&in); got != nil || !in.Bad {
			t.Errorf("%q: read as %q", damaged, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a key with a name that has no number was made")
		}
	}()
	n.AppendKey(nil, "unknown")
}

// TestIndexPrefix: the rows of an index are those of no other, and all begin above the values that parts of keys hold.
func TestIndexPrefix(t *testing.T) {
	names := make([]string, 600)
	for i := range names {
		names[i] = "i" + strings.Repeat("x", i)
	}
	n := NewDictionary(names)
	var before []byte
	for _, name := range names {
		p := n.IndexPrefix(name)
		if len(p) != 3 || p[0] != IndexSpace || p[1] < 0x80 || bytes.Compare(before, p) >= 0 {
			t.Fatalf("%d: prefix %q after %q", len(name), p, before)
		}
		before = p
	}
	if bytes.Compare(BlobRefPrefix("\xff\xff"), n.IndexPrefix(names[0])) >= 0 {
		t.Error("contents are among the indexes")
	}
}

func TestParseChild(t *testing.T) {
	n := NewDictionary([]string{"File"})
	list := ListID{7}
	full := n.Append(append([]byte{Folder | Trashed}, list[:]...), "File")
	for _, c := range []struct {
		row   []byte
		flags byte
		list  ListID
		typ   string
	}{
		{full, Folder | Trashed, list, "File"},
		{full[:17], Folder | Trashed, list, ""}, // of an older repository
		{full[:1], Folder | Trashed, ListID{}, ""},
		{nil, 0, ListID{}, ""},
		{n.Append(append([]byte{0}, list[:]...), "Note"), 0, list, "Note"},
	} {
		if flags, got, typ := n.ParseChild(c.row); flags != c.flags || got != c.list || string(typ) != c.typ {
			t.Errorf("%q: %d, %v, %q", c.row, flags, got, typ)
		}
	}
}

// TestValueLen: the length of a value is found whatever follows it, also where the order of a column is inverted.
func TestValueLen(t *testing.T) {
	invert := func(b []byte) []byte {
		out := slices.Clone(b)
		for i := range out {
			out[i] = ^out[i]
		}
		return out
	}
	for _, v := range []any{nil, "", "a", "a\x00b", "\x00", "\xff", "ä", strings.Repeat("x", 300), int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), 1.5, math.Inf(-1), true, false, time.UnixMilli(-1)} {
		key, ok := AppendValue(nil, v)
		if !ok {
			t.Fatalf("%v has no order", v)
		}
		for _, follows := range []string{"", "\x00", "\x01", "\xff\xfe", "\x00\x01tail"} {
			if got := ValueLen(append(slices.Clone(key), follows...)); got != len(key) {
				t.Errorf("%v before %q: %d, want %d", v, follows, got, len(key))
			}
			if got := ValueLen(append(invert(key), follows...)); got != len(key) {
				t.Errorf("%v inverted before %q: %d, want %d", v, follows, got, len(key))
			}
		}
	}
	if ValueLen(nil) != 0 {
		t.Error("nothing has a length")
	}
}

// TestAppendValueOrder: values of one kind sort as they compare; texts sort in lower case, and nothing is first.
func TestAppendValueOrder(t *testing.T) {
	for _, list := range [][]any{
		{nil, "", "A", "a\x00", "a\x01", "ab", "B", "É", "\U0001F600"},
		{nil, int64(math.MinInt64), int64(-1), int64(0), int64(1), int64(math.MaxInt64)},
		{nil, math.Inf(-1), -math.MaxFloat64, -1.5, -math.SmallestNonzeroFloat64, 0.0, math.SmallestNonzeroFloat64, 1.5, math.Inf(1)},
		{nil, false, true},
		{nil, time.UnixMilli(math.MinInt32), time.UnixMilli(-1), time.UnixMilli(0), time.UnixMilli(1)},
	} {
		var before []byte
		for i, v := range list {
			key, ok := AppendValue(nil, v)
			if !ok || i > 0 && bytes.Compare(before, key) >= 0 {
				t.Errorf("%v is not after %v", v, list[max(0, i-1)])
			}
			before = key
		}
	}
	upper, _ := AppendValue(nil, "STRASSE")
	lower, _ := AppendValue(nil, "strasse")
	cut, _ := AppendValue(nil, strings.Repeat("x", MaxIndexed))
	long, _ := AppendValue(nil, strings.Repeat("x", MaxIndexed+1))
	if !bytes.Equal(upper, lower) || !bytes.Equal(cut, long) {
		t.Error("texts that differ in case or beyond the bound have different keys")
	}
	if got, ok := AppendValue([]byte("a"), []any{1}); ok || string(got) != "a" {
		t.Errorf("a list: %q, %v", got, ok)
	}
}

// TestOriginal: what is left of a text can be read back beside its key.
func TestOriginal(t *testing.T) {
	for _, c := range []struct {
		v     any
		text  string
		other bool
		whole bool
	}{
		{nil, "", false, true},
		{int64(1), "", false, true},
		{"", "", false, true},
		{"lower", "", false, true},
		{"Upper", "Upper", true, true},
		{strings.Repeat("x", MaxIndexed), "", false, true},
		{strings.Repeat("X", MaxIndexed), strings.Repeat("X", MaxIndexed), true, true},
		{strings.Repeat("x", MaxIndexed+1), "", false, false},
		{"İ", "İ", true, true},
		{"a\xff", "a\xff", true, true},
	} {
		in := Reader{B: append(AppendOriginal(nil, c.v), "tail"...)}
		text, other, whole := ReadOriginal(&in)
		if string(text) != c.text || other != c.other || whole != c.whole || string(in.B) != "tail" {
			t.Errorf("%v: %q, %v, %v, left %q", c.v, text, other, whole, in.B)
		}
	}
	for _, damaged := range []string{"", "\x07", "\x02\x09ab"} {
		in := Reader{B: []byte(damaged)}
		if text, _, whole := ReadOriginal(&in); whole && !in.Bad || text != nil {
			t.Errorf("%q: %q, %v", damaged, text, whole)
		}
	}
}

func TestExact(t *testing.T) {
	for _, v := range []any{
		nil, "", "Text", "\x00\xff", strings.Repeat("x", maxExact), int64(0), int64(math.MinInt64), int64(math.MaxInt64), 0.0, -1.5, math.Inf(1), true, false, time.UnixMilli(0).UTC(),
		time.UnixMilli(-62135596800000).UTC(),
	} {
		row := append(AppendExact([]byte("h"), v), "tail"...)
		in := Reader{B: row[1:]}
		if got, ok := ReadExact(&in); !ok || got != v || string(in.B) != "tail" {
			t.Errorf("%v: %v, %v, left %q", v, got, ok, in.B)
		}
		for cut := range len(row) - 5 {
			in := Reader{B: row[1 : 1+cut]}
			if got, ok := ReadExact(&in); ok {
				t.Errorf("%v, cut at %d: %v", v, cut, got)
			}
		}
	}
	many := make([]any, maxExact)
	for _, v := range []any{strings.Repeat("x", maxExact+1), []any{map[string]any{}}, []any{[]any{"a"}}, []any{strings.Repeat("x", maxExact)}, many, map[string]any{}} {
		in := Reader{B: AppendExact(nil, v)}
		if got, ok := ReadExact(&in); ok || in.Bad {
			t.Errorf("%.10v: %v, %v", v, got, in.Bad)
		}
	}
	in := Reader{B: AppendExact(nil, math.NaN())}
	if got, ok := ReadExact(&in); !ok || !math.IsNaN(got.(float64)) {
		t.Errorf("not a number: %v, %v", got, ok)
	}
}

// TestReader: after a mistake all that is read is zero, and the rest of the row is not read.
func TestReader(t *testing.T) {
	whole := AppendText([]byte{0x96, 0x01, 0x03}, "ab")
	in := Reader{B: whole}
	if n, v, s := in.Uvarint(), in.Varint(), in.Text(); n != 150 || v != -2 || s != "ab" || in.Bad || len(in.B) != 0 {
		t.Errorf("%d, %d, %q, %v", n, v, s, in.Bad)
	}
	for name, read := range map[string]func(in *Reader) bool{
		"take":          func(in *Reader) bool { return in.Take(9) == nil },
		"take negative": func(in *Reader) bool { return in.Take(-1) == nil },
		"bytes":         func(in *Reader) bool { in.B = []byte{9, 'a'}; return in.Bytes() == nil },
		"huge bytes":    func(in *Reader) bool { in.B = append(bytes.Repeat([]byte{0xff}, 9), 1); return in.Bytes() == nil },
		"number":        func(in *Reader) bool { in.B = []byte{0x80}; return in.Uvarint() == 0 },
		"long number":   func(in *Reader) bool { in.B = bytes.Repeat([]byte{0xff}, 11); return in.Varint() == 0 },
		"id":            func(in *Reader) bool { return in.ID() == None },
		"time":          func(in *Reader) bool { in.B = nil; return in.Time().Equal(time.UnixMilli(0)) },
	} {
		in := &Reader{B: []byte("12345")}
		if !read(in) || !in.Bad || in.B != nil || in.Text() != "" || in.Uvarint() != 0 || in.ID() != None {
			t.Errorf("%s: %+v", name, in)
		}
	}
	// What was taken cannot be overwritten by appending to it.
	in = Reader{B: []byte("abcdef")}
	_ = append(in.Take(2), 'X')
	if string(in.B) != "cdef" {
		t.Errorf("left %q", in.B)
	}
}

func TestRecordType(t *testing.T) {
	row := AppendText([]byte{RecordFormat, 5}, "File")
	for cut, want := range map[int]string{0: "", 1: "", 2: "", 4: "", len(row): "File"} {
		if got := string(RecordType(row[:cut])); got != want {
			t.Errorf("%d bytes: %q", cut, got)
		}
	}
	if RecordType(append([]byte{RecordFormat + 1}, row[1:]...)) != nil {
		t.Error("a record of another form has a type")
	}
}
