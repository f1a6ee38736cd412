package schema

import (
	"strings"
	"testing"

	"catena/storage/fault"
)

func TestVersioningRules(t *testing.T) {
	defaults, err := Load(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	own, err := Load(Defaults(), layer("own.yaml", `
versioning:
  note: {order: 10, types: [Note], increment: major}
  quiet: {order: 5, schemas: [picture], moment: before, increment: none}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		r      *Registry
		typ    string
		moment Moment
		want   string
	}{
		{defaults, "Note", After, "note minor"},
		{defaults, "Note", Before, ""},
		{defaults, "File", Before, "collaboration minor others"},
		{defaults, "File", After, ""},
		{defaults, "Picture", Before, "collaboration minor others"},
		{defaults, "Folder", Before, ""},
		{own, "Note", After, "note major"},
		{own, "Picture", Before, "quiet none"},
		{own, "File", Before, "collaboration minor others"},
	} {
		typ, _ := x.r.Type(x.typ)
		got := ""
		if v := x.r.Versioning(typ, typ.Schemas, x.moment); v != nil {
			got = v.Name + " " + incrementNames[v.Increment]
			if v.Others {
				got += " others"
			}
		}
		if got != x.want {
			t.Errorf("%s %s: %q, want %q", x.typ, momentNames[x.moment], got, x.want)
		}
	}
}

func TestVersioningMistakes(t *testing.T) {
	_, err := Load(Defaults(), layer("own.yaml", `
versioning:
  a: {types: [Nope], schemas: [nope], moment: later, increment: huge}
metadata:
  b:
    properties: {dc:nope: title}
`))
	want := []string{
		`own.yaml:3: versioning a: moment "later": must be before or after`,
		`own.yaml:3: versioning a: increment "huge": must be none, minor or major`,
		"own.yaml:3: versioning a: unknown type Nope, perhaps Note",
		"own.yaml:3: versioning a: unknown schema nope, perhaps note",
		"own.yaml:6: metadata b: unknown property dc:nope",
	}
	if !fault.Is(err, fault.Invalid) || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestMetadataMappings(t *testing.T) {
	r, err := Load(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	m, ok := r.Metadata("pdf")
	if !ok || m.Blob != "file:content" || m.Properties["dc:title"] != "pdf:title" {
		t.Errorf("pdf: %+v", m)
	}
	if _, ok := r.Metadata("nope"); ok {
		t.Error("a mapping that is not declared is found")
	}
}
