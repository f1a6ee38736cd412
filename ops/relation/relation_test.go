package relation_test

import (
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/relation"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, relation.Ops, document.Ops)
	for _, name := range []string{"a", "b", "c"} {
		s.Play([]opstest.Row{{"alice", "Document.Create", "/ws", `{"type": "File", "name": "` + name + `"}`, "/ws/" + name}})
	}
	return s
}

// TestDirection: without outgoing, a relation goes from the parameter to the input, as in the platform.
func TestDirection(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p"}`, "/ws/a"},
		{"", "Document.GetLinkedDocuments", "/ws/b", `{"predicate": "p"}`, "/ws/a"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, ""},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p", "outgoing": false}`, "/ws/b"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/c", "predicate": "p", "outgoing": true}`, "/ws/a"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, "/ws/c"},
		{"", "Document.GetLinkedDocuments", "/ws/c", `{"predicate": "p", "outgoing": false}`, "/ws/a"},
		{"", "Document.DeleteRelation", "/ws/a", `{"object": "/ws/c", "predicate": "p"}`, "/ws/a"}, // the other direction
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, "/ws/c"},
		{"", "Document.DeleteRelation", "/ws/a", `{"object": "/ws/c", "predicate": "p", "outgoing": true}`, "/ws/a"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, ""},
		{"", "Document.DeleteRelation", "/ws/a", `{"object": "/ws/c", "predicate": "p", "outgoing": true}`, "/ws/a"},
	})
}

func TestPredicates(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p", "outgoing": true}`, "/ws/a"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p", "outgoing": true}`, "! exists: relation p: document … already has it to …"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": "q", "outgoing": true}`, "/ws/a"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/c", "predicate": "http://purl.org/dc/terms/IsBasedOn", "outgoing": true}`, "/ws/a"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/a", "predicate": "p", "outgoing": true}`, "/ws/a"}, // to itself
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": ""}`, "/ws/c /ws/a /ws/b"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "q"}`, "/ws/b"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "Q"}`, ""},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "http://purl.org/dc/terms/IsBasedOn", "graphName": "default"}`, "/ws/c"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "q", "graphName": "other"}`, ""},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{}`, `! invalid missing_parameter predicate: parameter "predicate" is missing`},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": ""}`, "! invalid predicate: predicate: must not be empty"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/nowhere", "predicate": "p"}`, "! notfound: /ws/nowhere"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "./nowhere", "predicate": "p"}`, "! notfound: …"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "../c", "predicate": "rel", "outgoing": true}`, "/ws/a"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "rel"}`, "/ws/c"},
		{"", "Document.AddRelation", `["/ws/b", "/ws/c"]`, `{"object": "/ws/a", "predicate": "many"}`, "/ws/b /ws/c"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "many"}`, "/ws/b /ws/c"},
	})
}

func TestWhoMayRelate(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/private", "predicate": "p"}`, "! notfound: /private"},
		{"alice", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p", "outgoing": true}`, "/ws/a"},
		{"", "Document.AddRelation", "/ws/a", `{"object": "/ws/c", "predicate": "p", "outgoing": true}`, "/ws/a"},
		{"bob", "Document.DeleteRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p", "outgoing": true}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, "/ws/b /ws/c"},
		{"alice", "Document.BlockPermissionInheritance", "/ws/c", ``, "/ws/c"},
		{"bob", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, "/ws/b"}, // not what may not be read
		{"alice", "Document.Delete", "/ws/b", ``, ""},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, "/ws/c"},
		{"", "Document.Trash", "/ws/c", ``, "/ws/c"},
		{"", "Document.GetLinkedDocuments", "/ws/a", `{"predicate": "p"}`, "/ws/c"},
	})
}
