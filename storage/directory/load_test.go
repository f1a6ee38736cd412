package directory

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"catena/storage/schema"
)

func load(t *testing.T, texts ...string) (*Registry, error) {
	t.Helper()
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	layers := []fstest.MapFS{}
	for _, text := range texts {
		layers = append(layers, fstest.MapFS{"m.yaml": {Data: []byte(text)}})
	}
	switch len(layers) {
	case 1:
		return Load(types, layers[0])
	default:
		return Load(types, layers[0], layers[1])
	}
}

// TestMistakes checks that errors name file and line.
func TestMistakes(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"directories:\n  a: {schema: nope}\n", `m.yaml:2: directory a: unknown schema "nope"`},
		{"directories:\n  a: {schema: vocabulary, idField: x}\n", `m.yaml:2: directory a: unknown field "x"`},
		{"directories:\n  a:\n    schema: vocabulary\n    parent: b\n", "m.yaml:4: directory a: unknown directory b"},
		{"directories:\n  a:\n    schema: vocabulary\n    indexes: [parent]\n", `m.yaml:2: directory a: unknown field "parent"`},
		{"directories:\n  a:\n    schema: vocabulary\n    color: red\n", "m.yaml:4: unknown key color"},
		{"directories:\n  a:\n    schema: vocabulary\n    entries:\n      x: {nope: 1}\n", `m.yaml:5: entry x: there is no single-valued field "nope"`},
		{"directories:\n  a:\n    schema: vocabulary\n    entries:\n      x: {obsolete: often}\n", `m.yaml:5: entry x: property vocabulary:obsolete`},
		{"directories:\n  a:\n    schema: vocabulary\n    entries:\n      x: {}\n      x: {}\n", "m.yaml:6: key x: is a duplicate"},
		{"directories:\n  a: {schema: dublincore}\n", "m.yaml:2: directory a: field subjects: a directory cannot have a field of type string[]"},
		{"directories:\n  a: {schema: vocabulary, numbered: true}\n", "m.yaml:2: directory a: field id: must be a number"},
		{"a: [", "m.yaml:1: "},
		{"things: 1\n", "m.yaml:1: unknown key things"},
	} {
		if _, err := load(t, x.text); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want %s", x.text, err, x.want)
		}
	}
}

// TestLayers checks that a later layer replaces a directory whole, and how labels are found.
func TestLayers(t *testing.T) {
	r, err := load(t,
		"directories:\n  a:\n    schema: vocabulary\n    entries:\n      x: {en: Ex, fr: Icks}\n      y: {ordering: 3, label: why}\n",
		"directories:\n  b:\n    schema: l10nxvocabulary\n    entries:\n      x: {en: Ex, fr: Icks}\n")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := r.Directory("a")
	x, _ := a.Entry("x")
	y, _ := a.Entry("y")
	if x.Values["label"] != "label.directories.a.x" || y.Values["label"] != "why" || y.Values["ordering"] != int64(3) || y.Values["obsolete"] != int64(0) {
		t.Errorf("%v %v", x, y)
	}
	for language, want := range map[string]string{"": "Ex", "fr-CH, en;q=0.5": "Icks", "de": "Ex", "*": "Ex"} {
		if got := r.Text(language, "label.directories.a.x"); got != want {
			t.Errorf("%s: %s, want %s", language, got, want)
		}
	}
	if got := r.Text("en", "why"); got != "why" {
		t.Errorf("text: %s", got)
	}
	b, _ := r.Directory("b")
	if x, _ := b.Entry("x"); x.Values["label_fr"] != "Icks" {
		t.Errorf("%v", x)
	}
	if _, ok := b.Entry("y"); ok {
		t.Error("b has y")
	}
	r, err = load(t, "directories:\n  a:\n    schema: vocabulary\n    entries:\n      x: {en: Ex}\n", "directories:\n  a: {schema: vocabulary}\n")
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := r.Directory("a"); len(a.Entries()) != 0 {
		t.Errorf("entries of an earlier layer: %v", a.Entries())
	}
}

// TestDefaults checks what a fresh server has.
func TestDefaults(t *testing.T) {
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Load(types, Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"nature": 37, "l10nsubjects": 58, "l10ncoverage": 190, "continent": 7, "country": 190, "language": 50, "subtopic": 50, "oauth2Clients": 0, "oauth2Tokens": 0} {
		d, ok := r.Directory(name)
		if !ok || len(d.Entries()) < least {
			t.Errorf("%s: missing, or too few entries", name)
			continue
		}
		if d.Parent == "" {
			continue
		}
		parents, _ := r.Directory(d.Parent)
		for _, e := range d.Entries() {
			p, _ := e.Values["parent"].(string)
			if _, ok := parents.Entry(p); p != "" && !ok {
				t.Errorf("%s: %s: no parent %s", name, e.ID, p)
			}
		}
	}
}

// TestEntryFiles reads the entries that are part of the program, which a start leaves alone.
func TestEntryFiles(t *testing.T) {
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Load(types, Defaults())
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(Defaults(), "entries/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		d, ok := r.Directory(strings.TrimSuffix(path.Base(f), ".yaml"))
		if !ok || len(d.Entries()) == 0 {
			t.Errorf("%s: has no directory, or no entries", f)
		}
	}
	if got := r.Text("fr", "label.directories.continent.asia"); got != "Asie" {
		t.Errorf("a label: %q", got)
	}
}

// TestReplacedSchema has entries of the program checked at once if their schema is not the program's.
func TestReplacedSchema(t *testing.T) {
	types, err := schema.Load(schema.Defaults(), fstest.MapFS{"s.yaml": {Data: []byte("schemas:\n  vocabulary:\n    fields: {id: string, name: string}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(types, Defaults()); err == nil || !strings.Contains(err.Error(), `entry africa: there is no single-valued field "de"`) && !strings.Contains(err.Error(), `unknown field "label"`) {
		t.Errorf("%v", err)
	}
}
