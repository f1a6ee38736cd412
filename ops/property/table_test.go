package property_test

import (
	"fmt"
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/version"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, property.Ops, document.Ops, version.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "A", "dc:subjects": "art,music,art", "dc:source": "s"}}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b", "properties": {"dc:title": "B", "dc:description": "other"}}`, "/ws/b"},
		{"", "keep", "/ws/b", "", "b"},
	})
	return s
}

// TestOne changes one property and reads it.
func TestOne(t *testing.T) {
	tests := []struct{ op, params, result, xpath, want string }{
		{"Document.SetProperty", `{"xpath": "dc:title", "value": "T"}`, "/ws/a", "dc:title", "T"},
		{"Document.SetProperty", `{"xpath": "dublincore:title", "value": "T"}`, "/ws/a", "dc:title", "T"},
		{"Document.SetProperty", `{"xpath": "dc:title", "value": "T", "save": false}`, "/ws/a", "dc:title", "A"},
		{"Document.SetProperty", `{"xpath": "dc:title", "value": ""}`, "/ws/a", "dc:title", ""},
		{"Document.SetProperty", `{"xpath": "dc:title", "value": null}`, "/ws/a", "dc:title", "null"},
		{"Document.SetProperty", `{"xpath": "dc:source"}`, "/ws/a", "dc:source", "null"},
		{"Document.SetProperty", `{"xpath": "dc:title", "value": 7}`, "/ws/a", "dc:title", "7"},
		{"Document.SetProperty", `{"xpath": "dc:title", "value": true}`, "/ws/a", "dc:title", "true"},
		{"Document.SetProperty", `{"xpath": "dc:title", "value": "日本 😀 \u0301"}`, "/ws/a", "dc:title", "日本 😀 \u0301"},
		{"Document.SetProperty", `{"xpath": "dc:expired", "value": "2030-01-02T03:04:05Z"}`, "/ws/a", "dc:expired", "2030-01-02T03:04:05Z"},
		{"Document.SetProperty", `{"xpath": "dc:expired", "value": "soon"}`, `! invalid xpath: property dc:expired: must be of type date, not "soon"`, "dc:expired", "null"},
		{"Document.SetProperty", `{"xpath": "dc:subjects", "value": "x"}`, "! invalid xpath: property dc:subjects: must be a scalar, not string[]", "dc:subjects", `["art","music","art"]`}, // a list is refused
		{"Document.SetProperty", `{"xpath": "dc:subjects/1", "value": "x"}`, "/ws/a", "dc:subjects", `["art","x","art"]`},
		{"Document.SetProperty", `{"xpath": "file:content", "value": "x"}`, "! invalid xpath: property file:content: must be a scalar, not blob", "file:content", "null"},
		{"Document.SetProperty", `{"xpath": "dc:nope", "value": "x"}`, `! invalid xpath: xpath "dc:nope": no such property`, "dc:title", "A"},
		{"Document.SetProperty", `{"xpath": "", "value": "x"}`, `! invalid: xpath "": empty`, "dc:title", "A"},
		{"Document.SetProperty", `{"value": "x"}`, `! invalid missing_parameter xpath: parameter "xpath" is missing`, "dc:title", "A"},
		{"Document.SetProperty", `{"xpath": "uid:major_version", "value": "x"}`, `! invalid xpath: property uid:major_version: must be of type long, not "x"`, "uid:major_version", "0"},

		{"Document.RemoveProperty", `{"xpath": "dc:source"}`, "/ws/a", "dc:source", "null"},
		{"Document.RemoveProperty", `{"xpath": "dc:subjects"}`, "/ws/a", "dc:subjects", "null"},
		{"Document.RemoveProperty", `{"xpath": "dc:subjects/1"}`, "/ws/a", "dc:subjects", `["art","art"]`},
		{"Document.RemoveProperty", `{"xpath": "dc:subjects/3"}`, `! invalid xpath: xpath "dc:subjects/3": position 3 is outside a list of 3`, "dc:subjects", `["art","music","art"]`},
		{"Document.RemoveProperty", `{"xpath": "dc:subjects/-1"}`, `! invalid xpath: xpath "dc:subjects/-1": malformed step "-1"`, "dc:subjects", `["art","music","art"]`},
		{"Document.RemoveProperty", `{"xpath": "dc:source", "save": false}`, "/ws/a", "dc:source", "s"},
		{"Document.RemoveProperty", `{"xpath": "dc:nope"}`, `! invalid xpath: xpath "dc:nope": no such property`, "dc:source", "s"},

		{"Document.RemoveEntryOfMultivaluedProperty", `{"xpath": "dc:subjects", "value": "art"}`, "/ws/a", "dc:subjects", `["music"]`},
		{"Document.RemoveEntryOfMultivaluedProperty", `{"xpath": "dc:subjects", "value": "art", "is Remove All": false}`, "/ws/a", "dc:subjects", `["music","art"]`},
		{"Document.RemoveEntryOfMultivaluedProperty", `{"xpath": "dc:subjects", "value": "Art"}`, "/ws/a", "dc:subjects", `["art","music","art"]`},
		{"Document.RemoveEntryOfMultivaluedProperty", `{"xpath": "dc:subjects", "value": null}`, `! invalid missing_parameter value: parameter "value" is missing`, "dc:subjects", `["art","music","art"]`},
		{"Document.RemoveEntryOfMultivaluedProperty", `{"xpath": "dc:title", "value": "A"}`, "! invalid xpath: property dc:title: must be a list of scalars, not string", "dc:title", "A"},
		{"Document.RemoveEntryOfMultivaluedProperty", `{"xpath": "dc:contributors", "value": "nobody"}`, "/ws/a", "dc:contributors", `["alice"]`},

		{"DocumentMultivaluedProperty.addItem", `{"xpath": "dc:subjects", "value": "x"}`, "/ws/a", "dc:subjects", `["art","music","art","x"]`},
		{"DocumentMultivaluedProperty.addItem", `{"xpath": "dc:subjects", "value": "music"}`, "/ws/a", "dc:subjects", `["art","music","art"]`},
		{"DocumentMultivaluedProperty.addItem", `{"xpath": "dc:subjects", "value": "music", "checkExists": false}`, "/ws/a", "dc:subjects", `["art","music","art","music"]`},
		{"DocumentMultivaluedProperty.addItem", `{"xpath": "dc:subjects", "value": 7}`, "/ws/a", "dc:subjects", `["art","music","art","7"]`},
		{"DocumentMultivaluedProperty.addItem", `{"xpath": "dc:title", "value": "x"}`, "! invalid xpath: property dc:title: must be a list, not string", "dc:title", "A"},
		{"DocumentMultivaluedProperty.addItem", `{"xpath": "files:files", "value": "x"}`, "! invalid xpath: property files:files: must be a list of scalars, not complex[]", "files:files", "null"},

		{"Document.RemoveItemFromListProperty", `{"xpath": "dc:subjects", "index": 0}`, "/ws/a", "dc:subjects", `["music","art"]`},
		{"Document.RemoveItemFromListProperty", `{"xpath": "dc:subjects", "index": 3}`, "! invalid index: property dc:subjects: has no item 3 of 3", "dc:subjects", `["art","music","art"]`},
		{"Document.RemoveItemFromListProperty", `{"xpath": "dc:subjects", "index": -1}`, "! invalid index: property dc:subjects: has no item -1 of 3", "dc:subjects", `["art","music","art"]`},
		{"Document.RemoveItemFromListProperty", `{"xpath": "dc:subjects"}`, "/ws/a", "dc:subjects", "null"},
		{"Document.RemoveItemFromListProperty", `{"xpath": "dc:title", "index": 0}`, "! invalid xpath: property dc:title: must be a list, not string", "dc:title", "A"},
	}
	for _, test := range tests {
		t.Run(test.op+" "+test.params, func(t *testing.T) {
			serve(t).Play([]opstest.Row{
				{"alice", test.op, "/ws/a", test.params, test.result},
				{"", "see", "/ws/a", test.xpath, test.want},
			})
		})
	}
}

func TestSchemas(t *testing.T) {
	tests := []struct{ op, params, result, xpaths, want string }{
		{"Document.CopySchema", `{"schema": "dublincore", "sourcePath": "/ws/b"}`, "/ws/a", "dc:title dc:description dc:source", "B | other | null"},
		{"Document.CopySchema", `{"schema": "dublincore", "sourceId": "$b"}`, "/ws/a", "dc:title", "B"},
		{"Document.CopySchema", `{"schema": "dublincore", "sourcePath": "/ws/b", "saveDocument": false}`, "/ws/a", "dc:title", "A"},
		{"Document.CopySchema", `{"schema": "dublincore", "sourcePath": "/ws/b", "save": false}`, "/ws/a", "dc:title", "A"},
		{"Document.CopySchema", `{"schema": "nope", "sourcePath": "/ws/b"}`, "! invalid schema: schema nope: does not exist, perhaps note", "dc:title", "A"},
		{"Document.CopySchema", `{"schema": "note", "sourcePath": "/ws/b"}`, "! invalid schema: schema note: document /ws/b does not have it", "dc:title", "A"},
		{"Document.CopySchema", `{"schema": "dublincore"}`, "! invalid sourceId: sourceId, sourcePath: exactly one of them is required", "dc:title", "A"},
		{"Document.CopySchema", `{"schema": "dublincore", "sourcePath": "/nowhere"}`, "! notfound: /nowhere", "dc:title", "A"},
		{"Document.CopySchema", `{"schema": "dublincore", "sourcePath": "/private"}`, "! notfound: /private", "dc:title", "A"},
		{"Document.ResetSchema", `{"schema": "dublincore"}`, "/ws/a", "dc:title dc:subjects dc:source", "null | null | null"},
		{"Document.ResetSchema", `{"xpath": "dc:source"}`, "/ws/a", "dc:title dc:source", "A | null"},
		{"Document.ResetSchema", `{"schema": "dublincore", "xpath": "dc:source"}`, "/ws/a", "dc:title dc:source", "A | null"},
		{"Document.ResetSchema", `{"schema": "dublincore", "saveDocument": false}`, "/ws/a", "dc:title", "A"},
		{"Document.ResetSchema", `{"schema": "nope"}`, "! invalid schema: schema nope: does not exist, perhaps note", "dc:title", "A"},
		{"Document.ResetSchema", `{"xpath": "dc:nope"}`, `! invalid xpath: xpath "dc:nope": no such property`, "dc:title", "A"},
		{"Document.ResetSchema", `{}`, "! invalid schema: schema, xpath: one of them is required", "dc:title", "A"},
		{"Document.AddFacet", `{"facet": "HiddenInNavigation"}`, "/ws/a", "facets", "Downloadable Commentable Versionable Publishable HasRelatedText NXTag HiddenInNavigation"},
		{"Document.AddFacet", `{"facet": "Nope"}`, "! invalid facet: facet Nope: does not exist", "dc:title", "A"},
		{"Document.AddFacet", `{"facet": ""}`, "! invalid facet: facet : does not exist", "dc:title", "A"},
		{"Document.AddFacet", `{"facet": "Folderish"}`, "/ws/a", "facets", "Downloadable Commentable Versionable Publishable HasRelatedText NXTag Folderish"},
		{"Document.RemoveFacet", `{"facet": "Versionable"}`, "/ws/a", "facets", "Downloadable Commentable Versionable Publishable HasRelatedText NXTag"},
		{"Document.RemoveFacet", `{"facet": "Nope"}`, "/ws/a", "dc:title", "A"},
		{"Document.RemoveFacet", `{}`, `! invalid missing_parameter facet: parameter "facet" is missing`, "dc:title", "A"},
	}
	for _, test := range tests {
		t.Run(test.op+" "+test.params, func(t *testing.T) {
			serve(t).Play([]opstest.Row{
				{"alice", test.op, "/ws/a", test.params, test.result},
				{"", "see", "/ws/a", test.xpaths, test.want},
			})
		})
	}
}

func TestItems(t *testing.T) {
	s := serve(t)
	add := func(xpath, items string) string {
		return fmt.Sprintf(`{"xpath": %q, "complexJsonProperties": %q}`, xpath, items)
	}
	s.Play([]opstest.Row{
		{"alice", "Document.AddFacet", "/ws/a", `{"facet": "NXTag"}`, "/ws/a"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("nxtag:tags", `[{"label": "x", "username": "alice"}]`), "/ws/a"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("nxtag:tags", `{"label": "y"}`), "/ws/a"}, // one object
		{"", "see", "/ws/a", "nxtag:tags", `[{"label":"x","username":"alice"},{"label":"y"}]`},
		{"", "Document.AddItemToListProperty", "/ws/a", add("nxtag:tags", `[]`), "/ws/a"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("nxtag:tags", `[{"nope": 1}]`), "! invalid xpath: property nxtag:tags/2/nope: no such property"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("nxtag:tags", `nonsense`), "! invalid complexJsonProperties: complexJsonProperties: not JSON: invalid character 'o' in literal null (expecting 'u')"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("nxtag:tags", ``), "! invalid complexJsonProperties: complexJsonProperties: not JSON: unexpected end of JSON input"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("nxtag:tags", `7`), "! invalid xpath: property nxtag:tags/2: must be of type complex, not 7"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("dc:title", `[{}]`), "! invalid xpath: property dc:title: must be a list, not string"},
		{"", "Document.AddItemToListProperty", "/ws/a", add("dc:nope", `[{}]`), `! invalid xpath: xpath "dc:nope": no such property`},
		{"", "Document.RemoveItemFromListProperty", "/ws/a", `{"xpath": "nxtag:tags", "index": 0}`, "/ws/a"},
		{"", "see", "/ws/a", "nxtag:tags", `[{"label":"y"}]`},
		{"", "Document.RemoveItemFromListProperty", "/ws/a", `{"xpath": "nxtag:tags"}`, "/ws/a"}, // all of them
		{"", "see", "/ws/a", "nxtag:tags", "null"},
	})
}

// TestFiles: what is read is what was stored, wherever a document keeps it.
func TestFiles(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.GetBlob", "/ws/a", ``, ""}, // never null
		{"", "Document.GetBlobs", "/ws/a", ``, ""},
		{"", "Document.GetBlobsByProperty", "/ws/a", ``, ""},
		{"", "Document.GetBlob", "/ws/a", `{"xpath": "dc:nope"}`, `! invalid xpath: xpath "dc:nope": no such property`},
		{"", "Document.GetBlob", "/ws/a", `{"xpath": "dc:title"}`, "! invalid xpath: property dc:title: not a file"},
		{"", "Document.SetBlobName", "/ws/a", `{"name": "b.txt"}`, "/ws/a"}, // no file: nothing changes
		{"", "see", "/ws/a", "file:content", "null"},
		{"", "Document.SetBlob", "/ws/a", `{"file": {"name": "a.txt", "mime-type": "text/plain", "data": "Hello"}}`, "/ws/a"},
		{"", "Document.SetBlob", "/ws/a", `{}`, `! invalid missing_parameter file: parameter "file" is missing`},
		{"", "Document.SetBlob", "/ws/a", `{"file": null}`, `! invalid missing_parameter file: parameter "file" is missing`},
		{"bob", "Document.SetBlobName", "/ws/a", `{"name": "b.txt"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Document.GetBlob", "/private", ``, "! notfound: /private"},
	})
}

func TestWhoMayChange(t *testing.T) {
	s := serve(t)
	for _, op := range []struct{ name, params string }{
		{"Document.SetProperty", `{"xpath": "dc:title", "value": "His"}`},
		{"Document.RemoveProperty", `{"xpath": "dc:source"}`},
		{"Document.RemoveEntryOfMultivaluedProperty", `{"xpath": "dc:subjects", "value": "art"}`},
		{"DocumentMultivaluedProperty.addItem", `{"xpath": "dc:subjects", "value": "x"}`},
		{"Document.CopySchema", `{"schema": "dublincore", "sourcePath": "/ws/b"}`},
		{"Document.ResetSchema", `{"schema": "dublincore"}`},
		{"Document.AddFacet", `{"facet": "NXTag"}`},
		{"Document.RemoveFacet", `{"facet": "Commentable"}`},
	} {
		s.Play([]opstest.Row{
			{"bob", op.name, "/ws/a", op.params, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
			{"", "see", "/ws/a", "dc:title dc:source dc:subjects", `A | s | ["art","music","art"]`},
		})
	}
	s.Play([]opstest.Row{
		{"alice", "Document.Lock", "/ws/a", ``, "/ws/a"},
		{"", "Document.AddPermission", "/ws", `{"username": "bob", "permission": "Write"}`, "/ws"},
		{"bob", "Document.SetProperty", "/ws/a", `{"xpath": "dc:title", "value": "His"}`, "! denied locked: document …: locked by alice"},
		{"", "Document.SetProperty", "/ws/b", `{"xpath": "dc:title", "value": "His"}`, "/ws/b"},
		{"", "see", "/ws/b", "title dc:lastContributor dc:contributors", `His | bob | ["alice","bob"]`},
	})
}
