package schema

import (
	"strings"
	"testing"
	"testing/fstest"
)

// indexed declares one index on the type Card.
func indexed(index string) (*Registry, error) {
	return Load(Defaults(), fstest.MapFS{"card.yaml": {Data: []byte(`
schemas:
  card:
    fields:
      note: string
      count: long
      words: "string[]"
      file: blob
      box: {type: complex, fields: {code: string}}
      parts: {type: "complex[]", fields: {serial: string}}
types:
  Card:
    parent: File
    schemas: [card]
    indexes: [` + index + `]
`)}})
}

// TestIndexes: columns are properties, parts of complex properties, one list and a few system fields; lists are included as a whole.
func TestIndexes(t *testing.T) {
	for _, c := range []struct{ declared, want string }{
		{"[note]", "card:note"},
		{"[note, count desc]", "card:note, card:count desc"},
		{"[note asc, ecm:parentId]", "card:note, ecm:parentId"},
		{"{columns: [words, count], include: [note, words]}", "card:words, card:count; card:note, card:words"},
		{"{columns: ['parts/*/serial'], include: [box/code]}", "card:parts/*/serial; card:box/code"},
	} {
		reg, err := indexed(c.declared)
		if err != nil {
			t.Errorf("%s: %v", c.declared, err)
			continue
		}
		card, _ := reg.Type("Card")
		if got := card.Indexes; len(got) != 1 || got[0].String() != c.want {
			t.Errorf("%s: %v, want %s", c.declared, got, c.want)
		}
	}
	for _, c := range []struct{ declared, want string }{
		{"[]", "an index has 1 to 4 columns"},
		{"[note, count, words, box/code, dc:title]", "an index has 1 to 4 columns"},
		{"{columns: [note], include: [" + strings.Repeat("count, ", MaxInclude) + "words]}", "includes at most 8 fields"},
		{"[words, 'parts/*/serial']", "only one column of an index may have several values"},
		{"{columns: [note], include: ['parts/*/serial']}", "card:parts/*/serial cannot be included in an index"},
		{"{columns: [note], include: ['words/*']}", "card:words/* cannot be included in an index"},
		{"{columns: [note], include: [ecm:parentId]}", "ecm:parentId cannot be included in an index"},
		{"[note up]", `"up" must be asc or desc`},
		{"[file]", "field card:file cannot be a column"},
		{"[words/0]", "field card:words/0 cannot be a column"},
		{"[nothing]", "nothing"},
		{"note", "columns"},
	} {
		if _, err := indexed(c.declared); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "card.yaml") {
			t.Errorf("%s: %v, want %s", c.declared, err, c.want)
		}
	}
}
