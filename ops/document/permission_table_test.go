package document_test

import (
	"testing"

	"catena/ops/opstest"
)

func TestAddACE(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.AddACE", "/ws/a", `{"user": "bob", "permission": "Write"}`, "/ws/a"},
		{"", "see", "/ws/a", "acl", "bob:Write"},
		{"", "Document.AddACE", "/ws/a", `{"user": "bob", "permission": "Read"}`, "/ws/a"}, // replaces the entries of the document
		{"", "see", "/ws/a", "acl", "bob:Read"},
		{"", "Document.AddACE", "/ws/a", `{"user": "bob", "permission": "Read", "overwrite": false}`, "/ws/a"},
		{"", "see", "/ws/a", "acl", "bob:Read bob:Read"},
		{"", "Document.AddACE", "/ws/a", `{"user": "alice", "permission": "Everything", "overwrite": false, "acl": "mine"}`, "/ws/a"},
		{"", "see", "/ws/a", "acl", "bob:Read bob:Read alice:Everything"},
		{"", "Document.AddACE", "/ws/a", `{"user": "alice", "permission": "Everything", "acl": "inherited"}`, "! invalid: acl inherited: is derived from the ancestors' lists"},
		{"", "Document.AddACE", "/ws/a", `{"user": "bob", "permission": "Nope"}`, "! invalid permission: permission Nope: does not exist"},
		{"", "Document.AddACE", "/ws/a", `{"user": "", "permission": "Read"}`, "! invalid user: access entry: does not name a user or group"},
		{"", "Document.AddACE", "/ws/a", `{"user": "nobody", "permission": "Read"}`, "/ws/a"},
		{"", "Document.AddACE", "/ws/a", `{"user": "bob"}`, `! invalid missing_parameter permission: parameter "permission" is missing`},
		{"", "Document.AddACE", "/ws/a", `{"user": "Everyone", "permission": "Everything", "grant": false, "overwrite": false}`, "/ws/a"},
		{"", "see", "/ws/a", "acl", "! notfound: /ws/a"},
		{"bob", "Document.AddACE", "/ws/f", `{"user": "bob", "permission": "Everything"}`, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
	})
}

func TestAddPermission(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": "Write"}`, "/ws/a"},
		{"", "Document.AddPermission", "/ws/a", `{"user": "bob", "permission": "Write"}`, "/ws/a"}, // there already
		{"", "see", "/ws/a", "acl", "bob:Write"},
		{"", "Document.AddPermission", "/ws/a", `{"users": ["members", "alice"], "username": "bob", "permission": "Read"}`, "/ws/a"},
		{"", "see", "/ws/a", "acl", "bob:Write members:Read alice:Read bob:Read"},
		{"", "Document.AddPermission", "/ws/a", `{"permission": "Read"}`, "! invalid username: username: user, users or email is required"},
		{"", "Document.AddPermission", "/ws/a", `{"users": [], "permission": "Read"}`, "! invalid username: username: user, users or email is required"},
		{"", "Document.AddPermission", "/ws/a", `{"users": [""], "permission": "Read"}`, "! invalid username: user : no such user or group"},
		{"", "Document.AddPermission", "/ws/a", `{"users": [7], "permission": "Read"}`, "! invalid users: users: must be names, not 7"},
		{"", "Document.AddPermission", "/ws/a", `{"username": "nobody", "permission": "Read"}`, "! invalid username: user nobody: no such user or group"},
		{"", "Document.AddPermission", "/ws/a", `{"users": ["bob", "nobody"], "permission": "Version"}`, "! invalid username: user nobody: no such user or group"},
		{"", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": "Nope"}`, "! invalid permission: permission Nope: does not exist"},
		{"", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": ""}`, "! invalid permission: permission : does not exist"},
		{"", "Document.AddPermission", "/ws/a", `{"email": "eve@example.org", "permission": "Read"}`, "! invalid end: end: is required for a permission by email"},
		{"", "Document.AddPermission", "/ws/a", `{"email": "eve@example.org", "permission": "Read", "end": "2025-02-01T00:00:00Z"}`, "/ws/a"},
		{"", "Document.AddPermission", "/ws/a", `{"email": "not an address", "permission": "Read", "end": "2025-02-01T00:00:00Z"}`, `! invalid email: email: must be an address, not "not an address"`},
		{"", "Document.AddPermission", "/ws/a", `{"email": "Eve <eve@example.org>", "permission": "Read", "end": "2025-02-01"}`, "! invalid email: …"},
		{"", "Document.AddPermission", "/ws/a", `{"email": "eve@example.org\nBcc: x@example.org", "permission": "Read", "end": "2025-02-01"}`, "! invalid email: …"},
		{"", "see", "/ws/a", "acl", "bob:Write members:Read alice:Read bob:Read transient/eve@example.org:Read"},
		{"", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": "Read", "begin": "2025-03-01", "end": "2025-02-01"}`, "! invalid end: end: 2025-02-01T00:00:00Z is before begin"},
		{"bob", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": "Everything"}`, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
		{"", "Document.AddPermission", "/ws/f", `{"username": "bob", "permission": "Read"}`, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
	})
}

// TestTimeBound: a permission holds from its beginning to its end.
func TestTimeBound(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.BlockPermissionInheritance", "/ws/a", ``, "/ws/a"},
		{"", "Document.BlockPermissionInheritance", "/ws/f", ``, "/ws/f"},
		{"", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": "Read", "end": "2025-01-01T00:00:15Z"}`, "/ws/a"},
		{"", "Document.AddPermission", "/ws/f", `{"username": "bob", "permission": "Read", "begin": "2025-01-01T00:00:15Z"}`, "/ws/f"},
		{"bob", "see", "/ws/a", "path", "/ws/a"}, // 00:00:11
		{"", "see", "/ws/f", "path", "! notfound: /ws/f"},
		{"", "see", "/ws/a", "path", "/ws/a"},
		{"", "see", "/ws/f", "path", "! notfound: /ws/f"}, // 00:00:14
		{"", "see", "/ws/a", "path", "! notfound: /ws/a"},
		{"", "see", "/ws/f", "path", "/ws/f"},
		{"", "see", "/ws/a", "path", "! notfound: /ws/a"},
	})
}

func TestInheritance(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.BlockPermissionInheritance", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "acl", "alice:Everything administrators:Everything -Everyone:Everything"},
		{"bob", "see", "/ws/a", "path", "! notfound: /ws/a"},
		{"alice", "Document.BlockPermissionInheritance", "/ws/a", ``, "/ws/a"}, // again: nothing
		{"", "see", "/ws/a", "acl", "alice:Everything administrators:Everything -Everyone:Everything"},
		{"", "Document.AddPermission", "/ws/a", `{"username": "bob", "permission": "Read"}`, "/ws/a"},
		{"bob", "see", "/ws/a", "path", "/ws/a"}, // before the end of inheritance
		{"alice", "Document.UnblockPermissionInheritance", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "acl", "alice:Everything administrators:Everything bob:Read"},
		{"", "Document.UnblockPermissionInheritance", "/ws/a", ``, "/ws/a"},
		{"bob", "Document.BlockPermissionInheritance", "/ws/f", ``, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
		{"", "Document.UnblockPermissionInheritance", "/ws/f", ``, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
		{"alice", "Document.AddPermission", "/ws/f", `{"username": "bob", "permission": "Write", "blockInheritance": true}`, "/ws/f"},
		{"", "see", "/ws/f", "acl", "alice:Everything administrators:Everything bob:Write -Everyone:Everything"},
		{"", "Document.BlockPermissionInheritance", "/ws/f", `{"acl": "inherited"}`, "! invalid: acl inherited: is derived from the ancestors' lists"},
	})
}

func TestRemovePermission(t *testing.T) {
	s := serve(t)
	reset := []opstest.Row{
		{"alice", "Document.AddACE", "/ws/a", `{"user": "bob", "permission": "Read"}`, "/ws/a"},
		{"", "Document.AddACE", "/ws/a", `{"user": "bob", "permission": "Write", "overwrite": false}`, "/ws/a"},
		{"", "Document.AddACE", "/ws/a", `{"user": "members", "permission": "Read", "overwrite": false}`, "/ws/a"},
		{"", "Document.AddACE", "/ws/a", `{"user": "bob", "permission": "Read", "overwrite": false, "acl": "other"}`, "/ws/a"},
	}
	const all = "bob:Read bob:Write members:Read bob:Read"
	tests := []struct{ op, params, result, acl string }{
		{"RemovePermission", `{"user": "bob"}`, "/ws/a", "members:Read bob:Read"},
		{"RemovePermission", `{"user": "bob", "acl": "other"}`, "/ws/a", "bob:Read bob:Write members:Read"},
		{"RemovePermission", `{"user": "BOB"}`, "/ws/a", all},
		{"RemovePermission", `{"user": "nobody"}`, "/ws/a", all},
		{"RemovePermission", `{"id": "bob:Write:true:alice::"}`, "/ws/a", "bob:Read members:Read bob:Read"},
		{"RemovePermission", `{"id": "bob:Write"}`, "/ws/a", all}, // the creator is part of it
		{"RemovePermission", `{"id": "bob:Write:false:alice::"}`, "/ws/a", all},
		{"RemovePermission", `{"id": "bob:Write:true:bob::"}`, "/ws/a", all},
		{"RemovePermission", `{"user": "members", "id": "bob:Write:true:alice::"}`, "/ws/a", "bob:Read bob:Write bob:Read"}, // the user wins
		{"RemovePermission", `{"id": "nonsense"}`, `! invalid id: id: must be user:permission:granted:creator:begin:end, not "nonsense"`, all},
		{"RemovePermission", `{"id": ""}`, "! invalid user: user: user or id is required", all},
		{"RemovePermission", `{}`, "! invalid user: user: user or id is required", all},
		{"RemovePermission", `{"user": "bob", "acl": "inherited"}`, "! invalid: acl inherited: is derived from the ancestors' lists", all},
		{"RemoveACL", `{"acl": "local"}`, "/ws/a", "bob:Read"},
		{"RemoveACL", `{"acl": "other"}`, "/ws/a", "bob:Read bob:Write members:Read"},
		{"RemoveACL", `{"acl": "unknown"}`, "/ws/a", all},
		{"RemoveACL", `{"acl": "inherited"}`, "/ws/a", all},
		{"RemoveACL", `{}`, `! invalid missing_parameter acl: parameter "acl" is missing`, all},
		{"ReplacePermission", `{"id": "bob:Write:true:alice::", "username": "alice", "permission": "Version"}`, "/ws/a", "bob:Read alice:Version members:Read bob:Read"}, // at the same place
		{"ReplacePermission", `{"id": "bob:Write:true:bob::", "username": "alice", "permission": "Version"}`, "/ws/a", all},
		{"ReplacePermission", `{"id": "bob:Write:true:alice::", "username": "nobody", "permission": "Version"}`, "! invalid username: user nobody: no such user or group", all},
		{"ReplacePermission", `{"id": "bob:Write:true:alice::", "username": "alice", "permission": "Nope"}`, "! invalid permission: permission Nope: does not exist", all},
		{"ReplacePermission", `{"id": "nonsense", "username": "alice", "permission": "Read"}`, `! invalid id: id: must be user:permission:granted:creator:begin:end, not "nonsense"`, all},
		{"ReplacePermission", `{"id": "bob:Write:true:alice::", "permission": "Read"}`, `! invalid missing_parameter username: parameter "username" is missing`, all},
	}
	for _, test := range tests {
		s.Play(reset)
		s.Play([]opstest.Row{
			{"alice", "Document." + test.op, "/ws/a", test.params, test.result},
			{"", "see", "/ws/a", "acl", test.acl},
		})
	}
	s.Play([]opstest.Row{
		{"bob", "Document.RemovePermission", "/ws/f", `{"user": "alice"}`, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
		{"", "Document.RemoveACL", "/ws/f", `{"acl": "local"}`, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
		{"alice", "Document.AddPermission", "/ws/f", `{"username": "bob", "permission": "Read"}`, "/ws/f"},
		{"bob", "Document.ReplacePermission", "/ws/f", `{"id": "bob:Read:true:alice::", "username": "bob", "permission": "Write"}`, "! denied: Privilege 'WriteSecurity' is not granted to 'bob'"},
	})
}

func TestFetchByProperty(t *testing.T) {
	s := serve(t)
	tests := []struct{ params, want string }{
		{`{"property": "dc:title", "values": "A"}`, "/ws/a"},
		{`{"property": "dc:title", "values": ["x", "A"]}`, "/ws/a"},
		{`{"property": "dc:title", "values": "a"}`, ""},
		{`{"property": "dc:title", "values": []}`, ""},
		{`{"property": "dc:title", "values": ""}`, ""},
		{`{"property": "dc:subjects", "values": "music"}`, "/ws/a"},
		// A note has versions, which have no folder.
		{`{"property": "ecm:name", "values": "y"}`, "/ws/f/y y"},
		{`{"property": "ecm:primaryType", "values": "File", "query": "dc:title = 'A'"}`, "/ws/a"},
		{`{"property": "ecm:primaryType", "values": "Note", "query": "dc:title = 'x' OR dc:title = 'A'"}`, ""}, // within brackets
		{`{"property": "dc:title", "values": "A' OR dc:title = 'x"}`, ""},
		{`{"property": "dc:title = 'A' OR dc:title", "values": "x"}`, `! invalid property: xpath "dc:title = 'A' OR dc:title": malformed step "title = 'A' OR dc:title"`},
		{`{"property": "dc:nope", "values": "A"}`, `! invalid: query: line 1, column 30: unknown field "dc:nope"`},
		{`{"property": "dc:title", "values": "A", "query": "AND"}`, `! invalid: query: line 1, column 54: expected a condition, found "AND"`},
		{`{"property": "dc:title"}`, `! invalid missing_parameter values: parameter "values" is missing`},
		{`{"property": "dc:title", "values": "private"}`, ""},
	}
	for _, test := range tests {
		s.Play([]opstest.Row{{"bob", "Document.FetchByProperty", "", test.params, test.want}})
	}
}
