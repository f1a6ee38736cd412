package tag_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/engine"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/publish"
	"catena/ops/tag"
	"catena/ops/version"
	"catena/storage"
	"catena/storage/people"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, tag.Ops, document.Ops, version.Ops, publish.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "Note", "name": "b"}`, "/ws/b"},
	})
	return s
}

// labels is what a document's tags are called, in the order in which they were added.
func labels(list ...string) string {
	if len(list) == 0 {
		return "null"
	}
	items := make([]string, len(list))
	for i, label := range list {
		word, user, _ := strings.Cut(label, "@")
		items[i] = fmt.Sprintf(`{"label":%q,"username":%q}`, word, user)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func TestSpelling(t *testing.T) {
	s := serve(t)
	tests := []struct{ tags, want string }{
		{`""`, ""},
		{`" "`, ""},
		{`[]`, ""},
		{`[""]`, ""},
		{`"/"`, ""},
		{`"% ' / \\"`, ""},
		{`",,"`, ""},
		{`"red"`, "red"},
		{`"RED"`, "red"},
		{`" red "`, "red"},
		{`"dark red"`, "darkred"},
		{`"it's"`, "its"},
		{`"50%"`, "50"},
		{`"a/b\\\\c"`, "abc"},
		{`"red,green"`, "red green"},
		{`"red,RED, red "`, "red"},
		{`["red,green"]`, "red,green"},
		{`["b", "a", "b"]`, "b a"},
		{`["Grün", "GRÜN"]`, "grün"},
		{`["日本"]`, "日本"},
		{`["a\tb"]`, "a\tb"},
		{`["-_.:;"]`, "-_.:;"},
	}
	for _, test := range tests {
		var want []string
		for word := range strings.FieldsFuncSeq(test.want, func(r rune) bool { return r == ' ' }) {
			want = append(want, word+"@alice")
		}
		s.Play([]opstest.Row{
			{"alice", "Services.RemoveDocumentTags", "/ws/a", ``, "/ws/a"},
			{"", "Services.TagDocument", "/ws/a", fmt.Sprintf(`{"tags": %s}`, test.tags), "/ws/a"},
			{"", "see", "/ws/a", "nxtag:tags", strings.ReplaceAll(labels(want...), "\t", `\t`)},
		})
	}
}

func TestLimits(t *testing.T) {
	s := serve(t)
	list := func(n int, prefix string) string {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprintf("%s%d", prefix, i)
		}
		return `{"tags": "` + strings.Join(words, ",") + `"}`
	}
	s.Play([]opstest.Row{
		{"alice", "Services.TagDocument", "/ws/a", `{"tags": ["` + strings.Repeat("x", 200) + `"]}`, "/ws/a"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": ["` + strings.Repeat("x", 201) + `"]}`, "! limit tags: tag: 201 bytes, limit 200"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": ["` + strings.Repeat("ü", 101) + `"]}`, "! limit tags: tag: 202 bytes, limit 200"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": ["` + strings.Repeat("x ", 200) + `"]}`, "/ws/a"}, // blanks do not count
		{"", "Services.UntagDocument", "/ws/a", `{"tags": ["` + strings.Repeat("x", 201) + `"]}`, "! limit tags: tag: 201 bytes, limit 200"},
		{"", "Services.TagDocument", "/ws/b", list(500, "w"), "/ws/b"},
		{"", "Services.TagDocument", "/ws/b", list(500, "w"), "/ws/b"}, // again: none is added
		{"", "keep", "/ws/b", "", "b"},
		{"", "Services.TagDocument", "/ws/b", list(1, "more"), "! limit tags: document $b: more than 500 tags"},
		{"", "Services.UntagDocument", "/ws/b", list(1, "w"), "/ws/b"},
		{"", "Services.TagDocument", "/ws/b", list(1, "more"), "/ws/b"},
	})
}

func TestWhoMayTag(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"admin", "Document.Create", "/private", `{"type": "File", "name": "secret"}`, "/private/secret"},
		{"", "Document.BlockPermissionInheritance", "/private", ``, "/private"},
		{"bob", "Services.TagDocument", "/private/secret", `{"tags": "x"}`, "! notfound: /private/secret"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": "mine"}`, "/ws/a"},
		{"alice", "Services.TagDocument", "/ws/a", `{"tags": "hers, mine"}`, "/ws/a"}, // the first who put a tag keeps it
		{"", "see", "/ws/a", "nxtag:tags", labels("mine@bob", "hers@alice")},

		{"bob", "Services.UntagDocument", "/ws/a", `{"tags": "hers"}`, "! denied tags: tag hers: was added by another user"},
		{"", "Services.UntagDocument", "/ws/a", `{"tags": "mine, hers"}`, "! denied tags: tag hers: was added by another user"},
		{"", "see", "/ws/a", "nxtag:tags", labels("mine@bob", "hers@alice")}, // all or nothing
		{"", "Services.RemoveDocumentTags", "/ws/a", ``, "! denied: Privilege 'Write' is not granted to 'bob'"},
		{"", "Services.UntagDocument", "/ws/a", `{"tags": "MINE, other"}`, "/ws/a"},
		{"", "Services.UntagDocument", "/ws/a", `{"tags": "mine"}`, "/ws/a"},
		{"", "see", "/ws/a", "nxtag:tags", labels("hers@alice")},
		{"", "Services.TagDocument", "/ws/a", `{"tags": "mine"}`, "/ws/a"},
		{"alice", "Services.UntagDocument", "/ws/a", `{"tags": "mine"}`, "/ws/a"}, // who may write removes any
		{"", "see", "/ws/a", "nxtag:tags", labels("hers@alice")},
		{"", "Services.RemoveDocumentTags", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "nxtag:tags", labels()},
		{"", "Services.RemoveDocumentTags", `["/ws/a", "/ws/b"]`, ``, "/ws/a /ws/b"},
	})
}

func TestStatesOfTagged(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.Lock", "/ws/a", ``, "/ws/a"},
		{"bob", "Services.TagDocument", "/ws/a", `{"tags": "locked"}`, "/ws/a"}, // the lock guards changes, and this is none
		{"alice", "Document.Unlock", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "dc:modified dc:lastContributor", "2025-01-01T00:00:01Z | alice"},
		{"", "Document.CreateVersion", "/ws/a", `{"increment": "Major"}`, "/ws/a"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": "later"}`, "/ws/a"},
		{"", "see", "/ws/a", "version", "1.0"}, // still checked in
		{"", "see", "/ws/a", "nxtag:tags", labels("locked@bob", "later@alice")},
		{"", "Document.Trash", "/ws/a", ``, "/ws/a"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": "gone"}`, "/ws/a"},
		{"", "see", "/ws/a", "trashed nxtag:tags", "true | " + labels("locked@bob", "later@alice", "gone@alice")},
		{"", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
		{"", "Services.TagDocument", "/ws/f", `{"tags": "x"}`, "/ws/f"},
		{"", "see", "/ws/f", "facets nxtag:tags", "Folderish NXTag | " + labels("x@alice")},
		{"", "Services.UntagDocument", "/ws/f", `{"tags": "x"}`, "/ws/f"},
		{"", "Services.RemoveDocumentTags", "/ws/f", ``, "/ws/f"},
		{"admin", "Document.CreateLiveProxy", "/ws/b", `{"Destination Path": "/ws/f"}`, "/ws/f/b"},
		{"", "keep", "/ws/f/b", "", "p"},
		{"", "Services.TagDocument", "/ws/f/b", `{"tags": "x"}`, "! invalid: document $p: a proxy cannot be tagged"},
		{"alice", "Services.TagDocument", "", `{"tags": "x"}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"", "Services.TagDocument", "/ws/a", `{}`, `! invalid missing_parameter tags: parameter "tags" is missing`},
		{"", "Services.TagDocument", "/ws/a", `{"tags": null}`, `! invalid missing_parameter tags: parameter "tags" is missing`},
		{"", "Services.TagDocument", "/ws/a", `{"tags": 7}`, "/ws/a"},
	})
}

func TestSuggestions(t *testing.T) {
	s := serve(t)
	suggested := func(list ...string) string {
		items := make([]string, len(list))
		for i, label := range list {
			items[i] = fmt.Sprintf(`{"id":%q,"displayLabel":%[1]q}`, label)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	s.Play([]opstest.Row{
		{"alice", "Services.TagDocument", "/ws/a", `{"tags": "c,ab,aa,a,bb,grün,graph"}`, "/ws/a"},
		{"", "Tag.Suggestion", "", `{}`, suggested()},
		{"", "Tag.Suggestion", "", `{"searchTerm": ""}`, suggested()},
		{"", "Tag.Suggestion", "", `{"searchTerm": " % "}`, suggested()},
		{"", "Tag.Suggestion", "", `{"searchTerm": "a"}`, suggested("a", "aa", "ab")},
		{"", "Tag.Suggestion", "", `{"searchTerm": " A A"}`, suggested("aa")},
		{"", "Tag.Suggestion", "", `{"searchTerm": "GRÜ"}`, suggested("grün")},
		{"", "Tag.Suggestion", "", `{"searchTerm": "gr"}`, suggested("graph", "grün")},
		{"", "Tag.Suggestion", "", `{"searchTerm": "x"}`, suggested()},
		{"", "Tag.Suggestion", "", `{"searchTerm": "` + strings.Repeat("a", 201) + `"}`, "! limit searchTerm: searchTerm: tag: 201 bytes, limit 200"},
		{"bob", "Tag.Suggestion", "", `{"searchTerm": "aa", "xpath": "x"}`, suggested("aa")},

		{"", "Tag.Suggestion", "", `{"value": "x", "document": "/ws/a"}`, suggested("c", "ab", "aa", "a", "bb", "grün", "graph")},
		{"", "Tag.Suggestion", "", `{"value": "x", "document": "/ws/b"}`, suggested()},
		{"", "Tag.Suggestion", "", `{"value": "x", "document": "/ws"}`, suggested()}, // has no place for tags
		{"", "Tag.Suggestion", "", `{"value": "x", "document": "/nowhere"}`, "! notfound: /nowhere"},
		{"", "Tag.Suggestion", "", `{"value": "x"}`, ""},
		{"", "Tag.Suggestion", "", `{"document": "/ws/a"}`, suggested()},

		{"alice", "Services.UntagDocument", "/ws/a", `{"tags": "aa"}`, "/ws/a"}, // no document has it now
		{"", "Tag.Suggestion", "", `{"searchTerm": "a"}`, suggested("a", "ab")},
		{"", "Document.BlockPermissionInheritance", "/ws/a", ``, "/ws/a"},
		{"bob", "Tag.Suggestion", "", `{"searchTerm": "a"}`, suggested()}, // only on what bob may not read
		{"alice", "Services.TagDocument", "/ws/b", `{"tags": "z1,z2,z3,z4,z5,z6,z7,z8,z9,za,zb"}`, "/ws/b"},
		{"", "Tag.Suggestion", "", `{"searchTerm": "z"}`, suggested("z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9", "za")},
	})
}

// TestTagsOfOthersOfTheName: a user made again under the name of another one has no right to that one's tags.
func TestTagsOfOthersOfTheName(t *testing.T) {
	s := opstest.Serve(t, tag.Ops, document.Ops)
	anew := func() {
		s.Do("Administrator", func(c *engine.Ctx) error {
			if err := people.DeleteUser(c.Tx, "bob"); err != nil {
				return err
			}
			if err := people.SaveUser(c.Tx, &people.User{Username: "bob"}, "secret"); err != nil {
				return err
			}
			_, err := c.Tx.SetACL(s.Doc(c, "/ws"), "local", []storage.ACE{
				{User: "alice", Permission: "Everything", Granted: true}, {User: "bob", Permission: "Read", Granted: true},
			})
			return err
		})
	}
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"bob", "Services.TagDocument", "/ws/a", `{"tags": "red,blue"}`, "/ws/a"},
		{"", "Services.UntagDocument", "/ws/a", `{"tags": "blue"}`, "/ws/a"},
	})
	anew()
	s.Play([]opstest.Row{
		{"bob", "Services.UntagDocument", "/ws/a", `{"tags": "red"}`, "! denied tags: tag red: was added by another user"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": "blue"}`, "/ws/a"},
		{"", "Services.UntagDocument", "/ws/a", `{"tags": "blue"}`, "/ws/a"},
		{"", "see", "/ws/a", "nxtag:tags", labels("red@bob")},
		{"alice", "Document.Copy", "/ws/a", `{"target": "/ws", "name": "copy"}`, "/ws/copy"},
		{"bob", "Services.UntagDocument", "/ws/copy", `{"tags": "red"}`, "! denied tags: tag red: was added by another user"},
		{"alice", "Services.UntagDocument", "/ws/a", `{"tags": "red"}`, "/ws/a"}, // who may write may
		{"", "Services.RemoveDocumentTags", "/ws/copy", `{}`, "/ws/copy"},
		{"", "Document.Delete", "/ws/copy", `{}`, ""},
	})
}
