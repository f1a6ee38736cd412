package document_test

import (
	"fmt"
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/publish"
	"catena/ops/version"
)

// serve has a folder /ws/f with a file and a note in it, and a file /ws/a.
func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, document.Ops, property.Ops, publish.Ops, version.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
		{"", "Document.Create", "/ws/f", `{"type": "File", "name": "x"}`, "/ws/f/x"},
		{"", "Document.Create", "/ws/f", `{"type": "Note", "name": "y"}`, "/ws/f/y"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "A", "dc:subjects": "art,music"}}`, "/ws/a"},
		{"", "keep", "/ws/f", "", "f"},
		{"", "keep", "/ws/a", "", "a"},
	})
	return s
}

func TestCreate(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File"}`, "/ws/Untitled"},
		{"", "see", "/ws/Untitled", "type title state dc:creator dc:created", "File | Untitled | project | alice | 2025-01-01T00:00:07Z"},
		{"", "Document.Create", "/ws", `{"type": "File"}`, "/ws/Untitled.1735689609000"}, // the name is taken: a number is appended
		{"", "Document.Create", "/ws", `{"type": "File", "name": ""}`, "/ws/Untitled.1735689610000"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "a/b"}`, "/ws/a-b"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": ".."}`, `! invalid name: name "..": is not allowed`},
		{"", "Document.Create", "/ws", `{"type": "File", "name": " "}`, "/ws/Untitled.1735689613000"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "日本 ü😀"}`, "/ws/日本 ü😀"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "p", "properties": {"dc:title": "T", "dc:subjects": "a\\,b,c", "dc:expired": "2030-01-02"}}`, "/ws/p"},
		{"", "see", "/ws/p", "title dc:subjects dc:expired", `T | ["a,b","c"] | 2030-01-02T00:00:00Z`},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "q", "properties": "dc:title=From lines\ndc:description=two"}`, "/ws/q"},
		{"", "see", "/ws/q", "title dc:description", "From lines | two"},
		{"", "Document.Create", "/ws", `{"type": "Nope"}`, "! invalid type: Type: Nope does not exist, perhaps Note"},
		{"", "Document.Create", "/ws", `{"type": ""}`, "! invalid type: Type:  does not exist"},
		{"", "Document.Create", "/ws", `{"type": null}`, `! invalid missing_parameter type: parameter "type" is missing`},
		{"", "Document.Create", "/ws", `{"type": "File", "properties": {"dc:nope": "x"}}`, `! invalid dc:nope: xpath "dc:nope": no such property`},
		{"", "Document.Create", "/ws", `{"type": "File", "properties": {"dc:expired": "never"}}`, `! invalid dc:expired: property dc:expired: must be of type date, not "never"`},
		{"", "Document.Create", "/ws", `{"type": "File", "properties": {"ecm:uuid": "x"}}`, `! invalid ecm:uuid: xpath "ecm:uuid": no such property`},
		{"", "Document.Create", `["/ws", "/ws/f"]`, `{"type": "Note", "name": "each"}`, "/ws/each /ws/f/each"},
		{"", "Document.Create", "/ws/a", `{"type": "File", "name": "child"}`, "/ws/a/child"}, // in a file
		{"", "Document.Create", "", `{"type": "File"}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"bob", "Document.Create", "/ws", `{"type": "File", "name": "his"}`, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"", "Document.Create", "/private", `{"type": "File"}`, "! notfound: /private"},
	})
}

func TestCopy(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.Lock", "/ws/a", ``, "/ws/a"},
		{"", "Document.Copy", "/ws/a", `{"target": "/ws/f"}`, "/ws/f/a"},
		{"", "see", "/ws/f/a", "title dc:subjects locked dc:creator", `A | ["art","music"] |  | alice`}, // locks are not copied
		{"", "Document.Copy", "/ws/a", `{"target": "/ws/f"}`, "/ws/f/a.1735689610000"},                  // the name is taken
		{"", "Document.Copy", "/ws/a", `{"target": "$f", "name": "b"}`, "/ws/f/b"},
		{"", "Document.Copy", "/ws/a", `{"target": "./../f", "name": "c"}`, "/ws/f/c"},
		{"", "Document.Copy", "/ws/a", `{"target": "/ws/f", "name": ""}`, "/ws/f/a.1735689613000"},
		{"", "Document.Copy", "/ws/f", `{"target": "/ws", "name": "g"}`, "/ws/g"},
		{"", "see", "/ws/g", "children", "x y a a.1735689610000 b c a.1735689613000"},                                        // with all below it
		{"", "Document.Copy", "/ws/f", `{"target": "/ws/f"}`, "! conflict: document /ws/f: cannot copy a node under itself"}, // below itself
		{"", "Document.Copy", "/ws/f", `{"target": "/ws/f/x"}`, "! conflict: document /ws/f: cannot copy a node under itself"},
		{"", "Document.Copy", `["/ws/f/x", "/ws/f/y"]`, `{"target": "/ws"}`, "/ws/x /ws/y"},
		{"", "Document.Copy", "/ws/a", `{"target": "/nowhere"}`, "! notfound: /nowhere"},
		{"", "Document.Copy", "/ws/a", `{"target": "/private"}`, "! notfound: /private"},
		{"", "Document.Copy", "/ws/a", `{}`, `! invalid missing_parameter target: parameter "target" is missing`},
		{"bob", "Document.Copy", "/ws/a", `{"target": "/ws/f"}`, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"alice", "Document.FollowLifecycleTransition", "/ws/x", `{"value": "approve"}`, "/ws/x"},
		{"", "Document.Copy", "/ws/x", `{"target": "/ws", "name": "approved"}`, "/ws/approved"},
		{"", "see", "/ws/approved", "state", "approved"}, // the state is kept
	})
}

func TestMove(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.Move", "/ws/a", `{"target": "/ws/f"}`, "/ws/f/a"},
		{"", "see", "$a", "path title dc:subjects", `/ws/f/a | A | ["art","music"]`},
		{"", "see", "/ws/a", "path", "! notfound: /ws/a"},
		{"", "Document.Move", "$a", `{"target": "/ws/f", "name": "renamed"}`, "/ws/f/renamed"},
		{"", "Document.Move", "$a", `{"target": "/ws/f", "name": "x"}`, "/ws/f/x.1735689611000"}, // the name is taken
		{"", "Document.Move", "$a", `{"target": "..", "name": "a"}`, "/ws/f/a"},
		{"", "Document.Move", "/ws/f", `{"target": "/ws/f"}`, "! conflict: document /ws/f: cannot move a node under itself"}, // below itself
		{"", "Document.Move", "/ws/f", `{"target": "/ws/f/x"}`, "! conflict: document /ws/f: cannot move a node under itself"},
		{"", "Document.Move", "/ws", `{"target": "/private"}`, "! notfound: /private"},
		{"", "Document.Move", "/ws/a", `{"name": "b"}`, "! notfound: /ws/a"},
		{"bob", "Document.Move", "/ws/f/x", `{"target": "/ws"}`, "! denied: Privilege 'Remove' is not granted to 'bob'"},
		{"alice", "Document.Lock", "/ws/f/x", ``, "/ws/f/x"},
		{"", "Document.AddPermission", "/ws", `{"users": ["bob"], "permission": "Write"}`, "/ws"},
		{"bob", "Document.Move", "/ws/f/x", `{"target": "/ws"}`, "! denied locked: document …: locked by alice"}, // somebody else's lock
		{"", "Document.Move", "/ws/f/y", `{"target": "/ws"}`, "/ws/y"},
	})
}

func TestDelete(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Document.Delete", "/ws/a", ``, "! denied: Privilege 'Remove' is not granted to 'bob'"},
		{"alice", "Document.Delete", "/ws/a", ``, ""},
		{"", "Document.Delete", "/ws/a", ``, "! notfound: /ws/a"},
		{"", "Document.Delete", `["/ws/f/x", "/ws/f/y"]`, ``, ""},
		{"", "see", "/ws/f", "children", ""},
		{"", "Document.Create", "/ws/f", `{"type": "File", "name": "z"}`, "/ws/f/z"},
		{"", "Document.Delete", "/ws/f", ``, ""}, // with all below it
		{"", "see", "/ws/f/z", "path", "! notfound: /ws/f/z"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "locked"}`, "/ws/locked"},
		{"", "Document.Lock", "/ws/locked", ``, "/ws/locked"},
		{"", "Document.AddPermission", "/ws", `{"users": ["bob"], "permission": "Everything"}`, "/ws"},
		{"bob", "Document.Delete", "/ws/locked", ``, "! denied locked: document …: locked by alice"},
		{"admin", "Document.Delete", "/", ``, "! conflict: document /: the root cannot be removed"},
	})
}

func TestNavigate(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Document.GetParent", "/ws/f/x", ``, "/ws/f"},
		{"", "Document.GetParent", "/ws/f/x", `{"type": "Workspace"}`, "/ws"},
		{"", "Document.GetParent", "/ws/f/x", `{"type": "Folder"}`, "/ws/f"},
		{"", "Document.GetParent", "/ws/f/x", `{"type": "Domain"}`, ""},
		{"", "Document.GetParent", "/ws/f/x", `{"type": ""}`, "/ws/f"},
		{"", "Document.GetParent", "/", ``, ""},
		{"", "Document.GetParent", `["/ws/f/x", "/ws/a"]`, ``, "/ws/f /ws"},
		{"", "Document.GetChildren", "/ws/f", ``, "/ws/f/x /ws/f/y"},
		{"", "Document.GetChildren", "/ws/a", ``, ""},
		{"", "Document.GetChildren", `["/ws/f", "/ws/a", "/ws/f"]`, ``, "/ws/f/x /ws/f/y /ws/f/x /ws/f/y"},
		{"", "Document.GetChildren", "", ``, "! invalid input: input: is missing, must be of type document or documents"},
		{"", "Document.GetChild", "/ws/f", `{"name": "x"}`, "/ws/f/x"},
		{"", "Document.GetChild", "/ws/f", `{"name": "X"}`, "! notfound: /ws/f/X"},
		{"", "Document.GetChild", "/ws/f", `{"name": ""}`, "! notfound: /ws/f/"},
		{"", "Document.GetChild", "/ws", `{"name": "f/x"}`, "! notfound: /ws/f/x"},
		{"", "Document.GetChild", "/ws/f", `{"name": ".."}`, "! notfound: /ws/f/.."},
		{"", "Document.GetChild", "/ws/f", `{}`, `! invalid missing_parameter name: parameter "name" is missing`},
		{"", "Document.GetChild", "/", `{"name": "private"}`, "! notfound: /private"},
		{"alice", "Document.Trash", "/ws/f/x", ``, "/ws/f/x"},
		{"", "Document.GetChildren", "/ws/f", ``, "/ws/f/x /ws/f/y"}, // trashed ones too
		{"", "Document.BlockPermissionInheritance", "/ws/f/y", ``, "/ws/f/y"},
		{"bob", "Document.GetChildren", "/ws/f", ``, "/ws/f/x"},
		{"", "Document.GetChild", "/ws/f", `{"name": "y"}`, "! notfound: /ws/f/y"},
	})
}

func TestLocks(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Document.Lock", "/ws/a", ``, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"alice", "Document.Lock", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "locked", "alice"},
		{"", "Document.Lock", "/ws/a", ``, "/ws/a"}, // also by the same user
		{"", "Document.Update", "/ws/a", `{"properties": {"dc:title": "Mine"}}`, "/ws/a"},
		{"", "Document.AddPermission", "/ws", `{"users": ["bob"], "permission": "Write"}`, "/ws"},
		{"bob", "Document.Lock", "/ws/a", ``, "! conflict: Document already locked by alice: $a"},
		{"", "Document.Update", "/ws/a", `{"properties": {"dc:title": "His"}}`, "! denied locked: document $a: locked by alice"},
		{"", "Document.Unlock", "/ws/a", ``, "! conflict: Document already locked by alice: $a"},
		{"", "see", "/ws/a", "title locked", "Mine | alice"},
		{"admin", "Document.Unlock", "/ws/a", ``, "/ws/a"},
		{"", "Document.Unlock", "/ws/a", ``, "/ws/a"}, // no lock, no error
		{"bob", "Document.Lock", `["/ws/a", "/ws/f/x"]`, ``, "/ws/a /ws/f/x"},
		{"", "see", "/ws/f/x", "locked", "bob"},
		{"alice", "Document.Unlock", "/ws/a", ``, "/ws/a"}, // may do everything there
	})
}

func TestTransitions(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "approve"}`, "/ws/a"},
		{"", "see", "/ws/a", "state", "approved"},
		{"", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "approve"}`, "! conflict: document /ws/a: transition approve is not allowed in state approved"},
		{"", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "nope"}`, "! conflict: document /ws/a: transition nope is not allowed in state approved"},
		{"", "Document.FollowLifecycleTransition", "/ws/a", `{"value": ""}`, "! conflict: document /ws/a: transition  is not allowed in state approved"},
		{"", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "backToProject"}`, "/ws/a"},
		{"", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "delete"}`, "/ws/a"}, // the trash
		{"", "see", "/ws/a", "state trashed", "project | true"},
		{"", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "undelete"}`, "/ws/a"},
		{"", "see", "/ws/a", "state trashed", "project | false"},
		{"bob", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "approve"}`, "! denied: Privilege 'WriteLifeCycle' is not granted to 'bob'"},
		{"alice", "Document.CreateVersion", "/ws/a", `{"increment": "Minor"}`, "/ws/a"},
		{"", "Document.FollowLifecycleTransition", "/ws/a", `{"value": "approve"}`, "/ws/a"},
		{"", "see", "/ws/a", "version", "0.1+"}, // checked out first
	})
}

func TestTrash(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Document.Trash", "/ws/a", ``, "! denied: Privilege 'WriteLifeCycle' is not granted to 'bob'"},
		{"alice", "Document.Trash", "/ws/f", ``, "/ws/f"},
		{"", "see", "$f", "trashed", "true"},
		{"", "see", "/ws/f/x", "trashed", "true"}, // what is below is in the trash too
		{"", "Document.Trash", "/ws/f", ``, "/ws/f"},
		{"", "Document.Untrash", "/ws/f/x", ``, "/ws/f/x"},
		{"", "see", "$f", "trashed", "false"},
		{"", "Document.Untrash", "/ws/a", ``, "/ws/a"}, // is not there
		{"", "Document.Trash", "/ws/a", ``, "/ws/a"},
		{"bob", "Document.EmptyTrash", "", `{"parent": "/ws"}`, ""},
		{"alice", "Document.EmptyTrash", "", `{}`, `! invalid missing_parameter parent: parameter "parent" is missing`},
		{"", "Document.EmptyTrash", "", `{"parent": "/private"}`, `! notfound parent: parameter "parent": /private`},
		{"", "Document.EmptyTrash", "", `{"parent": "/ws/f"}`, ""}, // nothing there is in the trash
		{"", "see", "/ws", "children", "f a"},
		{"", "Document.EmptyTrash", "", `{"parent": "/ws"}`, ""},
		{"", "see", "/ws", "children", "f"},
	})
}

func TestUpdate(t *testing.T) {
	s := serve(t)
	update := func(props, more string) string { return fmt.Sprintf(`{"properties": %s%s}`, props, more) }
	s.Play([]opstest.Row{
		{"alice", "Document.Update", "/ws/a", update(`{"dc:title": "B", "dc:subjects": "a\\,b,c"}`, ""), "/ws/a"},
		{"", "see", "/ws/a", "title dc:subjects", `B | ["a,b","c"]`},
		{"", "Document.Update", "/ws/a", update(`{"dc:subjects": "", "dc:description": ""}`, ""), "/ws/a"}, // empty is null
		{"", "see", "/ws/a", "dc:subjects dc:description", "null | null"},
		{"", "Document.Update", "/ws/a", update(`{"files:files": "[]", "dc:expired": "2030-02-30"}`, ""), `! invalid dc:expired: property dc:expired: must be of type date, not "2030-02-30"`},
		{"", "Document.Update", "/ws/a", update(`{"dc:title": "C", "dc:nope": "x"}`, ""), `! invalid dc:nope: xpath "dc:nope": no such property`},
		{"", "see", "/ws/a", "title", "B"}, // nothing was changed
		{"", "Document.Update", "/ws/a", update(`{"dc:title": "C"}`, `, "save": false`), "/ws/a"},
		{"", "see", "/ws/a", "title", "B"},
		{"", "Document.Update", "/ws/a", update(`{"dc:title": "C"}`, `, "changeToken": "0-0"`), "! conflict: $a, Invalid change token"},
		{"", "Document.Update", "/ws/a", update(`"dc:title=From lines"`, ""), "/ws/a"},
		{"", "see", "/ws/a", "title", "From lines"},
		{"", "Document.Update", "/ws/a", `{}`, `! invalid missing_parameter properties: parameter "properties" is missing`},
		{"", "Document.Update", "/ws/a", update(`{"dc:creator": "bob"}`, ""), "/ws/a"},
		{"", "Document.Update", `["/ws/f/x", "/ws/f/y"]`, update(`{"dc:title": "Both"}`, ""), "/ws/f/x /ws/f/y"},
		{"", "see", "/ws/f/y", "title", "Both"},
		{"bob", "Document.Update", "/ws/a", update(`{"dc:title": "His"}`, ""), "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
	})
}
