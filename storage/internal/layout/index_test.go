package layout

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"catena/storage/kv"
)

// TestIndexRows: a document has one row for a key, found again by it, with the text where the key does not hold it.
func TestIndexRows(t *testing.T) {
	n := NewDictionary([]string{NameIndex, StateIndex, "dc:title", "nums"})
	for _, items := range []int{1, 3, manyRows - 1, manyRows, manyRows + 1, 3 * manyRows} {
		x := NewIndexRows(n, ID{9})
		x.SetCovers([]byte("\x01\x00slim"), []byte("\x01\x00full"))
		for i := range items {
			x.AddValue("nums", int64(i))
			x.AddValue("nums", int64(i)) // again
		}
		x.AddText("dc:title", "Title")
		x.AddText("dc:title", "TITLE") // differs in case only
		x.AddText(StateIndex, "project")
		if len(x.Rows) != items+2 {
			t.Fatalf("%d items: %d rows", items, len(x.Rows))
		}
		for i, r := range x.Rows {
			if !bytes.Equal(x.Find(r.Key()), r.Value()) || IDAtEnd(r.Key()) != (ID{9}) || r.Value()[0] != 1 {
				t.Errorf("%d items: row %d is %q %q, found %q", items, i, r.Key(), r.Value(), x.Find(r.Key()))
			}
		}
		key := append(kv.AppendString(n.IndexPrefix("dc:title"), "title"), x.id[:]...)
		if got := string(x.Find(key)); got != "\x01"+string([]byte{IsPart | HasText})+"fullTitle" && got != "\x01"+string([]byte{IsPart})+"full" {
			t.Errorf("%d items: the title is %q", items, got)
		}
		state := append(kv.AppendString(n.IndexPrefix(StateIndex), "project"), x.id[:]...)
		if got := string(x.Find(state)); got != "\x01\x00slim" {
			t.Errorf("%d items: the state is %q", items, got)
		}
		if x.Find([]byte("x")) != nil {
			t.Error("a key that is not there is found")
		}
	}
	if NoRows.Find([]byte("x")) != nil {
		t.Error("no rows have one")
	}
}

// TestIndexText: the bits of a row say what its key holds.
func TestIndexText(t *testing.T) {
	n := NewDictionary([]string{"dc:title"})
	long := strings.Repeat("Ä", MaxIndexed)
	for _, c := range []struct {
		text string
		bits byte
		tail string
	}{
		{"", 0, ""},
		{"plain", 0, ""},
		{"Plain", HasText, "Plain"},
		{strings.Repeat("x", MaxIndexed), 0, ""},
		{strings.Repeat("X", MaxIndexed), HasText, strings.Repeat("X", MaxIndexed)},
		{strings.Repeat("x", MaxIndexed+1), IsPart, ""},
		{long, IsPart, ""},
	} {
		x := NewIndexRows(n, ID{1})
		x.SetCovers(nil, []byte{0, 0})
		x.AddText("dc:title", c.text)
		if v := x.Rows[0].Value(); v[1] != c.bits || string(v[2:]) != c.tail {
			t.Errorf("%.20q: bits %d, %q", c.text, v[1], v[2:])
		}
		x.AddValue("dc:title", []any{"a list has no order"})
		if len(x.Rows) != 1 {
			t.Error("a list has a row")
		}
	}
}

// TestCover: the value of an index row is read back whole, and one that was cut short is an error.
func TestCover(t *testing.T) {
	n := NewDictionary([]string{"File", "project"})
	parent, list := ID{5}, ListID{6}
	build := func(bits byte) []byte {
		b := append([]byte{Folder | Hidden, bits}, parent[:]...)
		if bits&HasList != 0 {
			b = append(b, list[:]...)
		}
		b = n.Append(n.Append(b, "File"), "project")
		if bits&HasNode != 0 {
			b = AppendText(append(b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe), "name")
		}
		return b
	}
	for bits := range byte(HasNode << 1) {
		b := build(bits)
		var c Cover
		c.List, c.Position, c.Name = ListID{9}, 9, []byte("of the row before")
		if err := c.Parse(n, append(slices.Clone(b), "Text"...)); err != nil {
			t.Fatal(err)
		}
		if c.Flags != Folder|Hidden || c.Bits != bits || c.Parent != parent || string(c.Type) != "File" || string(c.State) != "project" || string(c.Text) != "Text" {
			t.Errorf("bits %d: %+v", bits, c)
		}
		if want := bits&HasList != 0; (c.List == list) != want || !want && c.List != (ListID{}) {
			t.Errorf("bits %d: list %v", bits, c.List)
		}
		if want := bits&HasNode != 0; (c.Position == -2 && string(c.Name) == "name") != want || !want && (c.Position != 0 || c.Name != nil) {
			t.Errorf("bits %d: position %d, name %q", bits, c.Position, c.Name)
		}
		for cut := range len(b) {
			if err := c.Parse(n, b[:cut]); err == nil {
				t.Errorf("bits %d: %d of %d bytes are read", bits, cut, len(b))
			}
		}
	}
}

// FuzzCover reads damaged rows: none makes the reader panic or read beyond the row.
func FuzzCover(f *testing.F) {
	n := NewDictionary([]string{"File"})
	f.Add(append(make([]byte, 18), 1, 1))
	f.Add(append(append([]byte{0, HasList | HasNode}, make([]byte, 32)...), 0, 3, 'a', 'b', 'c', 1, 0, 0, 0, 0, 0, 0, 0, 1, 0))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Cover
		if err := c.Parse(n, b); err == nil && len(c.Type)+len(c.Name)+len(c.Text) > len(b)+8 {
			t.Errorf("%q: %+v", b, c)
		}
		if l := ValueLen(b); l > len(b) {
			t.Errorf("%q: length %d", b, l)
		}
		n.ParseChild(b)
		RecordType(b)
		ReadExact(&Reader{B: b})
		ReadOriginal(&Reader{B: b})
	})
}
