package schema

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
)

func TestParsePath(t *testing.T) {
	at := func(n int) Step { return Step{Index: n} }
	named := func(s string) Step { return Step{Name: s, Index: NoIndex} }
	for _, x := range []struct {
		xpath, prefix string
		want          []Step
	}{
		{"dc:title", "dc", []Step{named("title")}},
		{"/dc:title", "dc", []Step{named("title")}},
		{"title", "", []Step{named("title")}},
		{"dc:subjects/0", "dc", []Step{named("subjects"), at(0)}},
		{"common:icon-expanded", "common", []Step{named("icon-expanded")}},
		{"files:files/12/file/name", "files", []Step{named("files"), at(12), named("file"), named("name")}},
		{"files:files/file[1]/file", "files", []Step{named("files"), at(1), named("file")}},
		{"files:files[1]/file", "files", []Step{named("files"), at(1), named("file")}},
		{"files:files/*/file/name", "files", []Step{named("files"), {"*", AnyIndex}, named("file"), named("name")}},
		{"files/*1/file", "", []Step{named("files"), {"*1", AnyIndex}, named("file")}},
	} {
		p, err := ParsePath(x.xpath)
		if err != nil || p.Prefix() != x.prefix || !reflect.DeepEqual(p.Steps(), x.want) {
			t.Errorf("%s: got %q %v, %v", x.xpath, p.Prefix(), p.Steps(), err)
		}
	}
	for _, bad := range []string{
		"", "/", ":", "dc:", ":title", "dc:title/", "a//b", "0", "*", "dc:0", "a/b:c", "a b", "dc:a:b", "a/1234567", "a/-1", "a[", "a[]", "a[x]", "a[1", "a]", "[1]",
		"*x", "a/*x", "a'b", strings.Repeat("a", MaxPathLength+1), "a" + strings.Repeat("/a", MaxPathDepth),
	} {
		if p, err := ParsePath(bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: got %v, %v", bad, p, err)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"dc:title", "files:files/*/file/name", "a[1]/b", "/x/0/y", "é:ö"} {
		f.Add(s)
	}
	file, _ := defaultsRegistry(f).Type("File")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		if len(p.steps) > 2*MaxPathDepth || p.Empty() {
			t.Fatalf("%q: %v", s, p.steps)
		}
		again, err := ParsePath(p.String())
		if err != nil || !reflect.DeepEqual(p.steps, again.steps) || again.prefix != p.prefix {
			t.Fatalf("%q: %v then %v, %v", s, p, again, err)
		}
		field, rest, err := Find(file.Schemas, p)
		if err != nil {
			return
		}
		if _, err := field.Leaf(rest); err != nil {
			t.Fatalf("%q: found, then %v", s, err)
		}
		if v, err := GetIn(nil, rest); v != nil || err != nil {
			t.Fatalf("%q: %v, %v in nothing", s, v, err)
		}
	})
}

func TestFind(t *testing.T) {
	r := defaultsRegistry(t)
	picture, _ := r.Type("Picture")
	comment, _ := r.Type("Comment")
	for _, x := range []struct {
		of             *Type
		xpath, key     string
		leaf           Kind
		list, mistaken bool
	}{
		{of: picture, xpath: "dc:title", key: "dc:title"},
		{of: picture, xpath: "title", key: "dc:title"},
		{of: picture, xpath: "dublincore:title", key: "dc:title"},
		{of: picture, xpath: "content", key: "file:content", leaf: Blob},
		{of: picture, xpath: "file:content/length", key: "file:content", leaf: Long},
		{of: picture, xpath: "files/0/file", key: "files:files", leaf: Blob},
		{of: picture, xpath: "files:files/*/file/name", key: "files:files"},
		{of: picture, xpath: "dc:subjects", key: "dc:subjects", list: true},
		{of: picture, xpath: "dc:subjects/*", key: "dc:subjects"},
		{of: picture, xpath: "picture:views/2/info/width", key: "picture:views", leaf: Integer},
		{of: picture, xpath: "source", key: "picture:source"}, // dublincore's needs its prefix
		{of: comment, xpath: "comment:text", key: "comment:text"},
		{of: picture, xpath: "comment:text", mistaken: true},
		{of: picture, xpath: "nope", mistaken: true},
		{of: picture, xpath: "dc:nope", mistaken: true},
		{of: picture, xpath: "dc:title/x", mistaken: true},
		{of: picture, xpath: "dc:title/0", mistaken: true},
		{of: picture, xpath: "dc:subjects/x", mistaken: true},
		{of: picture, xpath: "dc:subjects/0/x", mistaken: true},
		{of: picture, xpath: "file:content/nope", mistaken: true},
		{of: picture, xpath: "files:files/file", mistaken: true},
	} {
		f, rest, err := Find(x.of.Schemas, path(t, x.xpath))
		if x.mistaken {
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), x.xpath) {
				t.Errorf("%s: got %v, %v", x.xpath, f, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", x.xpath, err)
			continue
		}
		leaf, err := f.Leaf(rest)
		if err != nil || f.Key != x.key || leaf.Kind != x.leaf || leaf.List != x.list {
			t.Errorf("%s: got %s, leaf %+v, %v", x.xpath, f.Key, leaf, err)
		}
	}
	two := []*Schema{{Name: "a", Fields: []*Field{{Name: "x", Key: "a:x"}}}, {Name: "b", Fields: []*Field{{Name: "x", Key: "b:x"}}}}
	if _, _, err := Find(two, path(t, "x")); err == nil || err.Error() != `xpath "x": ambiguous, write a:x or b:x` {
		t.Errorf("got %v", err)
	}
}

type obj = map[string]any

func TestInside(t *testing.T) {
	r := defaultsRegistry(t)
	files, _ := r.FieldByKey("files:files")
	views, _ := r.FieldByKey("picture:views")
	subjects, _ := r.FieldByKey("dc:subjects")
	content, _ := r.FieldByKey("file:content")
	a, b := blob.FromBytes("a", "text/plain", []byte("aa")), blob.FromBytes("b", "text/plain", []byte("b"))
	list := []any{obj{"file": a}, obj{"file": b}}
	schemas := r.Schemas()

	get := func(value any, xpath string, want any) {
		t.Helper()
		_, rest, err := Find(schemas, path(t, xpath))
		if err != nil {
			t.Fatal(err)
		}
		got, err := GetIn(value, rest)
		if kind, failing := want.(fault.Kind); failing {
			if !fault.Is(err, kind) {
				t.Errorf("get %s: %v, %v", xpath, got, err)
			}
			return
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("get %s: %v, %v, want %v", xpath, got, err, want)
		}
	}
	get(list, "files:files/1/file/name", "b")
	get(list, "files:files/0/file/length", int64(2))
	get(list, "files:files/0/file/encoding", nil)
	get(list, "files:files/0/file/data", a)
	get(list, "files:files/*/file/name", []any{"a", "b"})
	get(list, "files:files/2/file", fault.Invalid)
	get(nil, "files:files/2/file", nil)
	get([]any{obj{}}, "files:files/0/file/name", nil)

	change := func(f *Field, value any, xpath string, v, want any) {
		t.Helper()
		_, rest, err := Find(schemas, path(t, xpath))
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if v == "cut" {
			got, err = RemoveIn(f, value, rest)
		} else {
			got, err = SetIn(f, value, rest, v)
		}
		if kind, failing := want.(fault.Kind); failing {
			if !fault.Is(err, kind) {
				t.Errorf("%s = %v: %v, %v", xpath, v, got, err)
			}
			return
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v: %v, %v, want %v", xpath, v, got, err, want)
		}
	}
	two := []any{"x", "y"}
	change(subjects, two, "dc:subjects/0", 7, []any{"7", "y"})
	change(subjects, two, "dc:subjects/2", "z", []any{"x", "y", "z"})
	change(subjects, two, "dc:subjects/3", "z", fault.Invalid)
	change(subjects, two, "dc:subjects/*", "z", fault.Invalid)
	change(subjects, two, "dc:subjects/0", nil, []any{"y"})
	change(subjects, two, "dc:subjects/1", "cut", []any{"x"})
	change(subjects, []any{"x"}, "dc:subjects/0", "cut", nil)
	change(subjects, two, "dc:subjects/2", "cut", fault.Invalid)
	change(subjects, two, "dc:subjects/*", "cut", fault.Invalid)
	change(subjects, two, "dc:subjects", "cut", nil)
	change(subjects, nil, "dc:subjects", "a,b", []any{"a", "b"})
	change(files, nil, "files:files/0/file", a, []any{obj{"file": a}})
	change(files, list, "files:files/0", "cut", []any{obj{"file": b}})
	change(files, list, "files:files/0/file", "cut", []any{obj{}, obj{"file": b}})
	change(files, list, "files:files/5/file", "cut", fault.Invalid)
	change(files, list, "files:files/1/file/name", "c", []any{obj{"file": a}, obj{"file": b.With("c", b.Type)}})
	change(views, nil, "picture:views/0/info/width", "12", []any{obj{"info": obj{"width": int64(12)}}})
	change(views, nil, "picture:views/0/info/width", "wide", fault.Invalid)
	change(content, a, "file:content/mime-type", "text/x", a.With("a", "text/x"))
	change(content, a, "file:content/encoding", "UTF-8", a.WithEncoding("UTF-8"))
	change(content, a, "file:content/digest", "x", fault.Invalid)
	change(content, nil, "file:content/name", "x", fault.Invalid)
	change(content, nil, "file:content/name", "cut", nil)

	if !reflect.DeepEqual(list, []any{obj{"file": a}, obj{"file": b}}) || !reflect.DeepEqual(two, []any{"x", "y"}) {
		t.Error("a value has changed")
	}
}

func TestEqual(t *testing.T) {
	a := blob.FromBytes("a", "t/t", []byte("a"))
	now := time.Now()
	for _, x := range []struct {
		a, b any
		want bool
	}{
		{nil, nil, true},
		{nil, []any{}, true},
		{[]any{}, nil, true},
		{nil, "", false},
		{"a", "a", true},
		{"a", int64(1), false},
		{int64(1), 1.0, false},
		{true, true, true},
		{[]any{"a"}, []any{"a"}, true},
		{[]any{"a"}, []any{"b"}, false},
		{[]any{"a"}, "a", false},
		{obj{"x": nil, "y": "a"}, obj{"y": "a"}, true},
		{obj{"y": "a"}, obj{"x": []any{}, "y": "a"}, true},
		{obj{"y": "a"}, obj{"x": "b", "y": "a"}, false},
		{obj{}, nil, false},
		{a, a.With("a", "t/t"), true},
		{a, a.With("b", "t/t"), false},
		{a, nil, false},
		{now, now.UTC(), true},
		{now, now.Add(time.Millisecond), false},
	} {
		if got := Equal(x.a, x.b); got != x.want {
			t.Errorf("Equal(%v, %v) = %t", x.a, x.b, got)
		}
	}
}

func TestEachBlob(t *testing.T) {
	r := defaultsRegistry(t)
	files, _ := r.FieldByKey("files:files")
	a := blob.FromBytes("a", "t/t", []byte("a"))
	var got []string
	files.EachBlob([]any{obj{"file": a}, obj{}, obj{"file": a}}, func(xpath string, b *blob.Blob) error {
		got = append(got, xpath+"="+b.Name)
		return nil
	})
	if want := []string{"files:files/0/file=a", "files:files/2/file=a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}
