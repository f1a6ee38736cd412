package schema

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"catena/storage/fault"
)

func defaultsRegistry(t testing.TB) *Registry {
	t.Helper()
	r, err := Load(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func schemaNames(schemas []*Schema) string {
	var names []string
	for _, s := range schemas {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestDefaultTypes(t *testing.T) {
	r := defaultsRegistry(t)
	for _, x := range []struct{ name, schemas, facets string }{
		{"Root", "common dublincore facetedTag", "Folderish NXTag NotCollectionMember"},
		{"Folder", "common dublincore facetedTag", "Folderish NXTag"},
		{"OrderedFolder", "common dublincore facetedTag", "Folderish NXTag Orderable"},
		{"Workspace", "common dublincore facetedTag file files publishing webcontainer", "Folderish NXTag SuperSpace"},
		{"Domain", "common domain dublincore facetedTag", "Folderish NXTag SuperSpace NotCollectionMember"},
		{"TemplateRoot", "common dublincore facetedTag", "Folderish NXTag SuperSpace HiddenInCreation NotCollectionMember"},
		{"File", "common dublincore facetedTag file files relatedtext uid", "Downloadable Commentable Versionable Publishable HasRelatedText NXTag"},
		{"Note", "common dublincore facetedTag files note relatedtext uid", "Commentable Versionable Publishable HasRelatedText NXTag"},
		{"Collection", "collection common dublincore uid", "Collection NotCollectionMember Versionable"},
		{"Deck", "common deck dublincore uid", "Versionable"},
	} {
		d, ok := r.Type(x.name)
		if !ok {
			t.Errorf("no type %s", x.name)
			continue
		}
		if got := schemaNames(d.Schemas); got != x.schemas {
			t.Errorf("%s has schemas %s, want %s", x.name, got, x.schemas)
		}
		if got := strings.Join(d.Facets, " "); got != x.facets {
			t.Errorf("%s has facets %s, want %s", x.name, got, x.facets)
		}
		if d.LifeCycle == nil || d.LifeCycle.Name != "default" {
			t.Errorf("%s has life cycle %v", x.name, d.LifeCycle)
		}
	}
}

func TestUnder(t *testing.T) {
	r := defaultsRegistry(t)
	if got := strings.Join(r.Under("Collection"), " "); got != "Collection Favorites" {
		t.Errorf("under Collection: %s", got)
	}
	if got := r.Under("Nope"); got != nil {
		t.Errorf("under Nope: %v", got)
	}
	all := r.Under("Document")
	for _, d := range r.Types() {
		relation := slices.Contains(r.Under("Relation"), d.Name)
		if slices.Contains(all, d.Name) == relation {
			t.Errorf("%s below Document: %t", d.Name, !relation)
		}
	}
}

func TestSchemasOfAddsFacets(t *testing.T) {
	r := defaultsRegistry(t)
	folder, _ := r.Type("Folder")
	got := schemaNames(r.SchemasOf(folder, []string{"NXTag", "Folderish", "Unknown", "Versionable"}))
	if want := "common dublincore facetedTag uid"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(folder.Schemas) != 3 {
		t.Error("the type has changed")
	}
	f, ok := r.FieldByKey("files:files")
	if !ok || f.Sub("file").Key != "files:files/*/file" {
		t.Errorf("files:files is %+v", f)
	}
}

func TestLifeCycle(t *testing.T) {
	l, _ := defaultsRegistry(t).LifeCycle("default")
	for _, x := range []struct {
		state, transition, want string
		kind                    fault.Kind
	}{
		{"project", "approve", "approved", 0},
		{"project", "obsolete", "obsolete", 0},
		{"approved", "backToProject", "project", 0},
		{"obsolete", "delete", "deleted", 0},
		{"deleted", "undelete", "project", 0},
		{"deleted", "delete", "", fault.Conflict},
		{"approved", "approve", "", fault.Conflict},
		{"project", "fly", "", fault.Invalid},
	} {
		got, err := l.Follow(x.state, x.transition)
		if got != x.want || fault.Of(err) != x.kind {
			t.Errorf("%s from %s: %q, %v", x.transition, x.state, got, err)
		}
	}
	if got := strings.Join(l.Allowed("approved"), " "); got != "backToProject delete" {
		t.Errorf("approved allows %s", got)
	}
}

func layer(name, text string) fs.FS { return fstest.MapFS{name: {Data: []byte(text)}} }

func TestLaterLayersReplace(t *testing.T) {
	r, err := Load(Defaults(), layer("own.yaml", `
schemas:
  file: {fields: {content: blob, checked: boolean}}
  invoice:
    prefix: inv
    fields:
      total: {type: double, min: 0, required: true}
types:
  Invoice: {parent: File, schemas: [invoice]}
  Folder: {parent: Document, schemas: [dublincore], facets: [Folderish]}
`))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := r.Type("Invoice")
	if got, want := schemaNames(d.Schemas), "common dublincore facetedTag file files invoice relatedtext uid"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if f, _, err := Find(d.Schemas, path(t, "file:checked")); err != nil || f.Kind != Boolean {
		t.Errorf("got %v, %v", f, err)
	}
	if w, _ := r.Type("Workspace"); w.HasSchema("common") || !w.HasSchema("dublincore") {
		t.Errorf("Workspace has %s", schemaNames(w.Schemas))
	}
}

func TestMistakesAreReportedTogether(t *testing.T) {
	_, err := Load(layer("a.yaml", `schemas:
  one:
    prefix: x
    fields:
      a: strin
      b: {type: long, colour: red, indx: true}
      c: {type: complex}
      a: string
      d: {type: string, pattern: "("}
      e: {type: long, default: many}
      f: {type: blob, index: true}
      g: {type: string, default: zz, enum: [aa]}
  two: {prefix: x, fields: {a: string}}
facets:
  F: {schemas: [three]}
lifeCycles:
  l: {initial: nope, states: [s], transitions: {t: {to: u}}}
types:
  A: {parent: B, facets: [G], schemas: [four], lifeCycle: m}
  B: {parent: A, subTypes: [C]}
  D: {parent: E, icon: [1]}
  E2: {prefetch: ["x:f", "x:z"]}
  E3: {containers: [E2, E4]}
`), layer("b.yaml", "kinds: {}\ntypes: {A A: {}}\n"), layer("c.yaml", "types:\n\tA: {}\n"))
	want := []string{
		`a.yaml:5: field x:a: unknown type "strin", perhaps string`,
		`a.yaml:6: unknown key colour`,
		`a.yaml:6: unknown key indx, perhaps index`,
		`a.yaml:7: field x:c: complex fields, and only those, must have fields`,
		`a.yaml:8: key a: is a duplicate`,
		"a.yaml:9: field x:d: pattern: error parsing regexp: missing closing ): `^(?:()$`",
		`a.yaml:10: field x:e: default: property x:e: must be of type long, not "many"`,
		`a.yaml:11: field x:f: a blob cannot be indexed`,
		`a.yaml:12: field x:g: default: property x:g: not one of aa`,
		`a.yaml:13: schema two: prefix x is taken by schema one`,
		`a.yaml:15: facet F: unknown schema three`,
		`a.yaml:17: life cycle l: unknown initial state "nope"`,
		`a.yaml:17: life cycle l: transition t: unknown state "u"`,
		`a.yaml:19: type A: is its own ancestor`,
		`a.yaml:19: type A: unknown schema four`,
		`a.yaml:19: type A: unknown facet G`,
		`a.yaml:19: type A: unknown life cycle m`,
		`a.yaml:20: type B: unknown type C`,
		`a.yaml:21: must be a string`,
		`a.yaml:21: type D: unknown type E`,
		`a.yaml:22: type E2: unknown property x:z, perhaps x:a`,
		`a.yaml:23: type E3: unknown type E4, perhaps E2`,
		`b.yaml:1: unknown key kinds`,
		`b.yaml:2: malformed name "A A"`,
		`c.yaml:2: found character that cannot start any token; indent with spaces, not tabs, and quote a text that begins with a special character`,
	}
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("got %v", err)
	}
	got := strings.Split(err.Error(), "\n")
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("got  %s\nwant %s", g, w)
		}
	}
}

func TestMistakesOfShape(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"- a\n", "m.yaml:1: must be keys with values"},
		{"types: [a]\n", "m.yaml:1: must be keys with values"},
		{"types:\n  A:\n    facets: x\n", "m.yaml:3: must be a list"},
		{"schemas:\n  s: &s {fields: {a: string}}\n  t: *s\n", "m.yaml:3: key t: aliases are not allowed"},
		{"schemas:\n  s:\n    fields:\n      a: {type: string, maxLength: -1}\n", "m.yaml:4: must be a number of at least 0"},
		{"schemas:\n  s:\n    fields:\n      a: {type: long, min: low}\n", "m.yaml:4: must be a number"},
		{"schemas:\n  s:\n    fields:\n      a: {type: long, resolver: user}\n", "m.yaml:4: field s:a: only text fields can be references"},
		{"schemas:\n  s:\n    fields:\n      a: {type: string, required: perhaps}\n", "m.yaml:4: must be true or false"},
		{"types:\n  A: {}\n  A: {}\n", "m.yaml:3: key A: is a duplicate"},
		{"schemas: {s: {prefix: 'a b'}}\n", `m.yaml:1: schema s: malformed prefix "a b"`},
		{"schemas: {s: {fields: {a: " + strings.Repeat("{type: complex, fields: {a: ", 7) + "string" + strings.Repeat("}}", 7) + "}}}", "m.yaml:1: field s:a/a/a/a/a/a/a: nested too deeply"},
	} {
		_, err := Load(layer("m.yaml", x.text))
		if err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%s got %v\nwant %s", x.text, err, x.want)
		}
	}
	twice := fstest.MapFS{"a.yaml": {Data: []byte("types: {A: {}}")}, "b.yaml": {Data: []byte("types: {A: {}}")}}
	if _, err := Load(twice); err == nil || err.Error() != "b.yaml:1: A: already declared at a.yaml:1" {
		t.Errorf("got %v", err)
	}
}

func path(t testing.TB, xpath string) Path {
	t.Helper()
	p, err := ParsePath(xpath)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestContainers: a type says in which others it is offered, once each, behind what those say themselves.
func TestContainers(t *testing.T) {
	r, err := Load(layer("a.yaml", "types:\n  Box: {subTypes: [Pen]}\n  Pen: {containers: [Box]}\n"), layer("b.yaml", "types:\n  Ink: {containers: [Box, Ink]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Box": "Pen Ink", "Pen": "", "Ink": "Ink"} {
		d, ok := r.Type(name)
		if got := strings.Join(d.SubTypes, " "); !ok || got != want {
			t.Errorf("%s offers %q, want %q", name, got, want)
		}
	}
}
