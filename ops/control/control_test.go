package control_test

import (
	"fmt"
	"testing"

	"catena/ops/control"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, control.Ops, document.Ops, property.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b"}`, "/ws/b"},
	})
	return s
}

func set(value string) string {
	return fmt.Sprintf(`"id": "Document.SetProperty", "parameters": {"xpath": "dc:source", "value": %q}`, value)
}

const bad = `"id": "Document.SetProperty", "parameters": {"xpath": "dc:nope", "value": "x"}`

func TestRunOperation(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "RunOperation", "/ws/a", `{` + set("1") + `}`, "/ws/a"},
		{"", "see", "/ws/a", "dc:source", "1"},
		{"", "RunOperation", "/ws/a", `{"id": "Document.GetParent"}`, "/ws/a"}, // the input stays
		{"", "RunOperation", "/ws/a", `{` + bad + `}`, `! invalid xpath: …`},
		{"", "RunOperation", "/ws/a", `{"id": "Document.SetProperty", "parameters": {"xpath": "dc:source", "nope": "x"}}`, "/ws/a"},
		{"", "RunOperation", "/ws/a", `{"id": "Document.SetProperty"}`, `! invalid missing_parameter xpath: parameter "xpath" is missing`},
		{"", "RunOperation", "/ws/a", `{"id": "No.Such"}`, "! notfound unknown_operation: operation No.Such"},
		{"", "RunOperation", "/ws/a", `{"id": "RunOperation", "parameters": {"id": "Document.Lock"}}`, "/ws/a"},
		{"", "see", "/ws/a", "locked", "alice"},
		{"", "RunOperation", "", `{"id": "Document.Lock"}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"bob", "RunOperation", "/ws/b", `{` + set("2") + `}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "RunOperation", "/private", `{` + set("2") + `}`, "! notfound: /private"},
	})
}

func TestRunDocumentOperation(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "RunDocumentOperation", "/ws/a", `{"id": "Document.GetParent"}`, "/ws"},
		{"", "RunDocumentOperation", `["/ws/a", "/ws/b"]`, `{` + set("1") + `}`, "/ws/a /ws/b"},
		{"", "see", "/ws/b", "dc:source", "1"},
		{"", "RunDocumentOperation", "/ws/a", `{` + set("2") + `, "newTx": true}`, "/ws/a"},
		{"", "see", "/ws/a", "dc:source", "2"},
		{"", "RunDocumentOperation", "/ws/a", `{` + bad + `, "newTx": true}`, `! invalid xpath: …`},
		{"", "RunDocumentOperation", "/ws/a", `{` + bad + `, "newTx": true, "rollbackGlobalOnError": false}`, ""}, // nothing has come out of it
		{"", "RunDocumentOperation", "/ws/a", `{` + set("3") + `, "newTx": true, "timeout": 0}`, "/ws/a"},
		{"", "RunDocumentOperation", "/ws/a", `{` + set("3") + `, "newTx": true, "timeout": -5}`, "! invalid timeout: timeout: -5 is not between 0 and 86400 seconds"},
		{"", "RunDocumentOperation", "/ws/a", `{` + set("3") + `, "newTx": true, "timeout": 9223372036854775807}`, "! invalid timeout: timeout: 9223372036854775807 is not between 0 and 86400 seconds"},
		{"", "RunDocumentOperation", "", `{` + set("3") + `}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"bob", "RunDocumentOperation", "/ws/a", `{` + set("4") + `, "newTx": true}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Context.RunDocumentOperationInNewTx", "/ws/a", `{` + set("4") + `}`, "! notfound unknown_operation: operation Context.RunDocumentOperationInNewTx: does not exist, perhaps Context.RunDocumentOperation"}, // for administrators
	})
}

func TestOnList(t *testing.T) {
	s := serve(t)
	const create = `"id": "Document.Create", "parameters": {"type": "Note", "name": "n"}, "list": "l"`
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
		{"", "RunOperationOnList", "/ws/f", `{` + create + `} {"l": ["x", "y"]}`, "/ws/f"},
		{"", "see", "/ws/f", "children", "n n.…"},
		{"", "RunOperationOnList", "/ws/f", `{` + create + `} {"l": []}`, "/ws/f"},
		{"", "RunOperationOnList", "/ws/f", `{` + create + `} {}`, "/ws/f"}, // no such variable
		{"", "RunOperationOnList", "/ws/f", `{` + create + `} {"l": null}`, "/ws/f"},
		{"", "RunOperationOnList", "/ws/f", `{` + create + `} {"l": "one"}`, "! invalid list: variable l: does not hold a list"},
		{"", "see", "/ws/f", "children", "n n.1735689604000"},
		{"", "RunOperationOnList", "/ws/a", `{` + bad + `, "list": "l"} {"l": ["x"]}`, `! invalid xpath: …`},
		{"", "RunOperationOnList", "/ws/a", `{` + bad + `, "list": "l"} {"l": []}`, "/ws/a"}, // never runs
		{"", "RunOperationOnList", "/ws/a", `{` + bad + `, "list": "l", "rollbackGlobalOnError": false} {"l": ["x"]}`, `! invalid xpath: xpath "dc:nope": no such property`},
		{"", "RunOperationOnList", "/ws/a", `{` + bad + `, "list": "l", "newTx": true, "rollbackGlobalOnError": false} {"l": ["x"]}`, "/ws/a"},
		{"", "RunOperationOnList", "/ws/a", `{` + set("5") + `, "list": "l", "newTx": true} {"l": ["x", "y"]}`, "/ws/a"},
		{"", "see", "/ws/a", "dc:source", "5"},
		{"", "RunOperationOnList", "/ws/a", `{"id": "Document.Lock"}`, `! invalid missing_parameter list: parameter "list" is missing`},
		{"bob", "RunOperationOnListInNewTx", "/ws/a", `{"id": "Document.Lock", "list": "l"} {"l": ["x"]}`, "! notfound unknown_operation: operation RunOperationOnListInNewTx"},
	})
}
