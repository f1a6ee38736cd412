package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/engine"
	"catena/ops/opstest"
	"catena/rest/resttest"
)

// The tables of this file say, in the form of opstest.Row, what operations of the specification change, besides what they return:
// a row that calls one is followed by rows that look. Files in testdata/wire have the form of answers.

// variable returns what a variable of the context holds after an operation.
var variable = engine.Op{
	Name: "Test.Variable", Doc: "Runs an operation and returns a variable.", Callers: engine.Anyone,
	Run: engine.On(func(p struct {
		ID     string         `json:"id" doc:"The operation."`
		Name   string         `json:"name" doc:"The variable."`
		Params map[string]any `json:"parameters,omitzero" type:"object" doc:"Parameters."`
	}, c *engine.Ctx, _ engine.Void,
	) (any, error) {
		_, err := c.Call(p.ID, c.Input, p.Params)
		return c.Vars[p.Name], err
	}),
}

// outcomes plays rows over HTTP.
type outcomes struct {
	*resttest.Server
	t    *testing.T
	user string
	kept []string
}

func newOutcomes(t *testing.T) *outcomes {
	t.Helper()
	s := &outcomes{Server: resttest.Start(t, resttest.Config{Ops: []engine.Op{variable}, Deployed: deployed}), t: t}
	s.User("alice")
	s.User("bob")
	s.play([]opstest.Row{
		{"admin", "Document.Create", "/", `{"type": "Workspace", "name": "ws"}`, "/ws"},
		{"", "Document.AddPermission", "/ws", `{"users": ["alice"], "permission": "Everything"}`, "/ws"},
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "A"}}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b", "properties": {"dc:title": "B"}}`, "/ws/b"},
		{"", "keep", "/ws/a", "", "a"},
		{"", "keep", "/ws/b", "", "b"},
	})
	return s
}

func (s *outcomes) play(rows []opstest.Row) {
	s.t.Helper()
	for i, r := range rows {
		if r[0] != "" {
			s.user = r[0]
		}
		got := s.call(r)
		if !matches(got, r[4]) && r[1] != "keep" {
			s.t.Errorf("row %d, %s: %s %s %s\n got %s\nwant %s", i+1, s.user, r[1], r[2], r[3], got, r[4])
		}
	}
}

// matches compares a text with a pattern in which … stands for anything.
func matches(got, want string) bool {
	parts := strings.Split(want, "…")
	if len(parts) == 1 {
		return got == want
	}
	for i, p := range parts {
		at := strings.Index(got, p)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		got = got[at+len(p):]
	}
	return got == "" || parts[len(parts)-1] == ""
}

func (s *outcomes) call(r opstest.Row) string {
	s.t.Helper()
	for i := range r[:4] {
		r[i] = strings.NewReplacer(s.kept...).Replace(r[i])
	}
	as := strings.Replace(s.user, "admin", "Administrator", 1)
	switch r[1] {
	case "keep", "see":
		a := s.Do("GET", api+addressOf(r[2]), "", "as", as, "properties", "*", "fetch-document", "lock")
		if r[1] == "keep" {
			id, _ := a.JSON(s.t)["uid"].(string)
			s.kept = append(s.kept, "$"+r[4], id)
			return ""
		}
		return factsOf(s.t, a, strings.Fields(r[3]))
	case "GET":
		return s.told(reducedTo(s.Do("GET", api+r[2], "", "as", as)))
	}
	body := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(r[3]))
	for _, name := range []string{"params", "context"} {
		var v any
		if dec.Decode(&v) == nil {
			body[name] = v
		}
	}
	if r[2] != "" {
		body["input"] = r[2]
	}
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.told(reducedTo(s.Do("POST", api+"/automation/"+r[1], string(raw), "as", as)))
}

func (s *outcomes) told(text string) string {
	back := slices.Clone(s.kept)
	slices.Reverse(back)
	return strings.NewReplacer(back...).Replace(text)
}

func addressOf(ref string) string {
	if strings.HasPrefix(ref, "/") {
		return "/path" + ref
	}
	return "/id/" + ref
}

// factsOf are properties and other members of a document.
func factsOf(t *testing.T, a *resttest.Answer, names []string) string {
	t.Helper()
	if a.StatusCode != http.StatusOK {
		return fmt.Sprintf("! %d", a.StatusCode)
	}
	doc := a.JSON(t)
	properties, _ := doc["properties"].(map[string]any)
	out := make([]string, len(names))
	for i, name := range names {
		v, ok := properties[name]
		if !ok {
			v = doc[name]
		}
		if text, ok := v.(string); ok {
			out[i] = text
			continue
		}
		raw, _ := json.Marshal(v)
		out[i] = string(raw)
	}
	return strings.Join(out, " | ")
}

// reducedTo is an answer as rows write it: paths of documents, plain values, any other text as it is, "! STATUS" of a failure.
func reducedTo(a *resttest.Answer) string {
	if a.StatusCode >= 400 {
		return fmt.Sprintf("! %d", a.StatusCode)
	}
	var v struct {
		Kind    string `json:"entity-type"`
		Path    string `json:"path"`
		Value   any    `json:"value"`
		Entries []struct {
			Path string `json:"path"`
		} `json:"entries"`
	}
	if json.Unmarshal([]byte(a.Text), &v) != nil {
		return a.Text
	}
	switch v.Kind {
	case "document":
		return v.Path
	case "documents":
		paths := make([]string, len(v.Entries))
		for i, e := range v.Entries {
			paths[i] = e.Path
		}
		return strings.Join(paths, " ")
	case "string", "boolean", "number", "integer", "long":
		return fmt.Sprint(v.Value)
	}
	return a.Text
}

func TestOutcomesOfContext(t *testing.T) {
	s := newOutcomes(t)
	s.play([]opstest.Row{
		{"admin", "Test.Variable", "/ws/a", `{"id": "Context.SetVar", "name": "n", "parameters": {"name": "n", "value": "v"}}`, "v"},
		{"", "Test.Variable", "/ws/a", `{"id": "Context.SetInputAsVar", "name": "n", "parameters": {"name": "n"}}`, "/ws/a"},
		{"", "Test.Variable", "/ws/a", `{"id": "Context.SetVar", "name": "other", "parameters": {"name": "n", "value": "v"}}`, ""},
		{"", "Context.FetchDocument", "/ws/a", ``, "/ws/a"},
		{"", "Context.FetchDocument", "", ``, "! 400"}, // there is no document
		{"", "Context.RestoreDocumentInput", "", `{"name": "d"} {"d": "doc:/ws/b"}`, "/ws/b"},
		{"", "Context.RestoreDocumentInput", "/ws/a", `{"name": "d"}`, "! 400"},
		{"", "Context.RestoreDocumentsInput", "", `{"name": "d"} {"d": "docs:/ws/b,/ws/a"}`, "/ws/b /ws/a"},
		{"", "Context.PushDocument", "/ws/a", ``, "/ws/a"},
		{"", "Context.PopDocument", "", ``, "! 400"}, // each call has stacks of its own
		{"", "Directory.Projection", "/ws/a", `{"directoryName": "nature", "columnName": "id", "variableName": "ids"}`, "/ws/a"},
		{
			"", "Test.Variable", "/ws/a", `{"id": "Directory.Projection", "name": "ids", "parameters": {"directoryName": "nature", "columnName": "id", "variableName": "ids",
			"filters": {"id": "memo"}}}`, `{"entity-type":"list","value":["memo"]}`,
		},
		{
			"", "Test.Variable", "/ws/a", `{"id": "Context.GetUsersGroupIdsWithPermissionOnDoc", "name": "who", "parameters": {"permission": "Everything", "variable name": "who",
			"prefix identifiers": true}}`, `{"entity-type":"list","value":["user:alice","user:Administrator"]}`,
		},
		{"alice", "Context.GetUsersGroupIdsWithPermissionOnDoc", "/ws/a", `{"permission": "Nope", "variable name": "who"}`, "/ws/a"},
		{"admin", "Test.Variable", "/ws/a", `{"id": "Document.Routing.EvaluateCondition", "name": "nextStepPos", "parameters": {"subject": "dc:title", "operator": "equal", "value": "A"}}`, "1"},
		{"", "Test.Variable", "/ws/a", `{"id": "Document.Routing.EvaluateCondition", "name": "nextStepPos", "parameters": {"subject": "dc:title", "operator": "equal", "value": "B"}}`, "2"},
		{"", "Test.Variable", "/ws/a", `{"id": "Workflow.SetNodeVariable", "name": "NodeVariables", "parameters": {"name": "n", "value": "v"}} {"NodeVariables": {"m": 1}}`, `{"entity-type":"map","value":{"m":1,"n":"v"}}`},
		{"", "Test.Variable", "/ws/a", `{"id": "reinitAssigneeComment", "name": "NodeVariables"} {"NodeVariables": {"comment": "c", "m": 1}}`, `{"entity-type":"map","value":{"comment":null,"m":1}}`},
		{"", "Test.Variable", "/ws/a", `{"id": "initInitiatorComment", "name": "WorkflowVariables"} {"NodeVariables": {"comment": "c"}, "WorkflowVariables": {}}`, `{"entity-type":"map","value":{"initiatorComment":"c"}}`},
		{"", "Test.Variable", "/ws/a", `{"id": "nextAssignee", "name": "WorkflowVariables"} {"NodeVariables": {"button": "validate"}, "WorkflowVariables": {"index": 1}}`, `{"entity-type":"map","value":{"index":2}}`},
		{"", "Test.Variable", "/ws/a", `{"id": "nextAssignee", "name": "WorkflowVariables"} {"NodeVariables": {"button": "reject"}, "WorkflowVariables": {"index": 1}}`, `{"entity-type":"map","value":{"index":0}}`},
		{"", "Test.Variable", "/ws/a", `{"id": "nextAssignee", "name": "WorkflowVariables"} {"NodeVariables": {"button": "submit"}, "WorkflowVariables": {"index": 1}}`, `{"entity-type":"map","value":{"index":0}}`},
		{"", "voidChain", "/ws/a", ``, "/ws/a"},
	})
}

func TestOutcomesOfDocuments(t *testing.T) {
	s := newOutcomes(t)
	s.play([]opstest.Row{
		{"alice", "Document.AddRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p"}`, "/ws/a"},
		{"", "Document.GetLinkedDocuments", "/ws/b", `{"predicate": "p"}`, "/ws/a"},
		{"", "Document.DeleteRelation", "/ws/a", `{"object": "/ws/b", "predicate": "p"}`, "/ws/a"},
		{"", "Document.GetLinkedDocuments", "/ws/b", `{"predicate": "p"}`, ""},
		{"", "Document.GetChild", "/ws", `{"name": "b"}`, "/ws/b"},
		{"", "Document.GetChild", "/ws", `{"name": "c"}`, "! 404"},
		{"", "Document.GetParent", "/ws/a", `{"type": "Workspace"}`, "/ws"},
		{"", "Document.GetParent", "/ws/a", `{"type": "Folder"}`, ""},
		{"", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
		{"", "Document.Move", "/ws/b", `{"target": "/ws/f", "name": "moved"}`, "/ws/f/moved"},
		{"", "see", "$b", "path title", "/ws/f/moved | B"},
		{"", "see", "/ws/b", "path", "! 404"},
		{"", "Services.TagDocument", "/ws/a", `{"tags": "Red Wine,green"}`, "/ws/a"},
		{"", "see", "/ws/a", "nxtag:tags", `[{"label":"redwine","username":"alice"},{"label":"green","username":"alice"}]`},
		{"", "Services.UntagDocument", "/ws/a", `{"tags": "green"}`, "/ws/a"},
		{"", "see", "/ws/a", "nxtag:tags", `[{"label":"redwine","username":"alice"}]`},
		{"", "Services.RemoveDocumentTags", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "nxtag:tags", "[]"},
		{"", "Collection.Create", "/ws", `{"name": "c"}`, "/ws/c"},
		{"", "Document.AddToCollection", "/ws/a", `{"collection": "/ws/c"}`, "/ws/a"},
		{"", "Collection.GetDocumentsFromCollection", "/ws/c", ``, "/ws/a"},
		{"", "Collection.RemoveFromCollection", "/ws/a", `{"collection": "/ws/c"}`, "/ws/a"},
		{"", "Collection.GetDocumentsFromCollection", "/ws/c", ``, ""},
		{"", "Repository.GetDocument", "", `{"value": "$a"}`, "/ws/a"},
		{"", "Repository.GetDocument", "", `{"value": "/ws/nowhere"}`, "! 404"},
		{"bob", "Repository.GetDocument", "", `{"value": "/ws/a"}`, "/ws/a"},
		{"admin", "Document.BlockPermissionInheritance", "/ws/a", ``, "/ws/a"},
		{"bob", "Repository.GetDocument", "", `{"value": "/ws/a"}`, "! 404"},
		{"admin", "Audit.LogEvent", "/ws/a", `{"event": "seen", "category": "Mine", "comment": "why"}`, "/ws/a"},
		{"", "GET", "/path/ws/a/@audit?category=Mine", "", `…"comment":"why"…"eventId":"seen"…`},
		{"", "Event.Fire", "/ws/a", `{"name": "myEvent"}`, "/ws/a"},
		{"", "Event.Fire", "/ws/a", `{"name": ""}`, "! 400"},
		{"", "Log", "/ws/a", `{"message": "m", "level": "info"}`, "/ws/a"},
		{"", "Log", "/ws/a", `{"message": "m"}`, "! 400"}, // the level is required
	})
}

// TestOutcomesOfRuns: what an operation runs changes what it says, in the transaction of the call or in one of its own.
func TestOutcomesOfRuns(t *testing.T) {
	s := newOutcomes(t)
	set := func(v string) string { return fmt.Sprintf(`"parameters": {"xpath": "dc:source", "value": %q}`, v) }
	s.play([]opstest.Row{
		{"admin", "RunOperation", "/ws/a", `{"id": "Document.SetProperty", ` + set("1") + `}`, "/ws/a"},
		{"", "see", "/ws/a", "dc:source", "1"},
		{"", "RunDocumentOperation", "/ws/a", `{"id": "Document.SetProperty", ` + set("2") + `}`, "/ws/a"},
		{"", "see", "/ws/a", "dc:source", "2"},
		{"", "RunDocumentOperation", "/ws/a", `{"id": "Document.GetParent"}`, "/ws"},
		{"", "RunDocumentOperation", "/ws/a", `{"id": "Document.SetProperty", "newTx": true, ` + set("3") + `}`, "/ws/a"},
		{"", "see", "/ws/a", "dc:source", "3"},
		{"", "Context.RunDocumentOperationInNewTx", "/ws/a", `{"id": "Document.SetProperty", ` + set("4") + `}`, "/ws/a"},
		{"", "see", "/ws/a", "dc:source", "4"},
		{"", "Context.RunDocumentOperationInNewTx", "/ws/a", `{"id": "Document.SetProperty", "parameters": {"xpath": "dc:nope", "value": "x"}}`, "/ws/a"}, // logged
		{"", "Context.RunDocumentOperationInNewTx", "/ws/a", `{"id": "Document.SetProperty", "rollbackGlobalOnError": true, "parameters": {"xpath": "dc:nope", "value": "x"}}`, "! 400"},
		{"", "see", "/ws/a", "dc:source", "4"},
		{"", "RunOperationOnList", "/ws", `{"id": "Document.SetProperty", "list": "names", ` + set("5") + `} {"names": ["x", "y"]}`, "/ws"},
		{"", "see", "/ws", "dc:source", "5"},
		{"", "RunOperationOnList", "/ws", `{"id": "Document.Create", "list": "names", "parameters": {"type": "Note", "name": "each"}} {"names": ["x", "y", "z"]}`, "/ws"},
		{"", "Document.GetChildren", "/ws", ``, "/ws/a /ws/b /ws/each /ws/each.… /ws/each.…"},
		{"", "RunOperationOnListInNewTx", "/ws", `{"id": "Document.Lock", "list": "names"} {"names": ["x"]}`, "/ws"},
		{"", "see", "/ws", "lockOwner", "Administrator"},
		{"", "RunOperation", "/ws/a", `{"id": "No.Such"}`, "! 404"},
		{"alice", "RunOperation", "/ws/a", `{"id": "Audit.Query"}`, "! 404"}, // for administrators
	})
}

func TestOutcomesOfSessions(t *testing.T) {
	s := newOutcomes(t)
	const at = `{} {"conversationId": "s"}`
	s.play([]opstest.Row{
		{"alice", "Seam.InitContext", "", `{"conversationId": "s"}`, ""},
		{"", "GET", "/uisession/s", "", `…"id":"s"…`},
		{"", "Seam.NavigateTo", "/ws/a", at, "/ws/a"},
		{"", "Seam.GetCurrentDocument", "", at, "/ws/a"},
		{"", "Seam.GetCurrentWorkspace", "", at, "/ws"},
		{"", "Seam.AddInfoMessage", "/ws/a", `{"message": "Saved"} {"conversationId": "s"}`, "/ws/a"},
		{"", "GET", "/uisession/s", "", `…"messages":[{"message":"Saved","severity":"INFO"}]…`},
		{"", "Seam.SetOutcome", "/ws/a", `{"outcome": "done"} {"conversationId": "s"}`, "/ws/a"},
		{"", "GET", "/uisession/s", "", `…"outcome":"done"…`},
		{"", "Seam.Refresh", "/ws/a", at, "/ws/a"},
		{"", "GET", "/uisession/s", "", `…"events":["documentChanged","documentChildrenChanged"]…`},
		{"", "Seam.AddToWorklist", "/ws/a", at, "/ws/a"},
		{"", "Seam.FetchFromWorklist", "", at, "/ws/a"},
		{"", "Seam.ClearWorklist", "", at, ""},
		{"", "Seam.FetchFromWorklist", "", at, ""},
		{"", "Seam.AddToClipboard", "/ws/b", at, "/ws/b"},
		{"", "Seam.FetchFromClipboard", "", at, "/ws/b"},
		{"", "Seam.ClearClipboard", "/ws/a", at, "/ws/a"},
		{"", "Seam.FetchFromClipboard", "", at, ""},
		{"", "Seam.PushDocument", "/ws/b", `{"name": "mine", "scope": "conversation"} {"conversationId": "s"}`, "/ws/b"},
		{"", "Seam.FetchDocument", "", `{"name": "mine"} {"conversationId": "s"}`, "/ws/b"},
		{"", "Seam.CreateDocumentForm", "", `{"type": "Note"} {"conversationId": "s"}`, ""},
		{"", "GET", "/uisession/s", "", `…"form":{…"type":"Note"}…`},
		{"", "Navigation.GoBack", "", at, "/ws/a"},
		{"", "GET", "/uisession/s", "", `…"form":null…`},
		{"bob", "GET", "/uisession/s", "", "! 404"},
		{"alice", "Seam.DestroyContext", "", `{"conversationId": "s"}`, ""},
		{"", "GET", "/uisession/s", "", "! 404"},
		{"", "Seam.GetCurrentDocument", "", at, "! 404"},
	})
}

func TestOutcomesOfTasks(t *testing.T) {
	s := newOutcomes(t)
	s.play([]opstest.Row{
		{"alice", "Task.Create", "/ws/a", `{"task name": "look", "directive": "Look at it", "additional list of actors prefixed ids": "user:bob"}`, "/ws/a"},
		{"bob", "Task.GetAssigned", "", ``, `[{…"directive":"Look at it"…"docref":"$a"…"name":"look"…}]`},
		{"alice", "Task.GetAssigned", "", ``, "[]"},
		{"", "Task.Create", "/ws/a", `{"task name": "none"}`, "/ws/a"}, // without actors: nothing
		{"", "Workflow.GetOpenTasks", "/ws/a", ``, "/task-root/…"},
		{"", "Task.Create", "/ws/a", `{"task name": "both", "additional list of actors prefixed ids": "user:bob,user:alice"}`, "/ws/a"},
		{"", "Task.GetAssigned", "", ``, `[{…"name":"both"…}]`},
		{"", "Task.Create", "/ws/a", `{"task name": "x", "additional list of actors prefixed ids": "user:nobody"}`, "! 400"},
		{"", "Context.StartWorkflow", "/ws/b", `{"id": "SerialDocumentReview", "variables": {"participants": "[\"bob\"]", "validationOrReview": "simpleReview"}}`, "/ws/b"},
		{"", "GET", "/path/ws/b/@workflow", "", `…"workflowModelName":"SerialDocumentReview"…`},
		{"admin", "Task.ApplyDocumentMapping", "/ws/a", `{"mappingName": "m"}`, "! 400"},
		{"alice", "PlatformDrive.SetSynchronization", "/ws", `{"enable": true}`, ""},
		{"", "PlatformDrive.GetRoots", "", ``, "/ws"},
		{"", "PlatformDrive.SetSynchronization", "/ws", `{"enable": false}`, ""},
		{"", "PlatformDrive.GetRoots", "", ``, ""},
		{"", "PlatformDrive.AddToLocallyEditedCollection", "/ws/a", ``, "/ws/a"},
		{"", "see", "/ws/a", "facets", `["Downloadable","Commentable","Versionable","Publishable","HasRelatedText","NXTag","CollectionMember"]`},
		{"bob", "PlatformDrive.GetRoots", "", ``, ""},
	})
}
