package webui_test

import (
	"testing"

	"catena/engine"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/resource"
	"catena/ops/webui"
	"catena/storage/fault"
)

// inside are operations that an operation in a session runs.
var inside = []engine.Op{
	{
		Name: "Test.Fail", Doc: "Fails, after it has set a message.", Callers: engine.Anyone,
		Run: engine.On(func(_ struct{}, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
			if _, err := c.Call("WebUI.AddErrorMessage", nil, map[string]any{"message": "Sorry"}); err != nil {
				return engine.Void{}, err
			}
			return engine.Void{}, fault.Conflict.Errorf("it failed")
		}),
	},
	{
		Name: "Test.Session", Doc: "Returns the session it runs in.", Callers: engine.Anyone,
		Run: engine.On(func(_ struct{}, c *engine.Ctx, _ engine.Void) (string, error) {
			id, _ := c.Vars["conversationId"].(string)
			return id, nil
		}),
	},
	{
		Name: "Test.Recover", Doc: "Runs an operation that fails in a session, and returns the session afterwards.", Callers: engine.Anyone,
		Run: engine.On(func(_ struct{}, c *engine.Ctx, _ engine.Void) (string, error) {
			err := c.Nest(func() error {
				_, err := c.Call("WebUI.RunOperationInSeam", nil, map[string]any{"id": "Test.Fail"})
				return err
			})
			if !fault.Is(err, fault.Conflict) {
				return "", err
			}
			id, had := c.Vars["conversationId"].(string)
			if !had {
				id = "none"
			}
			return id, nil
		}),
	},
}

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, webui.Ops, document.Ops, resource.Ops, inside)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "keep", "/ws/a", "", "a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b"}`, "/ws/b"},
		{"", "keep", "/ws/b", "", "b"},
	})
	return s
}

func TestRunInSession(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "WebUI.RunOperationInSeam", "", `{"id": "Test.Session"}`, "00000000-…"},
		{"", "UISession.List", "", ``, `{"entity-type":"uiSessions","entries":[]}`}, // it has ended with the call
		{"", "WebUI.RunOperationInSeam", "", `{"id": "Test.Session", "conversationId": "mine"}`, "mine"},
		{"", "UISession.Read", "", `{"conversationId": "mine"}`, `! notfound ui_session: UI session "mine"`},
		{"", "WebUI.RunOperationInSeam", "", `{"id": "Chain.Test.Session", "conversationId": "mine"}`, "mine"},
		{"", "WebUI.RunOperationInSeam", "/ws/a", `{"id": "Document.GetParent"}`, "/ws"},
		{"", "WebUI.RunOperationInSeam", "/ws", `{"id": "Document.GetChild", "name": "b"}`, "/ws/b"}, // undeclared parameters go on
		{"", "WebUI.RunOperationInSeam", "", `{"id": "Test.Fail"}`, "! conflict: Sorry: …it failed"},
		{"", "WebUI.RunOperationInSeam", "", `{"id": "Test.Fail", "isolate": true}`, "! conflict: Sorry: …it failed"},
		{"", "WebUI.RunOperationInSeam", "", `{"id": "No.Such"}`, "! notfound unknown_operation: operation No.Such"},
		{"", "WebUI.RunOperationInSeam", "", `{"id": ""}`, "! notfound unknown_operation: operation "},
		{"", "WebUI.RunOperationInSeam", "", `{}`, `! invalid missing_parameter id: parameter "id" is missing`},
		{"", "UISession.List", "", ``, `{"entity-type":"uiSessions","entries":[]}`},
		// What fails leaves the context as it was.
		{"", "Test.Recover", "", ``, "none"},
		{"", "WebUI.InitSeamContext", "", `{"conversationId": "open"}`, ""},
		{"", "Test.Recover", "", `{} {"conversationId": "open"}`, "open"},
		{"", "WebUI.RunOperationInSeam", "", `{"id": "Test.Session", "conversationId": "open"}`, "open"},
		{"", "UISession.List", "", ``, `…"id":"open"…`}, // was there before
		{"bob", "UISession.List", "", ``, `{"entity-type":"uiSessions","entries":[]}`},
		{"", "UISession.Read", "", `{"conversationId": "open"}`, `! notfound ui_session: UI session "open"`},
	})
}

func TestSession(t *testing.T) {
	s := serve(t)
	const at = `{} {"conversationId": "s"}`
	s.Play([]opstest.Row{
		{"alice", "WebUI.NavigateTo", "/ws/a", ``, "! invalid ui_session conversationId: UI session: the call does not name one"},
		{"", "WebUI.NavigateTo", "/ws/a", at, `! notfound ui_session: UI session "s"`},
		{"", "WebUI.InitSeamContext", "", `{"conversationId": "s"}`, ""},
		{"", "Seam.GetCurrentDocument", "", at, ""},
		{"", "WebUI.NavigateTo", "/ws/a", at, "/ws/a"},
		{"", "Seam.GetCurrentDocument", "", at, "/ws/a"},
		{"", "Seam.GetCurrentWorkspace", "", at, "/ws"},
		{"", "Seam.GetCurrentDomain", "", at, ""},
		{"", "WebUI.NavigateTo", "/ws/b", at, "/ws/b"},
		{"", "Navigation.GoBack", "", at, "/ws/b"},
		{"", "Seam.GetCurrentDocument", "", at, "/ws/b"},
		{"", "Navigation.ChangeCurrentTab", "/ws/a", `{"tab": "history"} {"conversationId": "s"}`, "/ws/a"},
		{"", "WebUI.SetJSFOutcome", "", `{"outcome": "done"} {"conversationId": "s"}`, ""},
		{"", "WebUI.AddInfoMessage", "", `{"message": "Saved"} {"conversationId": "s"}`, ""},
		{"", "WebUI.AddMessage", "", `{"message": "Oh", "severity": "WARN"} {"conversationId": "s"}`, ""},
		{"", "WebUI.AddErrorMessage", "", `{"message": "Sorry"} {"conversationId": "s"}`, ""},
		{"", "WebUI.RaiseSeamEvents", "", `{"seamEvents": ""} {"conversationId": "s"}`, ""},
		{"", "WebUI.Refresh", "", at, ""},
		{"", "UISession.Read", "", `{"conversationId": "s"}`, `…"currentDocument":"$b"…"messages":[{"message":"Saved","severity":"INFO"},{"message":"Oh","severity":"WARN"}]…"outcome":"done","tab":"history"}`},
		{"", "UISession.Take", "", `{"conversationId": "s"}`, `…"events":["documentChanged","documentChildrenChanged"]…"messages":[{"message":"Saved"…"outcome":"done"…`},
		{"", "UISession.Take", "", `{"conversationId": "s"}`, `…"currentDocument":"$b"…"events":[]…"messages":[]…"outcome":"","tab":"history"}`}, // each is shown once
		{"bob", "UISession.Take", "", `{"conversationId": "s"}`, `! notfound ui_session: UI session "s"`},
		{"", "Seam.GetCurrentDocument", "", at, `! notfound ui_session: UI session "s"`},
		{"alice", "WebUI.DestroySeamContext", "", at, ""},
		{"", "UISession.Read", "", `{"conversationId": "s"}`, `! notfound ui_session: UI session "s"`},
	})
}

func TestLists(t *testing.T) {
	s := serve(t)
	const at = `{} {"conversationId": "s"}`
	s.Play([]opstest.Row{
		{"alice", "WebUI.InitSeamContext", "", `{"conversationId": "s"}`, ""},
		{"", "WebUI.AddToClipboard", "/ws/a", ``, "! invalid ui_session conversationId: UI session: the call does not name one"},
		{"", "WebUI.AddToClipboard", "/ws/a", at, "/ws/a"},
		{"", "WebUI.AddToClipboard", `["/ws/b", "/ws/a"]`, at, "/ws/b /ws/a"},
		{"", "Seam.FetchFromClipboard", "", at, "/ws/a /ws/b"},
		{"", "WebUI.AddToWorklist", "/ws/b", ``, "/ws/b"},
		{"", "Seam.FetchFromWorklist", "", ``, "/ws/b"},
		{"bob", "Seam.FetchFromWorklist", "", ``, ""},
		{"alice", "UISession.Update", "", `{"conversationId": "s", "state": {"lists": {"CURRENT_SELECTION": ["$a", "/ws/b"]}}}`, "…"},
		{"", "Seam.GetSelectedDocuments", "", at, "/ws/a /ws/b"},
		{"", "Seam.GetDocumentsFromSelectionList", "", `{"listName": "CURRENT_SELECTION"} {"conversationId": "s"}`, "/ws/a /ws/b"},
		{"", "WebUI.ClearSelectedDocuments", "", at, ""},
		{"", "Seam.GetSelectedDocuments", "", at, ""},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"lists": {"x": "y"}}}`, "! invalid lists: lists: must be lists of ids by name"},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"lists": {"": []}}}`, "! invalid lists: lists: must be lists of ids by name"},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"lists": {"x": ["/nowhere"]}}}`, "! notfound: /nowhere"},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"currentDocument": "/private"}}`, "! notfound: /private"},
		{"", "UISession.Update", "", `{"conversationId": "t", "state": {}}`, `! notfound ui_session: UI session "t"`},
		{"", "Document.Delete", "/ws/b", ``, ""},
		{"", "Seam.FetchFromWorklist", "", ``, ""},
		{"", "WebUI.ClearClipboard", "/ws/a", at, "/ws/a"},
		{"", "Seam.FetchFromClipboard", "", at, ""},
		{"", "WebUI.ClearWorklist", "", ``, ""},
	})
}

func TestForms(t *testing.T) {
	s := serve(t)
	const at = `{} {"conversationId": "s"}`
	s.Play([]opstest.Row{
		{"alice", "WebUI.InitSeamContext", "", `{"conversationId": "s"}`, ""},
		{"", "Seam.CreateDocumentInUI", "", at, "! conflict: UI session s: no form for a new document is open"},
		{"", "Seam.SaveDocumentInUI", "", at, "! conflict: UI session s: there is no current document"},
		{"", "WebUI.ShowCreateForm", "/ws", `{"type": "Note"} {"conversationId": "s"}`, "! conflict: UI session s: there is no current document"},
		{"", "WebUI.NavigateTo", "/ws", at, "/ws"},
		{"", "WebUI.ShowCreateForm", "", `{"type": "Nope"} {"conversationId": "s"}`, "! invalid type: Type: Nope does not exist, perhaps Note"},
		{"", "WebUI.ShowCreateForm", "", `{"type": "Note"} {"conversationId": "s"}`, ""},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"form": {"type": "Folder", "parent": "/", "properties": {"dc:title": "From a form"}}}}`, "…"},
		{"", "Seam.GetChangeableDocument", "", at, "/ws/From a form"},
		{"", "Seam.CreateDocumentInUI", "", at, "/ws/From a form"},
		{"", "see", "/ws/From a form", "type title", "Note | From a form"}, // type and folder are those of the form that was opened
		{"", "Seam.GetCurrentDocument", "", at, "/ws/From a form"},
		{"", "Seam.CreateDocumentInUI", "", at, "! conflict: UI session s: no form for a new document is open"},

		{"", "WebUI.NavigateTo", "/ws/a", at, "/ws/a"},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"form": {"properties": {"dc:title": "Changed"}}}}`, "…"},
		{"", "Seam.GetChangeableDocument", "", at, "/ws/a"},
		{"", "Seam.SaveDocumentInUI", "", at, "/ws/a"},
		{"", "see", "/ws/a", "title", "Changed"},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"form": {"properties": {"dc:nope": "x"}}}}`, "…"},
		{"", "Seam.SaveDocumentInUI", "", at, `! invalid dc:nope: xpath "dc:nope": no such property`},
		{"", "UISession.Read", "", `{"conversationId": "s"}`, `…"form":{…"dc:nope":"x"…`}, // what was entered is not lost
		{"bob", "WebUI.InitSeamContext", "", `{"conversationId": "s"}`, ""},
		{"", "WebUI.NavigateTo", "/ws/a", at, "/ws/a"},
		{"", "UISession.Update", "", `{"conversationId": "s", "state": {"form": {"properties": {"dc:title": "His"}}}}`, "…"},
		{"", "Seam.SaveDocumentInUI", "", at, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "see", "/ws/a", "title", "Changed"},
	})
}
