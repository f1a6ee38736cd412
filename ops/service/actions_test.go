package service

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"catena/engine"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

func build(t *testing.T, texts ...declare.Source) (Actions, error) {
	t.Helper()
	all, wrong, err := Build(storagetest.Types(t), texts)
	return all, cmp.Or(err, declare.ErrorOf(wrong))
}

func TestBuild(t *testing.T) {
	all, err := build(t, declare.Source{Name: "mine.yaml", Text: `actions:
  lock: {enabled: false}
  sign:
    categories: [DOCUMENT, TOOLBAR]
    link: /sign
    order: 5
    types: [File]
    label: {en: Sign, pt-BR: Assinar}
`})
	if err != nil {
		t.Fatal(err)
	}
	if a := all[0]; a.id != "sign" || a.entity("pt-BR")["label"] != "Assinar" || a.entity("de")["label"] != "Sign" || a.entity("")["link"] != "/sign" {
		t.Errorf("first action: %v", a.entity("pt-BR"))
	}
	for _, a := range all {
		if a.id == "lock" {
			t.Error("an action that is not enabled is there")
		}
	}
	if got, want := len(all), len(builtin()); got != want {
		t.Errorf("%d actions, want %d", got, want)
	}
}

func TestBuildRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"actions:\n a:\n  label: x\n  operation: Void":                    "x.yaml:2: action a: categories are missing\nx.yaml:3: must be keys with values",
		"actions: {a: {categories: [X]}}":                                 "x.yaml:1: action a: operation or link is missing",
		"actions:\n a: {filter: x}":                                       "x.yaml:2: unknown key filter",
		"actions:\n a: {categories: [X], link: x,\n  types: [File, Fil]}": "x.yaml:3: action a: unknown type Fil, perhaps File",
		"actions:\n a: {categories: [X], link: x,\n  permission: Reed}":   "x.yaml:3: action a: unknown permission Reed, perhaps Read",
		"actions:\n a: {categories: [X], link: x,\n  facets: [Foldrish]}": "x.yaml:3: action a: unknown facet Foldrish, perhaps Folderish",
		"actions:\n a: {categories: [X], link: x,\n  states: [aproved]}":  "x.yaml:3: action a: unknown state aproved, perhaps approved",
		"acts: {}": "x.yaml:1: unknown key acts",
	} {
		_, err := build(t, declare.Source{Name: "x.yaml", Text: src})
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s…", src, err, want)
		}
	}
}

// TestCheck finds operations that there are not.
func TestCheck(t *testing.T) {
	set, err := engine.NewSet(Ops(Config{}))
	if err != nil {
		t.Fatal(err)
	}
	all, err := build(t, declare.Source{Name: "a.yaml", Text: "actions:\n a:\n  categories: [X]\n  operation: Actions.GTE\n b: {categories: [X], operation: Actions.GET}\n"})
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(a *action) bool { return a.at.Layer == 0 })
	err = declare.ErrorOf(all.Check(set))
	if want := "a.yaml:4: action a: unknown operation Actions.GTE, perhaps Actions.GET"; !fault.Is(err, fault.Invalid) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
