package version_test

import (
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/publish"
	"catena/ops/version"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, version.Ops, document.Ops, property.Ops, publish.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "One"}}`, "/ws/a"},
		{"", "keep", "/ws/a", "", "a"},
		{"", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
	})
	return s
}

func TestNumbers(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "see", "/ws/a", "version", "0.0"},
		{"", "Document.GetLastVersion", "/ws/a", ``, ""},
		{"", "Document.GetVersions", "/ws/a", ``, ""},
		{"", "Document.CheckIn", "/ws/a", `{"version": "minor"}`, "/ws/a"},
		{"", "see", "/ws/a", "version uid:major_version uid:minor_version", "0.1 | 0 | 1"},
		{"", "Document.CheckIn", "/ws/a", `{"version": "major"}`, "/ws/a"}, // has not changed: is left alone
		{"", "see", "/ws/a", "version", "0.1"},
		{"", "Document.CheckOut", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "version", "0.1+"},
		{"", "Document.CheckOut", "/ws/a", ``, "/ws/a"}, // is checked out
		{"", "Document.CheckIn", "/ws/a", `{"version": "MAJOR", "comment": "done"}`, "/ws/a"},
		{"", "see", "/ws/a", "version", "1.0"},
		{"", "Document.Update", "/ws/a", `{"properties": {"dc:title": "Two"}}`, "/ws/a"}, // checks out
		{"", "see", "/ws/a", "version", "1.0+"},
		{"", "Document.CheckIn", "/ws/a", `{"version": "anything"}`, "/ws/a"}, // anything else is minor
		{"", "see", "/ws/a", "version", "1.1"},
		{"", "Document.CheckIn", "/ws/a", `{}`, `! invalid missing_parameter version: parameter "version" is missing`},
		{"", "Document.CheckIn", "/ws/f", `{"version": "minor"}`, "/ws/f"},
		{"", "Document.CheckIn", "/private", `{"version": "minor"}`, "! notfound: /private"},
	})
}

func TestIncrement(t *testing.T) {
	tests := []struct{ params, result, version string }{
		{`{}`, "/ws/a", "0.0"},
		{`{"increment": ""}`, "/ws/a", "0.0"},
		{`{"increment": "None"}`, "/ws/a", "0.0"},
		{`{"increment": "none"}`, "/ws/a", "0.0"},
		{`{"increment": "Minor"}`, "/ws/a", "0.1"},
		{`{"increment": " minor "}`, "/ws/a", "0.1"},
		{`{"increment": "MAJOR"}`, "/ws/a", "1.0"},
		{`{"increment": "Major", "saveDocument": false}`, "/ws/a", "0.0"},
		{`{"increment": "Patch"}`, `! invalid increment: increment "Patch": must be None, Minor or Major`, "0.0"},
		{`{"increment": "Patch", "saveDocument": false}`, `! invalid increment: increment "Patch": must be None, Minor or Major`, "0.0"},
	}
	for _, test := range tests {
		s := serve(t)
		s.Play([]opstest.Row{
			{"alice", "Document.CreateVersion", "/ws/a", test.params, test.result},
			{"", "see", "/ws/a", "version", test.version},
		})
	}
	serve(t).Play([]opstest.Row{
		{"alice", "Document.CreateVersion", "/ws/f", `{"increment": "Minor"}`, "! conflict: document /ws/f: type Folder does not support versions"},
		{"bob", "Document.CreateVersion", "/ws/a", `{"increment": "Minor"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"bob", "Document.CheckIn", "/ws/a", `{"version": "minor"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"bob", "Document.CheckOut", "/ws/a", ``, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"alice", "Document.Lock", "/ws/a", ``, "/ws/a"},
		{"admin", "Document.CreateVersion", "/ws/a", `{"increment": "Minor"}`, "/ws/a"},
		{"", "Document.CheckIn", "/ws/a", `{"version": "minor"}`, "/ws/a"},
	})
}

func TestRestore(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.CreateVersion", "/ws/a", `{"increment": "Major"}`, "/ws/a"},
		{"", "Document.GetLastVersion", "/ws/a", ``, "a"},
		{"", "keep", "", "", "v1"},
		{"", "Document.Update", "/ws/a", `{"properties": {"dc:title": "Two", "dc:source": "x"}}`, "/ws/a"},
		{"", "Document.AddPermission", "/ws/a", `{"users": ["bob"], "permission": "Write"}`, "/ws/a"},
		{"", "Document.Move", "/ws/a", `{"target": "/ws/f"}`, "/ws/f/a"},
		{"", "Document.RestoreVersion", "$a", ``, "! invalid: document: not a version"}, // is no version
		{"", "Document.RestoreVersion", "$v1", ``, "/ws/f/a"},
		{"", "see", "$a", "title dc:source version path acl", "One | null | 1.0 | /ws/f/a | bob:Write"}, // place and permissions stay
		{"", "Document.Update", "$a", `{"properties": {"dc:title": "Three"}}`, "/ws/f/a"},
		{"", "Document.RestoreVersion", "$v1", `{"createVersion": true}`, "/ws/f/a"},
		{"", "see", "$a", "title version", "One | 1.0"},
		{"", "Document.GetLastVersion", "$a", ``, "a"}, // the state before
		{"", "keep", "", "", "v2"},
		{"", "see", "$v2", "title version", "Three | 1.1"},
		{"", "Document.RestoreVersion", "$v2", `{"checkout": true}`, "/ws/f/a"},
		{"", "see", "$a", "title version", "Three | 1.1+"},
		{"", "Document.Update", "$v1", `{"properties": {"dc:title": "Never"}}`, "! conflict: document $v1: a version cannot be changed"},
		{"", "Document.Delete", "$v1", ``, ""},
		{"", "see", "$v1", "title", "! notfound: $v1"},
		{"bob", "Document.RestoreVersion", "$v2", ``, "/ws/f/a"},
		{"alice", "Document.Delete", "$a", ``, ""},
		{"", "Document.RestoreVersion", "$v2", ``, "! notfound: $v2"},
	})
}

// TestVersionsOf returns the versions oldest first, from whatever shows the document.
func TestVersionsOf(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.CreateVersion", "/ws/a", `{"increment": "Minor"}`, "/ws/a"},
		{"", "Document.Update", "/ws/a", `{"properties": {"dc:title": "Two"}}`, "/ws/a"},
		{"", "Document.CreateVersion", "/ws/a", `{"increment": "Minor"}`, "/ws/a"},
		{"", "Document.GetLastVersion", "/ws/a", ``, "a"},
		{"", "keep", "", "", "v2"},
		{"", "see", "$v2", "title version", "Two | 0.2"},
		{"", "Document.GetVersions", "/ws/a", ``, "a a"},
		{"", "Document.GetLastVersion", "$v2", ``, "a"},
		{"", "Document.GetVersions", `["/ws/a"]`, ``, "! invalid input: input: must be of type document, not list"}, // takes no list
		{"bob", "Document.GetVersions", "/ws/a", ``, "a a"},
		{"", "Document.GetVersions", "/ws/f", ``, ""},
		{"", "Proxy.GetSourceDocument", "$v2", ``, "/ws/a"},
		{"", "Proxy.GetSourceDocument", "/ws/a", ``, "/ws/a"},
	})
}
