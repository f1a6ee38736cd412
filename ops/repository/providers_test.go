package repository

import (
	"cmp"
	"strings"
	"testing"

	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

func buildFrom(t *testing.T, texts ...declare.Source) (*Providers, error) {
	t.Helper()
	all, wrong, err := Build(storagetest.Types(t), texts)
	return all, cmp.Or(err, declare.ErrorOf(wrong))
}

// TestBuiltin checks the built-in providers against the types that every server has.
func TestBuiltin(t *testing.T) {
	all, err := buildFrom(t)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range all.byName {
		if got, want := len(p.Args), strings.Count(p.Where, "?"); got != want {
			t.Errorf("%s: %d arguments declared for %d question marks", name, got, want)
		}
	}
}

func TestLoad(t *testing.T) {
	all, err := buildFrom(t,
		declare.Source{Name: "a.yml", Text: "providers:\n  tree_children: {from: Folder, count: 12}\n"},
		declare.Source{Name: "b.yaml", Text: "providers:\n  mine: {where: \"dc:title = ?\", pageSize: 7, count: page}\n"},
		declare.Source{Name: "c.yaml"},
	)
	if err != nil {
		t.Fatal(err)
	}
	ps := providers(func() *Providers { return all })
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
	if p, _ := providers(builtin).find("tree_children"); p.From != "" {
		t.Error("texts changed the built-in ones")
	}
	if _, err := ps.find("nope"); !fault.Is(err, fault.NotFound) {
		t.Errorf("nope: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"providers:\n p: {where: \"dc:title =\"}":                                  "x.yaml:2: provider p: query: line 1",
		"providers: {p: {wehre: \"dc:title = 1\"}}":                                "x.yaml:1: unknown key wehre",
		"providers: {p: {where: \"dc:title = 'a' ORDER BY dc:title\"}}":            "x.yaml:1: provider p: query: line 1",
		"providers: {p: {sort: [\"dc:title up\"]}}":                                "x.yaml:1: provider p: sort: \"dc:title up\"",
		"providers:\n p:\n  count: all":                                            "x.yaml:3: count: ",
		"providers: {p: {arguments: [number]}}":                                    "x.yaml:1: provider p: arguments: \"number\"",
		"providers: {p: {fields: {f: {path: \"dc:title\", op: IN}}}}":              "x.yaml:1: provider p: field f: ",
		"providers: {p: {pageSize: -1}}":                                           "x.yaml:1: must be a number of at least 0",
		"providers:\n p: {free: true}\n p: {free: true}":                           "x.yaml:3: key p: is a duplicate",
		"providers: {p: }":                                                         "x.yaml:1: provider p: the declaration is empty",
		"providers:\n p:\n  where: \"dc:titel = ?\"":                               "x.yaml:3: provider p: where: unknown field \"dc:titel\", perhaps dc:title",
		"providers:\n p: {from: Fil}":                                              "x.yaml:2: provider p: from: unknown document type \"Fil\", perhaps File",
		"providers:\n p:\n  select: \"dc:titel\"":                                  "x.yaml:3: provider p: select: unknown field \"dc:titel\"",
		"providers:\n p:\n  pageSize: 1\n  sort: [\"dc:modifed desc\"]":            "x.yaml:4: provider p: sort: unknown field \"dc:modifed\", perhaps dc:modified",
		"providers:\n p:\n  fields:\n   f: {path: \"dc:titel\"}":                   "x.yaml:4: provider p: field f: unknown field \"dc:titel\"",
		"providers:\n p:\n  fields:\n   f: {path: \"dc:created\", op: LIKE}":       "x.yaml:4: provider p: field f: LIKE requires text",
		"providers:\n p:\n  aggregates:\n   a: {field: \"dc:natur\", type: terms}": "x.yaml:4: provider p: aggregate a: unknown field \"dc:natur\", perhaps dc:nature",
		"providers:\n p:\n  quickFilters:\n   q: {where: \"x:y = 1\"}":             "x.yaml:4: provider p: quick filter q: unknown field \"x:y\"",
		"providers:\n p:\n  where: \"a:b = 1\"\n  from: Fil":                       "x.yaml:3: provider p: where: unknown field \"a:b\"\nx.yaml:4: provider p: from: ",
		"providers: [": "x.yaml:1: ",
	} {
		_, err := buildFrom(t, declare.Source{Name: "x.yaml", Text: src})
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s…", src, err, want)
		}
	}
}
