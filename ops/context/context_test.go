package context_test

import (
	"testing"

	"catena/ops/context"
	"catena/ops/document"
	"catena/ops/opstest"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, context.Ops, document.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "keep", "", "", "a"},
		{"", "Document.Create", "/ws", `{"type": "Note", "name": "b"}`, "/ws/b"},
		{"admin", "Document.Create", "/private", `{"type": "Note", "name": "n"}`, "/private/n"},
	})
	return s
}

func TestVariables(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Context.SetVar", "/ws/a", `{"name": "x", "value": 1}`, "/ws/a"}, // the input goes through
		{"", "Context.SetVar", "", `{"name": "x", "value": 1}`, ""},
		{"", "Context.SetVar", "@a.txt=Hello", `{"name": "x"}`, "Hello"},
		{"", "Context.SetVar", "/ws/a", `{"name": "x", "value": null}`, "/ws/a"},
		{"", "Context.SetVar", "/ws/a", `{"name": "x y ü", "value": {"a": [1]}}`, "/ws/a"},
		{"", "Context.SetVar", "/ws/a", `{"name": "", "value": 1}`, "! invalid name: name: must not be empty"},
		{"", "Context.SetVar", "/ws/a", `{"value": 1}`, `! invalid missing_parameter name: parameter "name" is missing`},
		{"", "Context.SetVar", "/ws/a", `{"name": "ChainParameters", "value": 1}`, "! invalid name: variable ChainParameters: is reserved"},
		{"", "Context.SetInputAsVar", "/ws/a", `{"name": "x"}`, "/ws/a"},
		{"", "Context.SetInputAsVar", "", `{"name": "x"}`, ""},
		{"", "Context.SetInputAsVar", "/ws/a", `{"name": ""}`, "! invalid name: name: must not be empty"},
		{"", "Context.SetInputAsVar", "/ws/a", `{"name": "ChainParameters"}`, "! invalid name: variable ChainParameters: is reserved"},
		{"", "Context.SetInputAsVar", "/private/n", `{"name": "x"}`, "! notfound: /private/n"},
		{"", "Context.FetchDocument", "/ws/a", `{}`, "/ws/a"},
		{"", "Context.FetchDocument", "$a", `{}`, "/ws/a"},
		{"", "Context.FetchDocument", "/private/n", `{}`, "! notfound: /private/n"},
		{"", "Context.FetchDocument", "/ws/nope", `{}`, "! notfound: /ws/nope"},
		{"", "Context.FetchDocument", "", `{}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"", "Context.FetchFile", "@a.txt=Hello", `{}`, "Hello"},
		{"", "Context.FetchFile", "@empty.txt=", `{}`, ""},
		{"", "Context.FetchFile", "", `{}`, "! invalid input: input: is missing, must be of type blob or bloblist"},
	})
}

func TestRestoredInput(t *testing.T) {
	s := serve(t)
	const (
		noFile      = "! invalid name: variable x: does not hold a file"
		noFiles     = "! invalid name: variable x: does not hold files"
		noDocument  = "! invalid name: variable x: does not hold a document"
		noDocuments = "! invalid name: variable x: does not hold documents"
		file        = `{"x": {"entity-type": "blob", "name": "a.txt", "mime-type": "text/plain", "data": "Hello"}}`
		doc         = `{"x": {"entity-type": "document", "uid": "$a"}}`
	)
	s.Play([]opstest.Row{
		{"bob", "Context.RestoreBlobInput", "", `{"name": "x"} ` + file, "Hello"},
		{"", "Context.RestoreBlobsInput", "", `{"name": "x"} ` + file, "Hello"},
		{"", "Context.RestoreDocumentInput", "", `{"name": "x"} ` + file, noDocument},
		{"", "Context.RestoreDocumentsInput", "", `{"name": "x"} ` + file, noDocuments},
		{"", "Context.RestoreDocumentInput", "", `{"name": "x"} ` + doc, "/ws/a"},
		{"", "Context.RestoreBlobInput", "", `{"name": "x"} ` + doc, noFile},
		{"", "Context.RestoreBlobsInput", "", `{"name": "x"} ` + doc, noFiles},
		{"", "Context.RestoreBlobInput", "", `{"name": "x"}`, noFile},
		{"", "Context.RestoreBlobsInput", "", `{"name": "x"} {"X": 1}`, noFiles}, // names differ by case
		{"", "Context.RestoreDocumentInput", "", `{"name": "x"} {"x": null}`, noDocument},
		{"", "Context.RestoreDocumentsInput", "", `{"name": "x"} {"x": []}`, noDocuments},
		{"", "Context.RestoreDocumentInput", "", `{"name": "x"} {"x": "/ws/a"}`, noDocument}, // a text is none
		{"", "Context.RestoreBlobInput", "", `{}`, `! invalid missing_parameter name: parameter "name" is missing`},
		{"", "Context.RestoreDocumentInput", "", `{"name": ""}`, "! invalid name: variable : does not hold a document"},
		{"", "Context.RestoreDocumentInputFromScript", "", `{"script": "x"} ` + doc, "! notfound unknown_operation: operation Context.RestoreDocumentInputFromScript"},
		{"admin", "Context.RestoreDocumentInputFromScript", "", `{"script": "x"} ` + doc, "/ws/a"},
		{"", "Context.RestoreDocumentsInputFromScript", "", `{"script": "x"} ` + doc, "/ws/a"},
		{"", "Context.RestoreBlobInputFromScript", "", `{"script": "x"} ` + file, "Hello"},
		{"", "Context.RestoreBlobsInputFromScript", "", `{"script": "x"} ` + file, "Hello"},
		{"", "Context.RestoreBlobInputFromScript", "", `{"script": "1 +"}`, "! invalid expression: expression: unexpected token EOF (1:3)"},
		{"", "Context.RestoreBlobInputFromScript", "", `{"script": "42"}`, "! invalid: must be of type blob, not long"},
		{"", "Context.RestoreDocumentInputFromScript", "", `{"script": "'/ws/nope'"}`, "! notfound: /ws/nope"},
	})
}

// A call of its own has empty stacks, so there is nothing to take.
func TestStacksOfACall(t *testing.T) {
	s := serve(t)
	for _, op := range []string{"Context.PopBlob", "Context.PopBlobList", "Context.PopDocument", "Context.PopDocumentList"} {
		s.Play([]opstest.Row{{"bob", op, "", `{}`, "! invalid: stack: is empty"}})
	}
	for _, op := range []string{"Context.PullBlob", "Context.PullBlobList", "Context.PullDocument", "Context.PullDocumentList"} {
		s.Play([]opstest.Row{{"bob", op, "", `{}`, "! invalid: stack: is empty"}})
	}
	s.Play([]opstest.Row{
		{"bob", "Context.PushDocument", "/ws/a", `{}`, "/ws/a"},
		{"", "Context.PopDocument", "", `{}`, "! invalid: stack: is empty"}, // another call
		{"", "Context.PushDocumentList", "/ws/a", `{}`, "/ws/a"},
		{"", "Context.PushBlob", "@a.txt=Hello", `{}`, "Hello"},
		{"", "Blob.Push", "@a.txt=Hello", `{}`, "Hello"},
		{"", "Context.PushBlobList", "@a.txt=Hello", `{}`, "! invalid input: input: must be of type bloblist, not blob"},
		{"", "Context.PushDocument", "", `{}`, "! invalid input: input: is missing, must be of type document"},
		{"", "Context.PushDocument", "/private/n", `{}`, "! notfound: /private/n"},
	})
}

// Whoever may not read the permissions of a document is not told who has them.
func TestGrantees(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"admin", "Context.GetUsersGroupIdsWithPermissionOnDoc", "/ws/a", `{"permission": "Read", "variable name": "who"}`, "/ws/a"},
		{"", "Context.GetUsersGroupIdsWithPermissionOnDoc", "/ws/a", `{"permission": "Read", "variable name": ""}`, "! invalid variable name: variable name: must not be empty"},
		{"", "Context.GetUsersGroupIdsWithPermissionOnDoc", "/ws/a", `{"permission": "Read"}`, `! invalid missing_parameter variable name: parameter "variable name" is missing`},
		{"", "Context.GetUsersGroupIdsWithPermissionOnDoc", "/ws/a", `{"variable name": "who"}`, `! invalid missing_parameter permission: parameter "permission" is missing`},
		{"", "Context.GetEmailsWithPermissionOnDoc", "/ws/a", `{"permission": "Read", "variable name": "ChainParameters"}`, "! invalid name: variable ChainParameters: is reserved"},
		{"", "Context.GetEmailsWithPermissionOnDoc", "/ws/a", `{"permission": "Nonsense", "variable name": "who"}`, "/ws/a"},
		{"bob", "Context.GetEmailsWithPermissionOnDoc", "/private/n", `{"permission": "Read", "variable name": "who"}`, "! notfound: /private/n"},
	})
}

func TestMetadataOfFiles(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Blob.ReadMetadata", "@a.txt=Hello", `{}`, `{…"length":5,…"name":"a.txt"…}`},
		{"", "Blob.ReadMetadata", "@a.txt=Hello", `{"ignorePrefix": false}`, `{…file:length":5…}`},
		{"", "Blob.ReadMetadata", "@empty.txt=", `{}`, `{…"length":0…}`},
		{"", "Blob.ReadMetadata", "", `{}`, "! invalid input: input: is missing, must be of type blob"},
		{"", "Context.SetMetadataFromBlob", "@a.txt=Hello", `{}`, ""},
		{"", "Blob.SetMetadataFromContext", "@a.txt=Hello", `{"metadata": {"title": "T"}}`, `! invalid input: file "a.txt": metadata of text/plain cannot be written`},
		{"", "Blob.SetMetadataFromContext", "@a.txt=Hello", `{}`, `! invalid missing_parameter metadata: parameter "metadata" is missing`},
		{"", "Blob.SetMetadataFromContext", "@a.txt=Hello", `{"metadata": {"title": "T"}, "ignorePrefix": false}`, `! invalid metadata: metadata "title": cannot be written`},
		{"", "Blob.SetMetadataFromContext", "@a.txt=Hello", `{"metadata": {":title": "T"}, "ignorePrefix": false}`, `! invalid metadata: metadata ":title": cannot be written`},
	})
}
