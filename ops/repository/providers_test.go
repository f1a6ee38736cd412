package repository

import (
	"strings"
	"testing"
	"testing/fstest"

	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/schema"
)

// TestBuiltin checks the built-in providers, with every condition switched on, against the
// types that every server has.
func TestBuiltin(t *testing.T) {
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range builtin().byName {
		if p.Free {
			continue
		}
		q, err := query.Parse(p.source(orElse(p.Select, plainColumns), p.sample()))
		if err == nil {
			err = q.Check(types)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var on []quick
		for _, f := range p.Quick {
			on = append(on, f)
		}
		if _, err := p.order(on); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, want := len(p.Args), strings.Count(p.Where, "?"); got != want {
			t.Errorf("%s: %d arguments declared for %d question marks", name, got, want)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := fstest.MapFS{
		"b.yaml":    {Data: []byte("providers:\n  mine: {where: \"dc:title = ?\", pageSize: 7, count: page}\n")},
		"a.yml":     {Data: []byte("providers:\n  mine: {where: \"dc:title = 'a'\"}\n  tree_children: {from: Folder, count: 12}\n")},
		"notes.txt": {Data: []byte("not a declaration")},
		"c.yaml":    {Data: nil},
	}
	ps, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, query string
		count       countTo
	}{
		{"mine", "SELECT * FROM Document WHERE (dc:title = ?)", toPage},
		{"tree_children", "SELECT * FROM Folder", 12},
	} {
		p, err := ps.find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.source(p.Select, nil); got != c.query || p.Count != c.count {
			t.Errorf("%s: %s, count %d; want %s, count %d", c.name, got, p.Count, c.query, c.count)
		}
	}
	if p, _ := builtin().find("tree_children"); p.From != "" {
		t.Error("a folder's providers changed the built-in ones")
	}
	if _, err := ps.find("nope"); !fault.Is(err, fault.NotFound) {
		t.Errorf("nope: %v", err)
	}
	if _, err := Load(fstest.MapFS{}); err != nil {
		t.Errorf("empty folder: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"providers: {p: {where: \"dc:title =\"}}":                       "x.yaml: provider p: query: line 1",
		"providers: {p: {wehre: \"dc:title = 1\"}}":                     "x.yaml: unmarshal errors:\n  line 1: field wehre not found",
		"providers: {p: {where: \"dc:title = 'a' ORDER BY dc:title\"}}": "x.yaml: provider p: query: line 1",
		"providers: {p: {sort: [\"dc:title up\"]}}":                     "x.yaml: provider p: sort: \"dc:title up\"",
		"providers: {p: {count: all}}":                                  "x.yaml: count: ",
		"providers: {p: {arguments: [number]}}":                         "x.yaml: provider p: arguments: \"number\"",
		"providers: {p: {fields: {f: {path: \"dc:title\", op: IN}}}}":   "x.yaml: provider p: field f: ",
		"providers: {p: {pageSize: -1}}":                                "x.yaml: provider p: pageSize: ",
		"providers: {p: }":                                              "x.yaml: provider p: declares nothing",
		"providers: [":                                                  "x.yaml: ",
	} {
		_, err := Load(fstest.MapFS{"x.yaml": {Data: []byte(src)}})
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s…", src, err, want)
		}
	}
}
