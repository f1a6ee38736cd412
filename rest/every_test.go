package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/decks"
	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/people"
)

// everything is a server with something of each kind, and requests for all there is: every
// address, adapter, operation and tool, also those that are yet to come.
type everything struct {
	*resttest.Server
	t     testing.TB
	store kv.Store

	owner, folder, file, id string            // whose all is, and where
	deck                    float64           // its number
	named                   map[string]string // what stands for ":name" in addresses, by their beginning where that matters
}

// shot is one request.
type shot struct {
	name, method, path, typ, body string

	reads rest.Body // of the body
	table string    // that it comes from: address, adapter, operation or tool
}

// getShot is a request for an address.
func getShot(name, path string) shot { return shot{name: name, method: http.MethodGet, path: path} }

// postShot is a request with JSON.
func postShot(name, path, body string) shot {
	return shot{name: name, method: http.MethodPost, path: path, typ: "application/json", body: body}
}

// newEverything makes everything of one user's, in a folder.
func newEverything(t testing.TB, owner, folder string) *everything {
	t.Helper()
	e := &everything{t: t, owner: owner, folder: folder, file: folder + "/file"}
	e.Server = resttest.Start(t, resttest.Config{
		Ops: decks.Ops(), Repo: decks.Listen,
		Storage: func(c *storage.Config) {
			e.store = memory.New()
			c.DB = kv.New(e.store, kv.Options{})
		},
		Rest: func(c *rest.Config) { c.Limits.Rate = -1 },
	})
	if owner != "Administrator" {
		e.User(owner)
	}
	return e
}

// as sends a request of the owner's, which succeeds.
func (e *everything) as(method, path, body string, headers ...string) *resttest.Answer {
	e.t.Helper()
	a := e.Do(method, path, body, append([]string{"as", e.owner}, headers...)...)
	if a.StatusCode >= http.StatusBadRequest {
		e.t.Fatalf("%s %s: %s %s", method, path, a.Status, a.Text)
	}
	return a
}

func (e *everything) op(name, input, params string) *resttest.Answer {
	e.t.Helper()
	body := `{"params":` + params + `}`
	if input != "" {
		body = `{"input":"` + input + `","params":` + params + `}`
	}
	return e.as("POST", api+"/automation/"+name, body)
}

// fill makes something of each kind; word stands in all of it.
func (e *everything) fill(word string) {
	e.t.Helper()
	must := func(a *resttest.Answer, of string) string {
		v, _ := a.JSON(e.t)[of].(string)
		if v == "" {
			e.t.Fatalf("no %s: %s", of, a.Text)
		}
		return v
	}
	if err := e.Repo.Update(context.Background(), e.Repo.System(), func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, e.owner)
		if err != nil {
			return err
		}
		u.AccountType = "pro"
		return people.SaveUser(tx, u, "")
	}); err != nil {
		e.t.Fatal(err)
	}
	create := func(typ, name, props string) string {
		return must(e.as("POST", api+"/path"+e.folder, fmt.Sprintf(`{"entity-type":"document","type":%q,"name":%q,"properties":%s}`, typ, name, props)), "uid")
	}
	text := fmt.Sprintf(`{"dc:title":"%s","dc:description":"about %[1]s","dc:source":"%[1]s","dc:subjects":["%[1]s"],"file:content":{"data":"content %[1]s","name":"%[1]s.txt","mime-type":"text/plain"}}`, word)
	e.id = create("File", "file", text)
	twin := create("File", "other", text)
	note := create("Note", "note", fmt.Sprintf(`{"dc:title":"%s","note:note":"note %[1]s","note:mime_type":"text/plain"}`, word))
	sub := create("Folder", "sub", `{"dc:title":"`+word+`"}`)
	gone := create("File", "gone", text)
	e.op("Document.Trash", gone, `{}`)
	version := must(e.op("Document.CreateVersion", e.file, `{"increment":"Minor"}`), "uid")
	e.op("Document.SetProperty", e.file, fmt.Sprintf(`{"xpath":"dc:rights","value":"rights %s"}`, word))
	e.op("Services.TagDocument", e.file, `{"tags":"`+word+`tag"}`)
	comment := must(e.as("POST", api+"/id/"+e.id+"/@comment", fmt.Sprintf(`{"entity-type":"comment","parentId":%q,"text":"comment %s"}`, e.id, word)), "id")
	collection := must(e.op("Collection.Create", e.file, fmt.Sprintf(`{"name":"%scollection"}`, word)), "uid")
	e.op("Document.AddToFavorites", e.file, `{}`)
	e.op("Document.AddRelation", e.file, fmt.Sprintf(`{"object":%q,"predicate":"http://relates/%s"}`, twin, word))
	proxy := must(e.Do("POST", api+"/automation/Document.CreateLiveProxy", fmt.Sprintf(`{"input":%q,"params":{"Destination Path":%q}}`, e.file, e.folder+"/sub")), "uid")
	saved := must(e.as("POST", api+"/search/saved", fmt.Sprintf(`{"entity-type":"savedSearch","title":"search %s","queryLanguage":"NXQL","query":"SELECT * FROM Document WHERE dc:title = '%[1]s'"}`, word)), "id")
	hook := must(e.as("POST", api+"/webhook", `{"url":"https://hooks.example.org/`+word+`","events":["documentCreated"]}`), "id")
	batch := must(e.as("POST", api+"/upload", ""), "batchId")
	e.as("POST", api+"/upload/"+batch+"/0", "uploaded "+word, "X-File-Name", word+".txt", "Content-Type", "application/octet-stream")
	made := e.as("POST", "/v1/decks", fmt.Sprintf(`{"title":"Deck %s","data":"<section><h1>slide %[1]s</h1></section>"}`, word))
	e.deck, _ = made.JSON(e.t)["data"].(map[string]any)["id"].(float64)
	deck := fmt.Sprintf("/v1/decks/%v", e.deck)
	e.as("POST", deck+"/versions", "")
	e.as("POST", deck+"/files?name="+word, "<svg xmlns='http://www.w3.org/2000/svg'><title>"+word+"</title></svg>", "Content-Type", "image/svg+xml")
	link := e.as("POST", deck+"/share", `{"name":"link `+word+`"}`).JSON(e.t)["data"].(map[string]any)["url"].(string)
	e.as("POST", deck+"/exports", `{"format":"pdf"}`)
	flow := must(e.as("POST", api+"/id/"+e.id+"/@workflow", fmt.Sprintf(`{"entity-type":"workflow","workflowModelName":"SerialDocumentReview","variables":{"initiatorComment":"review %s"}}`, word)), "id")
	tasks, _ := e.as("GET", api+"/task?workflowInstanceId="+flow, "").JSON(e.t)["entries"].([]any)
	task := tasks[0].(map[string]any)["id"].(string)
	e.op("WebUI.InitSeamContext", "", `{"conversationId":"c1"}`)
	bulk := must(e.as("POST", api+"/search/bulk/setProperties?query="+strings.ReplaceAll("SELECT * FROM Document WHERE dc:title = '"+word+"x'", " ", "+"), `{"dc:title":"x"}`), "commandId")
	e.named = map[string]string{
		"id": e.id, "/v1/:id": fmt.Sprint(e.deck), "deck_id": fmt.Sprint(e.deck), "/share/:deck_id/:id": "1", "slide": "1", "number": "1", "version": "1", "repo": "default", "doc": strings.TrimPrefix(e.file, "/"), "tail": "@children",
		"/search/saved/:id": saved, "/webhook/:id": hook, "webhook": hook, "/job/:id": "1", "delivery": "1", "batch": batch, "idx": "0", "op": "Document.SetProperty", "run": "none", "trace": "1",
		"commandId": bulk, "action": "setProperties", "provider": "all_collections", "lang": "NXQL", "directory": "continent", "name": "members", "/user/*name": e.owner, "/directory/*id": "europe",
		"username": e.owner, "user": e.owner, "slug": "deck-" + strings.ToLower(word), "token": link[strings.LastIndexByte(link, '/')+1:], "client": "none", "*id": "europe",
		"workflowInstanceId": flow, "modelName": "SerialDocumentReview", "taskId": task, "conversationId": "c1", "/task/:action": "start_review",
		"version id": version, "proxy id": proxy, "comment id": comment, "collection id": collection, "trash id": gone, "note id": note, "sub id": sub,
	}
}

// at writes an address as one of something that is there.
func (e *everything) at(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "" || part[0] != ':' && part[0] != '*' {
			continue
		}
		v, found := e.named[part[1:]], ""
		for of, value := range e.named { // the longest beginning
			if before, last, ok := strings.Cut(of, part); ok && last == "" && before != "" && strings.Contains(path, strings.TrimSuffix(strings.Split(before, ":")[0], "/")) && len(of) > len(found) {
				v, found = value, of
			}
		}
		if v == "" {
			v = "none"
		}
		parts[i] = v
	}
	return strings.Join(parts, "/")
}

// bodies are what addresses are sent, by how they begin; the longest holds.
var bodies = map[string]struct{ typ, body string }{
	"POST /api/v1/path":                    {"", `{"entity-type":"document","type":"File","name":"new","properties":{"dc:title":"new"}}`},
	"POST /api/v1/id":                      {"", `{"entity-type":"document","type":"File","name":"new","properties":{"dc:title":"new"}}`},
	"PUT /api/v1/path":                     {"", `{"entity-type":"document","properties":{"dc:title":"changed"}}`},
	"PUT /api/v1/id":                       {"", `{"entity-type":"document","properties":{"dc:title":"changed"}}`},
	"POST /api/v1/automation":              {"", `{"input":"{file}","params":{"xpath":"dc:title","value":"changed"}}`},
	"POST /api/v1/@op":                     {"", `{"input":"{file}","params":{"xpath":"dc:title","value":"changed"}}`},
	"POST /api/v1/upload/:batch/:idx":      {"application/octet-stream", `x`},
	"POST /api/v1/upload/:batch/execute":   {"", `{"params":{"document":"{file}"}}`},
	"POST /api/v1/upload/:batch/:idx/exec": {"", `{"params":{"document":"{file}"}}`},
	"POST /api/v1/batch":                   {"", `{"requests":[{"method":"PUT","path":"/api/v1/path{file}","body":{"entity-type":"document","properties":{"dc:title":"changed"}}},{"method":"GET","path":"/api/v1/path{file}"}]}`},
	"POST /api/v1/group":                   {"", `{"entity-type":"group","groupname":"g9","grouplabel":"x"}`},
	"PUT /api/v1/group":                    {"", `{"entity-type":"group","groupname":"members","grouplabel":"x"}`},
	"POST /api/v1/user":                    {"", `{"entity-type":"user","id":"new","properties":{"username":"new","password":"some password"}}`},
	"PUT /api/v1/user":                     {"", `{"entity-type":"user","id":"{owner}","properties":{"username":"{owner}","firstName":"x"}}`},
	"PUT /api/v1/me/changepassword":        {"", `{"oldPassword":"correct horse battery","newPassword":"correct horse battery"}`},
	"POST /api/v1/directory":               {"", `{"entity-type":"directoryEntry","directoryName":"continent","properties":{"id":"new","label":"x"}}`},
	"PUT /api/v1/directory":                {"", `{"entity-type":"directoryEntry","directoryName":"continent","properties":{"id":"europe","label":"x"}}`},
	"POST /api/v1/search/saved":            {"", `{"entity-type":"savedSearch","title":"new","queryLanguage":"NXQL","query":"SELECT * FROM Document"}`},
	"PUT /api/v1/search/saved":             {"", `{"entity-type":"savedSearch","title":"changed","queryLanguage":"NXQL","query":"SELECT * FROM Document"}`},
	"POST /api/v1/webhook":                 {"", `{"url":"https://hooks.example.org/x","events":["documentCreated"]}`},
	"PUT /api/v1/uisession":                {"", `{"tab":"history"}`},
	"PUT /api/v1/webhook":                  {"", `{"description":"changed"}`},
	"POST /api/v1/oauth2":                  {"", `{"entity-type":"oauth2Client","id":"new","name":"new","redirectURIs":["https://a.example.org/"],"autoGrant":false,"isEnabled":true}`},
	"PUT /api/v1/oauth2":                   {"", `{"entity-type":"oauth2Client","id":"new","name":"new","isEnabled":true}`},
	"POST @annotation":                     {"", `{"entity-type":"annotation","parentId":"{id}","text":"new","xpath":"file:content"}`},
	"POST @comment":                        {"", `{"entity-type":"comment","parentId":"{id}","text":"new"}`},
	"PUT @comment":                         {"", `{"entity-type":"comment","text":"changed"}`},
	"PUT @annotation":                      {"", `{"entity-type":"annotation","text":"changed"}`},
	"PUT @blob":                            {"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=a; filename=a.txt\r\n\r\nnew\r\n--x--\r\n"},
	"POST @convert":                        {"application/x-www-form-urlencoded", "async=true&type=application/pdf"},
	"POST @workflow":                       {"", `{"entity-type":"workflow","workflowModelName":"ParallelDocumentReview"}`},
	"POST /api/v1/workflow":                {"", `{"entity-type":"workflow","workflowModelName":"ParallelDocumentReview","attachedDocumentIds":["{id}"]}`},
	"POST @op":                             {"", `{"params":{"xpath":"dc:title","value":"changed"}}`},
	"PATCH /v1/decks/:id":                  {"", `{"title":"Changed"}`},
	"POST /v1/decks":                       {"", `{"title":"New"}`},
	"POST /v1/decks/import":                {"text/markdown", "# New"},
	"POST /v1/decks/:id/files":             {"image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"},
	"POST /v1/decks/:id/slides":            {"", `{"html":"<section>new</section>"}`},
	"PATCH /v1/decks/:id/slides":           {"", `{"html":"<section>changed</section>"}`},
	"POST /v1/decks/:id/slides/:slide/":    {"", `{"after":0}`},
	"POST /v1/decks/:deck_id/share":        {"", `{"name":"new"}`},
	"POST /v1/decks/:deck_id/exports":      {"", `{"format":"pdf"}`},
	"POST /v1/teams":                       {"", `{"name":"New"}`},
	"PATCH /v1/teams":                      {"", `{"name":"Changed"}`},
	"PUT /v1/teams":                        {"", `{"role":"member"}`},
	"POST /v1/webhooks":                    {"", `{"url":"https://hooks.example.org/y","events":["deck.created"]}`},
	"PATCH /v1/webhooks":                   {"", `{"description":"changed"}`},
	"POST /decks":                          {"", `{"h":1,"v":0,"f":-1}`},
	"POST /share":                          {"application/x-www-form-urlencoded", "password=x"},
	"POST /ui":                             {"application/x-www-form-urlencoded", "user=x&password=x"},
	"POST /oauth2":                         {"application/x-www-form-urlencoded", "grant_type=authorization_code&code=x&client_id=x"},
	"POST /site":                           {"application/x-www-form-urlencoded", "key=x&password=secret+word&again=secret+word"},
}

// sent is what an address is sent.
func (e *everything) sent(method, path string) (typ, body string) {
	key, best := method+" "+path, ""
	for of, b := range bodies {
		if strings.HasPrefix(key, of) && len(of) > len(best) {
			best, typ, body = of, b.typ, b.body
		}
	}
	if typ == "" {
		typ = "application/json"
	}
	if body == "" && method != http.MethodGet && method != http.MethodDelete {
		body = "{}"
	}
	return typ, strings.NewReplacer("{file}", e.file, "{id}", e.id, "{owner}", e.owner).Replace(body)
}

// addresses are requests for every address and adapter.
func (e *everything) addresses() (out []shot) {
	for _, a := range allAddresses() {
		method, path, _ := strings.Cut(a.name, " ")
		typ, body := e.sent(method, path)
		if name, ok := strings.CutPrefix(path, "@"); ok {
			args := map[string]string{"annotation": "/none", "bo": "/File", "op": "/Document.SetProperty", "pp": "/default_search", "rendition": "/xmlExport", "convert": "?format=pdf", "preview": "/"}[name]
			if name == "task" && method == http.MethodPut {
				args = "/" + e.named["taskId"] + "/start_review"
			}
			if name == "comment" && method != http.MethodPost {
				args = "/" + e.named["comment id"]
			}
			if method == http.MethodGet && (name == "comment" || name == "annotation") || method == http.MethodPost && name == "annotation" {
				args = ""
			}
			out = append(out, shot{a.name, method, api + "/id/" + e.id + "/@" + name + args, typ, body, a.body, "adapter"})
			continue
		}
		at := e.at(path)
		if strings.Contains(path, "/bulk/:action") {
			at += "?query=SELECT+*+FROM+Note"
		}
		if (path == "/api/v1/token" || path == "/authentication/token") && (method == http.MethodPost || method == http.MethodGet) {
			at += "?application=a&applicationName=a&deviceId=1&permission=ReadWrite&deviceDescription=d"
		}
		if strings.Contains(path, "/bulk/:commandId") && strings.HasSuffix(path, ":commandId") && method == http.MethodPut {
			at = api + "/bulk/;id=" + e.id
		}
		if strings.Contains(path, "execute/:op") {
			at = strings.ReplaceAll(at, "Document.SetProperty", "Blob.AttachOnDocument")
		}
		out = append(out, shot{a.name, method, at, typ, body, a.body, "address"})
	}
	return out
}

// value is one of a type for a parameter of a name.
func (e *everything) value(name, typ string, values []string) any {
	if len(values) > 0 {
		return values[0]
	}
	if v, ok := map[string]any{
		"type": "File", "xpath": "dc:title", "permission": "Read", "user": e.owner, "username": e.owner, "increment": "Minor", "facet": "Thumbnail", "batch": e.named["batch"], "tags": "tag",
		"directory": "continent", "directoryName": "continent", "vocabularyName": "continent", "scope": "read_write", "events": []string{"documentCreated"}, "url": "https://hooks.example.org/z",
		"query": "SELECT * FROM Document", "providerName": "default_search", "html": "<section>new</section>", "commandId": e.named["commandId"], "groupname": "members", "schema": "dublincore", "target": e.folder + "/sub",
		"Destination Path": e.folder + "/sub", "mimeType": "application/pdf", "predicate": "http://p/", "deck_id": e.deck, "slug": e.named["slug"], "token": e.named["token"], "title": "new", "source": "# New", "timeoutSecond": 0, "searchTerm": "Canary", "format": "pdf", "webhook_id": e.named["webhook"],
		"operation": "Document.SetProperty", "kind": "client", "adapter": "File", "entries": `[{"id":"new","label":"x"}]`, "version": "1", "name": "members", "text": "# New",
	}[name]; ok {
		return v
	}
	switch strings.ToLower(typ) {
	case "document", "documents", "input":
		return e.file
	case "boolean":
		return true
	case "integer", "int", "long", "float", "number":
		if name == "id" {
			return max(1, e.deck)
		}
		return 1
	case "date":
		return "2999-01-01T00:00:00Z"
	case "properties", "map", "object":
		return map[string]any{"dc:title": "x"}
	case "list", "stringlist", "array":
		return []string{"x"}
	}
	return "x"
}

// arguments are the parameters of an operation that it needs, and those of others that name something.
func (e *everything) arguments(d *engine.Def) map[string]any {
	out := map[string]any{}
	for _, p := range d.Params() {
		if p.Required || slices.Contains([]string{"timeoutSecond", "searchTerm", "value", "user", "providerName", "query", "title", "data", "username"}, p.Name) {
			out[p.Name] = e.value(p.Name, p.Type, p.Values)
		}
	}
	switch entity := map[string]string{"user": "user", "group": "group", "search": "savedSearch", "comment": "comment", "entry": "directoryEntry", "document": "document"}; {
	default:
		for name, typ := range entity {
			if _, ok := out[name].(map[string]any); ok {
				out[name] = map[string]any{
					"entity-type": typ, "id": "new", "groupname": "g9", "title": "new", "query": "SELECT * FROM Document", "queryLanguage": "NXQL", "text": "new", "directoryName": "continent", "type": "File", "name": "new",
					"properties": map[string]any{"username": "new", "groupname": "g9", "id": "new", "label": "x", "dc:title": "new"},
				}
			}
		}
	}
	return out
}

// operations are calls of every operation, by name and alias, over REST and as a tool.
func (e *everything) operations() (out []shot) {
	set := e.Engine.Set()
	for _, name := range set.Names() {
		d, _ := set.Op(name)
		call := map[string]any{"params": e.arguments(d)}
		inputs := d.Signature()
		file := len(inputs) > 0 && strings.HasPrefix(inputs[0], "blob")
		if len(inputs) > 0 && inputs[0] != "void" && !file {
			call["input"] = "doc:" + e.file
		}
		body, err := json.Marshal(call)
		if err != nil {
			e.t.Fatal(err)
		}
		for _, as := range append([]string{name}, d.Aliases...) {
			s := postShot("operation "+as, api+"/automation/"+as, string(body))
			s.table = "operation"
			if file {
				s.typ = "multipart/form-data; boundary=x"
				s.body = "--x\r\nContent-Disposition: form-data; name=params\r\nContent-Type: application/json\r\n\r\n" + string(body) +
					"\r\n--x\r\nContent-Disposition: form-data; name=input; filename=a.txt\r\nContent-Type: text/plain\r\n\r\nnew\r\n--x--\r\n"
			}
			out = append(out, s)
		}
		args := map[string]any{"operation": name, "params": call["params"]}
		if call["input"] != nil {
			args["input"] = call["input"]
		}
		out = append(out, e.tool("/mcp/automation", "run_operation", args))
	}
	return out
}

func (e *everything) tool(path, name string, args map[string]any) shot {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	if err != nil {
		e.t.Fatal(err)
	}
	s := postShot(fmt.Sprintf("tool %s %v", name, args["operation"]), path, string(body))
	s.table = "tool"
	return s
}

// reading reports whether a request only looks at something.
func (e *everything) reading(s shot) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(s.name, "operation "), "tool run_operation ")
	d, op := e.Engine.Set().Op(name)
	return s.method == http.MethodGet || op && d.Effect != engine.Writes
}

// tools are calls of every tool.
func (e *everything) tools() (out []shot) {
	for _, path := range []string{"/mcp", "/mcp/automation"} {
		list := e.as("POST", path, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, "Accept", "application/json, text/event-stream").JSON(e.t)
		all, _ := list["result"].(map[string]any)["tools"].([]any)
		if len(all) < 3 {
			e.t.Fatalf("%s: %d tools", path, len(all))
		}
		for _, v := range all {
			var tool struct {
				Name        string
				InputSchema struct {
					Properties map[string]map[string]any
					Required   []string
				}
			}
			b, err := json.Marshal(v)
			if err == nil {
				err = json.Unmarshal(b, &tool)
			}
			if err != nil {
				e.t.Fatal(err)
			}
			args := map[string]any{}
			for _, name := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
				p := tool.InputSchema.Properties[name]
				typ, _ := p["type"].(string)
				if slices.Contains(tool.InputSchema.Required, name) || slices.Contains([]string{"title", "html", "input"}, name) {
					args[name] = e.value(name, typ, nil)
				}
			}
			out = append(out, e.tool(path, tool.Name, args))
		}
	}
	return out
}

// send sends a request with headers.
func (e *everything) send(s shot, headers ...string) *resttest.Answer {
	e.t.Helper()
	return e.Do(s.method, s.path, s.body, append([]string{"Content-Type", s.typ, "Accept", "application/json, text/event-stream, */*"}, headers...)...)
}

// noFault has the test fail if an answer is a fault of the server.
func (e *everything) noFault(s shot, a *resttest.Answer) {
	e.t.Helper()
	if a.StatusCode >= http.StatusInternalServerError && a.StatusCode != http.StatusServiceUnavailable && a.StatusCode != http.StatusNotImplemented {
		e.t.Errorf("%s %s %.300s: %s %.300s", s.name, s.path, s.body, a.Status, a.Text)
	}
}

// version numbers the state of the store.
func (e *everything) version() uint64 {
	e.t.Helper()
	snap, err := e.store.Begin(context.Background(), false)
	if err != nil {
		e.t.Fatal(err)
	}
	defer snap.Discard()
	return snap.Version()
}

// bookkeeping begins the keys of rows that the server writes about any caller: counters of wrong passwords, and asynchronous
// runs with what they rest on.
var bookkeeping = []string{"ssignincounters\x00", "sasyncrun", "rlease\x00"}

// rows are all rows of the store, without those that the server writes about reading: records of
// downloads, its own sequences, and its bookkeeping.
func (e *everything) rows() map[string]string {
	e.t.Helper()
	snap, err := e.store.Begin(context.Background(), false)
	if err != nil {
		e.t.Fatal(err)
	}
	defer snap.Discard()
	out := map[string]string{}
	c := snap.Scan(kv.Range{})
	defer c.Close()
	for c.Next() {
		v, err := c.Value()
		if err != nil {
			e.t.Fatal(err)
		}
		k := string(c.Key())
		if k[0] != 0 && k[0] != 'a' && !slices.ContainsFunc(bookkeeping, func(p string) bool { return strings.HasPrefix(k, p) }) {
			out[k] = string(v)
		}
	}
	return out
}

// changed are the keys of rows that are others.
func changed(before, after map[string]string) (keys []string) {
	for k, v := range after {
		if old, ok := before[k]; !ok || old != v {
			keys = append(keys, fmt.Sprintf("%q", k))
		}
	}
	for k := range before {
		if _, ok := after[k]; !ok {
			keys = append(keys, fmt.Sprintf("-%q", k))
		}
	}
	slices.Sort(keys)
	return keys
}
