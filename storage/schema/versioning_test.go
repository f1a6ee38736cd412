package schema

import (
	"fmt"
	"slices"
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
  c:
    processor: magick
    properties: {dc:title: title}
    apply: {types: [Fiel], facets: [Nope], files: ["pdf", "image/["], whenever: 1}
`))
	want := []string{
		`own.yaml:3: versioning a: moment "later": must be before or after`,
		`own.yaml:3: versioning a: increment "huge": must be none, minor or major`,
		"own.yaml:3: versioning a: unknown type Nope, perhaps Note",
		"own.yaml:3: versioning a: unknown schema nope, perhaps note",
		"own.yaml:6: metadata b: unknown property dc:nope",
		`own.yaml:7: metadata c: processor "magick": must be native`,
		"own.yaml:10: unknown key whenever",
		`own.yaml:10: metadata c: files: "pdf" is not a media type such as application/pdf or image/*`,
		`own.yaml:10: metadata c: files: "image/[" is not a media type such as application/pdf or image/*`,
		"own.yaml:10: metadata c: unknown type Fiel, perhaps File",
		"own.yaml:10: metadata c: unknown facet Nope",
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

// TestMetadataRules: rules are in their order, know the types that extend theirs, and the built-in mappings have none.
func TestMetadataRules(t *testing.T) {
	r, err := Load(Defaults(), layer("own.yaml", `
types:
  Letter: {parent: File}
metadata:
  last: {properties: {dc:title: a}, apply: {order: 2}}
  second: {properties: {dc:title: a}, apply: {order: 1, types: [File], files: [application/pdf, "image/*"]}}
  first: {processor: native, blob: "files:files/0/file", properties: {dc:title: a}, apply: {order: 1, writeBack: false, facets: [Picture]}}
  none: {properties: {dc:title: a}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.MetadataRules() {
		got = append(got, fmt.Sprint(m.Name, " ", m.Rule.WriteBack, " ", slices.Contains(m.Rule.Types, "Letter")))
	}
	if want := "first false false, second true true, last true false"; strings.Join(got, ", ") != want {
		t.Errorf("rules %q, want %q", strings.Join(got, ", "), want)
	}
	m, _ := r.Metadata("second")
	for typ, want := range map[string]bool{"application/pdf": true, "image/png": true, "image/svg+xml": true, "application/pdf; charset=x": true, "text/plain": false, "": false, "application/pdfx": false} {
		if m.Rule.TakesFile(typ) != want {
			t.Errorf("files of type %q: %t", typ, !want)
		}
	}
}
