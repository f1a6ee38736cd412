package service

import (
	"strings"
	"testing"
	"testing/fstest"

	"catena/storage/fault"
)

func TestLoad(t *testing.T) {
	all, err := Load(fstest.MapFS{"mine.yaml": {Data: []byte(`actions:
  lock: {enabled: false}
  sign:
    categories: [DOCUMENT, TOOLBAR]
    link: /sign
    order: 5
    types: [File]
    label: {en: Sign, pt-BR: Assinar}
`)}})
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

func TestLoadRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"actions:\n a:\n  label: x\n  operation: Void": "x.yaml:2: action a: categories are missing\nx.yaml:3: keys with values expected",
		"actions: {a: {categories: [X]}}":              "x.yaml:1: action a: operation or link is missing",
		"actions:\n a: {filter: x}":                    "x.yaml:2: unknown key filter",
		"acts: {}":                                     "x.yaml:1: unknown key acts",
	} {
		_, err := Load(fstest.MapFS{"x.yaml": {Data: []byte(src)}})
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s…", src, err, want)
		}
	}
}
