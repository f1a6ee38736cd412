package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// scripted sends requests as the client library for scripts does: every one with the same headers, names of
// schemas in two of them, JSON as the type even without a body, the repository in a header and in the address.
type scripted struct {
	*resttest.Server
	t     *testing.T
	names map[string]string // what earlier answers held, by the names that stand for it
}

// step is a request and what the library makes of its answer.
type step struct {
	method, path, body string
	status             int
	has                []string // in the text of the answer; "-…" is not
	keep               string   // "name=member": the member is put where later steps say {name}
	headers            []string
}

func (s *scripted) fill(text string) string {
	for name, value := range s.names {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func (s *scripted) run(steps ...step) {
	s.t.Helper()
	for _, p := range steps {
		headers := append([]string{
			"Accept", "application/json, */*", "Content-Type", "application/json", "Cookie", "device=python-client",
			"X-Application-Name", "Python client", "X-Client-Version", "7.0.0", "X-NXDocumentProperties", "dublincore", "X-NXRepository", "default",
		}, p.headers...)
		if strings.HasPrefix(p.path, "/site/automation/") {
			headers = append(headers, "X-NXproperties", "*")
		}
		got := s.Do(p.method, "/nuxeo"+s.fill(p.path), s.fill(p.body), headers...)
		at := p.method + " " + s.fill(p.path)
		if got.StatusCode != p.status {
			s.t.Errorf("%s: %d %s, want %d", at, got.StatusCode, got.Text, p.status)
			continue
		}
		for _, text := range p.has {
			text, not := strings.CutPrefix(text, "-")
			if text = s.fill(text); strings.Contains(got.Text, text) == not {
				s.t.Errorf("%s: %s; %q found: %v", at, got.Text, text, not)
			}
		}
		if name, member, ok := strings.Cut(p.keep, "="); ok {
			s.names[name] = ""
			if m := regexp.MustCompile(`"` + member + `":"([^"]*)"`).FindStringSubmatch(got.Text); m != nil {
				s.names[name] = m[1]
			} else {
				s.t.Errorf("%s: no %s in %s", at, member, got.Text)
			}
		}
	}
}

const (
	scriptRoot = "/default-domain/workspaces"
	scriptRepo = "/api/v1/repo/default"
)

// newFile makes a file whose id is {doc} from there on.
func newFile(typ, name string) step {
	return step{
		"POST", scriptRepo + "/path" + scriptRoot,
		fmt.Sprintf(`{"entity-type":"document","contextParameters":{},"facets":[],"isCheckedOut":false,"isProxy":false,"isTrashed":false,`+
			`"isVersion":false,"name":%q,"properties":{"dc:title":%q},"repository":"default","type":%q}`, name, name, typ),
		201,
		[]string{`"dc:title":"` + name, `"state":"project"`, `"isTrashed":false`, `"changeToken":"`},
		"doc=uid", nil,
	}
}

func op(name, body string, status int, has ...string) step {
	return step{"POST", "/site/automation/" + name, body, status, has, "", nil}
}

var deleteFile = step{"DELETE", scriptRepo + "/id/{doc}", "", 204, nil, "", nil}

func get(path string, status int, has ...string) step {
	return step{"GET", path, "", status, has, "", nil}
}

func TestScriptClient(t *testing.T) {
	s := &scripted{start(t), t, map[string]string{}}
	log := op("Log", `{"params":{"level":"warn","message":">>> testing"}}`, 204)
	t.Run("server", func(t *testing.T) {
		s.t = t
		s.run(log,
			get("/json/cmis", 200, `"productVersion":"2023.10"`),
			get("/runningstatus", 200, `"repositoryStatus":"ok"`),
			get("/test?stringnotadict", 404),
			get("/test", 404),
			step{"POST", "/api/v1/wrong_endpoint", `{}`, 404, nil, "", nil},
			get("/authentication/token?deviceId=41f0&applicationName=Nuxeo+Drive&permission=ReadWrite&revoke=false&deviceDescription=GNU%2FLinux", 201, "-\n"),
			get("/site/api/v1/me", 200, `"isAdministrator":true`, `"name":"administrators"`),
			get("/site/automation", 200, `"id":"User.Invite"`, `"type":"validationmethod"`, `"id":"PDF.ExtractPages"`),
			op("Noop", `{"params":{},"context":{"currentDocument":"foo"}}`, 404),
		)
	})
	t.Run("documents", func(t *testing.T) {
		s.t = t
		s.run(
			get(scriptRepo+"/path/zone51", 404),
			newFile("File", "doc.txt"),
			get(scriptRepo+"/path/@children", 200, `"path":"/default-domain"`, "-contextParameters"),
			step{"GET", scriptRepo + "/path/@children", "", 200, []string{`"permissions":[`, `"ReadWrite"`}, "", []string{"enrichers-document", "permissions"}},
			step{"GET", "/api/v1/query/tree_children?pageProvider=tree_children&pageSize=1&queryParams={root}", "", 200, nil, "", nil},
			op("Document.Trash", `{"params":{},"input":"{doc}"}`, 200, `"isTrashed":true`),
			op("Document.Untrash", `{"params":{},"input":"{doc}"}`, 200, `"isTrashed":false`),
			op("Document.FollowLifecycleTransition", `{"params":{"value":"approve"},"input":"{doc}"}`, 200, `"state":"approved"`),
			op("Document.FollowLifecycleTransition", `{"params":{"value":"backToProject"},"input":"{doc}"}`, 200, `"state":"project"`),
			op("Document.AddPermission", `{"params":{"permission":"ReadWrite","users":["Administrator"]},"input":"{doc}"}`, 200),
			op("Document.RemovePermission", `{"params":{"user":"Administrator"},"input":"{doc}"}`, 200),
			op("Document.AddPermission", `{"params":{"username":"members","permission":"Write"},"input":"{doc}"}`, 200),
			step{"GET", scriptRepo + "/id/{doc}", "", 200, []string{`{"name":"local","aces":[{"id":"members:Write:true:Administrator::"`}, "", []string{"enrichers-document", "acls"}},
			op("Document.RemovePermission", `{"params":{"id":"members:Write:true:Administrator::"},"input":"{doc}"}`, 200),
			step{"GET", scriptRepo + "/id/{doc}", "", 200, []string{`"acls":[{"name":"inherited"`, `"id":"members:Read:true:::"`, `"id":"Administrator:Everything:true:::"`}, "", []string{"enrichers-document", "acls"}},
			step{"GET", scriptRepo + "/id/{doc}", "", 200, []string{"-lockOwner"}, "", []string{"fetch-document", "lock"}},
			op("Document.Lock", `{"params":{},"input":"{doc}"}`, 200),
			op("Document.Lock", `{"params":{},"input":"{doc}"}`, 200),
			step{"GET", scriptRepo + "/id/{doc}", "", 200, []string{`"lockOwner":"Administrator"`, `"lockCreated":"`}, "", []string{"fetch-document", "lock"}},
			op("Document.Unlock", `{"params":{},"input":"{doc}"}`, 200),
			op("Document.Move", `{"params":{"target":"/default-domain","name":"moved"},"input":"{doc}"}`, 200, `"path":"/default-domain/moved"`),
			deleteFile,
			get(scriptRepo+"/id/{doc}", 404),
			newFile("Workspace", "ndt (2)"),
			get(scriptRepo+"/path"+scriptRoot+"/ndt%20(2)", 200, `"title":"ndt (2)"`),
			deleteFile,
			op("Document.Create", `{"params":{"type":"Note","name":"File.txt","properties":"dc:title=File.txt\nnote:note=some content"},"input":"doc:`+scriptRoot+`"}`, 200, `"note:note":"some content"`),
			op("Document.Update", `{"params":{"properties":"dc:description=sample"},"input":"docs:/default-domain,`+scriptRoot+`"}`, 200, `"entity-type":"documents"`, `"dc:description":"sample"`),
			op("Document.FetchByProperty", `{"params":{"property":"dc:title","values":"Workspaces"}}`, 200, `"path":"/default-domain/workspaces"`),
			op("Document.GetChild", `{"params":{"name":"workspaces"},"input":"/default-domain"}`, 200, `"dc:title":"Workspaces"`),
			op("Document.GetChild", `{"params":{"name":"Workspaces"},"input":"/default-domain"}`, 404),
		)
	})
	t.Run("queries", func(t *testing.T) {
		s.t = t
		page := func(index int) string {
			return fmt.Sprintf("/api/v1/query/document_content?queryParams={domain}&pageSize=1&currentPageIndex=%d&sortBy=dc:title&sortOrder=asc", index)
		}
		empty := url.Values{"query": {`SELECT * FROM Document WHERE uid = "nowhere"`}, "properties": {"*"}}.Encode()
		s.run(
			step{"GET", scriptRepo + "/path/default-domain", "", 200, nil, "domain=uid", nil},
			get("/api/v1/query/CURRENT_DOC_CHILDREN?queryParams={domain}", 200, `"numberOfPages":1`, `"resultsCount":3`, `"currentPageSize":3`, `"currentPageIndex":0`),
			get(page(0), 200, `"currentPageSize":1`, `"isNextPageAvailable":true`, `"title":"Sections"`),
			get(page(1), 200, `"currentPageIndex":1`, `"isNextPageAvailable":true`, `"title":"Templates"`),
			get(page(2), 200, `"currentPageIndex":2`, `"isNextPageAvailable":false`, `"title":"Workspaces"`),
			get("/api/v1/query/NXQL?query=SELECT+*+FROM+Document+WHERE+ecm%3AprimaryType+%3D+%27Domain%27", 200, `"numberOfPages":1`, `"currentPageSize":1`),
			get("/api/v1/search/lang/NXQL/execute?query=SELECT+*+FROM+Domain", 200, `"type":"Domain"`),
			get("/api/v1/search/lang/NXQL/execute?"+empty, 200, `"entries":[]`),
			step{"GET", "/api/v1/query/tree_children?pageSize=1&queryParams={domain}", "", 200, []string{`"permissions":["`, `"hasFolderishChild":`}, "", []string{"enrichers-document", "permissions, hasFolderishChild"}},
		)
	})
	t.Run("comments", func(t *testing.T) {
		s.t = t
		s.run(newFile("File", "commented"),
			get("/api/v1/id/{doc}/@comment?fetch-comment=repliesSummary", 200, `"entries":[]`),
			step{"POST", "/api/v1/id/{doc}/@comment", `{"entity-type":"comment","parentId":"{doc}","text":"first"}`, 201, []string{`"author":"Administrator"`}, "comment=id", nil},
			step{"POST", "/api/v1/id/{comment}/@comment", `{"entity-type":"comment","parentId":"{comment}","text":"reply ᕦ(ò_óˇ)ᕤ"}`, 201, nil, "date=creationDate", nil},
			get("/api/v1/id/{doc}/@comment/{comment}?fetch-comment=repliesSummary", 200, `"numberOfReplies":1`, `"lastReplyDate":"{date}"`),
			get("/api/v1/id/{comment}/@comment?fetch-comment=repliesSummary&pageSize=1&currentPageIndex=1", 200, `"entries":[]`),
			step{"PUT", "/api/v1/id/{doc}/@comment/{comment}", `{"entity-type":"comment","id":"{comment}","parentId":"{doc}","ancestorIds":["{doc}"],"author":"Administrator","numberOfReplies":1,"text":"changed"}`, 200, []string{`"text":"changed"`, `"modificationDate":"2`}, "", nil},
			step{"DELETE", "/api/v1/id/{comment}", "", 204, nil, "", nil},
			get("/api/v1/id/{doc}/@comment?fetch-comment=repliesSummary", 200, `"entries":[]`),
			deleteFile,
		)
	})
	t.Run("people", func(t *testing.T) {
		s.t = t
		s.run(
			step{"POST", "/api/v1/user", `{"entity-type":"user","properties":{"username":"ミカエル","password":"` + resttest.Password + `"},"extendedGroups":[],"isAdministrator":false,"isAnonymous":false}`, 201, []string{`"id":"ミカエル"`}, "", nil},
			step{"POST", "/api/v1/user", `{"entity-type":"user","properties":{"username":"another","password":"x"}}`, 403, nil, "", []string{"as", "ミカエル"}},
			step{"POST", "/api/v1/user", `{"entity-type":"user","properties":{"username":"another","password":"x"}}`, 401, nil, "", []string{"as", "alice"}},
			step{"PUT", "/api/v1/user/" + url.PathEscape("ミカエル"), `{"entity-type":"user","id":"ミカエル","properties":{"username":"ミカエル","company":"Classe Américaine","groups":[]},"extendedGroups":[]}`, 200, []string{`"company":"Classe Américaine"`}, "", nil},
			step{"DELETE", "/api/v1/user/" + url.PathEscape("ミカエル"), "", 204, nil, "", nil},
			get("/api/v1/user/Administrator2", 404),
			step{"POST", "/api/v1/group/?fetch-group=memberUsers&fetch-group=memberGroups", `{"entity-type":"group","groupname":"plops","grouplabel":"Group Test","memberUsers":["Administrator"],"memberGroups":["Administrators"]}`, 201, []string{`"memberGroups":["Administrators"]`}, "", nil},
			get("/api/v1/group/plops?fetch-group=memberUsers&fetch-group=memberGroups", 200, `"grouplabel":"Group Test"`, `"memberUsers":["Administrator"]`),
			step{"PUT", "/api/v1/group/plops", `{"entity-type":"group","groupname":"plops","grouplabel":"Other","memberUsers":["Administrator"],"memberGroups":[]}`, 200, []string{`"grouplabel":"Other"`}, "", nil},
			step{"DELETE", "/api/v1/group/plops", "", 204, nil, "", nil},
			get("/api/v1/group/plops?fetch-group=memberUsers", 404),
			step{"DELETE", "/api/v1/directory/nature/foo", "", 404, nil, "", nil},
			step{"POST", "/api/v1/directory/nature", `{"directoryName":"nature","entity-type":"directoryEntry","properties":{"id":"foo","label":"Foo"}}`, 201, []string{`"id":"foo"`}, "", nil},
			step{"PUT", "/api/v1/directory/nature/foo", `{"directoryName":"nature","entity-type":"directoryEntry","properties":{"id":"foo","label":"Test"}}`, 200, []string{`"label":"Test"`}, "", nil},
			step{"DELETE", "/api/v1/directory/nature/foo", "", 204, nil, "", nil},
			get("/api/v1/directory/nature", 200, `"label":"label.directories.nature.article"`),
		)
	})
	t.Run("files", func(t *testing.T) { s.t = t; scriptFiles(s) })
	t.Run("workflows", func(t *testing.T) { s.t = t; scriptWorkflows(s) })
}

// scriptWorkflows starts workflows and ends their tasks; the library sends whole tasks back.
func scriptWorkflows(s *scripted) {
	const model = `{"entity-type":"workflow","workflowModelName":`
	const own = `graphResource":"[^"]*","id` // the id of a workflow or task, not that of a document or person within
	end := func(action, variables string, status int, has ...string) step {
		return step{"PUT", "/api/v1/task/{task}/" + action, `{"entity-type":"task","id":"{task}","name":"x","workflowInstanceId":"{flow}","state":"opened","directive":"d","nodeName":"n",` +
			`"targetDocumentIds":[{"id":"{doc}"}],"actors":[{"id":"user:Administrator"}],"comments":[],"comment":"a comment","variables":` + variables + `,"taskInfo":{"taskActions":[]}}`, status, has, "", nil}
	}
	task := func(path string, has ...string) step { return step{"GET", path, "", 200, has, "task=" + own, nil} }
	handOn := func(how, query string, status int) step {
		return step{"PUT", "/api/v1/task/{task}/" + how + "?" + query, "", status, nil, "", nil}
	}
	s.run(
		step{"POST", "/api/v1/user", `{"entity-type":"user","id":"georges","properties":{"username":"georges","password":"Test"}}`, 201, nil, "", nil},
		newFile("File", "reviewed"),
		step{"POST", "/api/v1/workflow", model + `"SerialDocumentReview","attachedDocumentIds":"{doc}"}`, 201, []string{`"attachedDocumentIds":[]`, `"state":"running"`}, "flow=" + own, nil},
		step{"DELETE", "/api/v1/workflow/{flow}", "", 204, nil, "", nil},
		step{"DELETE", "/api/v1/workflow/{flow}", "", 409, nil, "", nil},
		step{"POST", "/api/v1/workflow", model + `"None","attachedDocumentIds":["{doc}"]}`, 400, []string{`"entity-type":"exception"`}, "", nil},
		step{"POST", "/api/v1/id/{doc}/@workflow", model + `"SerialDocumentReview"}`, 201, []string{`"attachedDocumentIds":[{"id":"{doc}"}]`}, "flow=" + own, nil},
		get("/api/v1/workflow?workflowModelName=SerialDocumentReview", 200, `"entity-type":"workflows"`, `"id":"{flow}"`),
		get("/api/v1/workflow?workflowModelName=ParallelDocumentReview", 200, `"entries":[]`),
		get("/api/v1/workflow?workflowModelName=", 200, `"id":"{flow}"`),
		get("/api/v1/workflow/{flow}", 200, `"initiator":"Administrator"`, `"workflowModelName":"SerialDocumentReview"`),
		get("/api/v1/workflow/{flow}/graph", 200, `"entity-type":"graph"`, `"nodes":[`, `"transitions":[`),
		get("/api/v1/workflow/none", 404),
		get("/api/v1/id/{doc}/@workflow", 200, `"id":"{flow}"`),
		get("/api/v1/id/{doc}/@task?userId=georges", 200, `"entries":[]`),
		get("/api/v1/id/{doc}/@task?workflowInstanceId={flow}", 200, `"resultsCount":1`),
		task("/api/v1/id/{doc}/@workflow/{flow}/task", `"resultsCount":1`),
		task("/api/v1/task?userId=Administrator&workflowInstanceId={flow}&workflowModelName=SerialDocumentReview", `"nodeName":"Task38e"`, "-resultsCount"),
		get("/api/v1/task/{task}", 200, `"state":"opened"`, `"allowTaskReassignment":false`, `"label":"wf.serialDocumentReview.cancel"`),
		handOn("reassign", "actors=user%3Ageorges&comment=", 409),
		end("nothing", `{}`, 400, `"entity-type":"exception"`),
		end("start_review", `{"assignees":["user:georges"],"comment":null,"participants":["user:georges"],"validationOrReview":"simpleReview","end_date":"2011-10-23T12:00:00.00Z"}`, 200, `"state":"ended"`, `"text":"a comment"`),
		end("start_review", `{}`, 409, `"status":409`),
		get("/api/v1/task?workflowModelName=SerialDocumentReview", 200, `"entries":[]`, "-resultsCount"),
		task("/api/v1/task?userId=georges", `"pageSize":`, `"nodeName":"Task6d8"`, `"allowTaskReassignment":true`),
		handOn("delegate", "delegatedActors=user%3AAdministrator&delegatedActors=group%3Amembers&comment=a+comment", 200),
		get("/api/v1/task/{task}", 200, `"delegatedActors":[{"id":"user:Administrator"},{"id":"group:members"}]`),
		handOn("delegate", "delegatedActors=nobody", 400), handOn("delegate", "", 400),
		handOn("reassign", "actors=Administrator&comment=a+comment", 200),
		get("/api/v1/task/{task}?fetch.task=actors", 200, `"delegatedActors":[]`, `"actors":[{"entity-type":"user"`),
		get("/api/v1/task?userId=georges", 200, `"entries":[]`),
		step{"PUT", scriptRepo + "/id/{doc}/@task/{task}/validate", `{"entity-type":"task","id":"{task}","variables":{"comment":"good"}}`, 200, []string{`"state":"ended"`, `"workflowLifeCycleState":"done"`}, "", nil},
		get("/api/v1/id/{doc}/@workflow", 200, `{"entity-type":"workflows","entries":[]}`),
		get("/api/v1/workflow", 200, `"entries":[]`),
		deleteFile,
	)
}

// scriptFiles uploads files whole and in chunks, attaches them and reads them back.
func scriptFiles(s *scripted) {
	bytes := func(idx, name, typ, body string, status int, more ...string) step {
		h := append([]string{"Content-Type", "application/octet-stream", "X-File-Name", name, "X-File-Size", fmt.Sprint(len(body)), "X-File-Type", typ}, more...)
		return step{"POST", "/api/v1/upload/{batch}/" + idx, body, status, []string{`"uploaded":"true"`, `"fileIdx":"` + idx + `"`}, "", h}
	}
	chunk := func(n string, status int) step {
		return bytes("2", "big.bin", "application/octet-stream", "part"+n, status, "X-File-Size", "10", "X-Upload-Type", "chunked", "X-Upload-Chunk-Count", "2", "X-Upload-Chunk-Index", n)
	}
	again := chunk("0", 409)
	again.has = nil
	s.run(newFile("File", "Document"),
		get("/api/v1/upload/handlers", 200, `{"handlers":[{"name":"default"}]}`),
		step{"POST", "/api/v1/upload", "", 201, nil, "batch=batchId", []string{"upload-provider", "nuxeo"}},
		get("/api/v1/upload/{batch}", 204),
		bytes("0", "Test.txt", "text/plain", "data", 201),
		bytes("1", "file.pdf", "pdf", "0000", 201),
		chunk("0", 202), again,
		get("/api/v1/upload/{batch}/2", 202, `"uploadedChunkIds":[0]`, `"chunkCount":2`),
		chunk("1", 201),
		bytes("3", "Empty.txt", "", "", 201),
		get("/api/v1/upload/{batch}/0", 200, `"name":"Test.txt"`, `"size":4`),
		get("/api/v1/upload/1234/0", 404),
		step{"POST", "/api/v1/upload/{batch}/1/execute/Blob.AttachOnDocument", `{"params":{"document":"` + scriptRoot + `/Document"}}`, 204, nil, "", []string{"X-NXVoidOperation", "true", "X-Batch-No-Drop", "true"}},
		op("Document.Fetch", `{"params":{"value":"`+scriptRoot+`/Document"}}`, 200, `"mime-type":"application/pdf"`),
		step{"PUT", scriptRepo + "/id/{doc}", `{"entity-type":"document","uid":"{doc}","type":"File","state":"project","path":"` + scriptRoot + `/Document","facets":["Downloadable"],"contextParameters":{},"isCheckedOut":true,` +
			`"properties":{"dc:title":"Document","file:content":{"upload-batch":"{batch}","upload-fileId":"0"}}}`, 200, []string{`"title":"Document"`}, "", []string{"X-Batch-No-Drop", "true"}},
		get(scriptRepo+"/id/{doc}/@blob/blobholder:0", 200, "data"),
		op("Blob.Get", `{"params":{},"input":"`+scriptRoot+`/Document"}`, 200, "data"),
		get(scriptRepo+"/id/{doc}/@blob/blobholder:0/@convert?format=html", 200, "<html", "data"),
		get(scriptRepo+"/id/{doc}/@blob/file:content/@convert?type=text%2Fhtml", 200, "<html", "data"),
		get(scriptRepo+"/id/{doc}/@blob/blobholder:0/@convert?converter=nope", 400, "nope is not registered"),
		get(scriptRepo+"/id/{doc}/@rendition/xmlExport", 200, `<?xml version="1.0" encoding="UTF-8"?>`, "<path>"+scriptRoot[1:]+"/Document</path>"),
		step{"GET", scriptRepo + "/id/{doc}", "", 200, []string{`"name":"thumbnail"`, `"name":"xmlExport"`, `"name":"zipExport"`}, "", []string{"enrichers-document", "renditions"}},
		step{"POST", "/api/v1/upload/{batch}/execute/Blob.Attach", `{"params":{"document":"` + scriptRoot + `/Document","xpath":"files:files"}}`, 204, nil, "", []string{"X-NXVoidOperation", "true"}},
		get(scriptRepo+"/id/{doc}/@blob/files:files/2/file", 200, "part0part1"),
		step{"DELETE", "/api/v1/upload/{batch}", "", 404, nil, "", nil}, // used up
		get(scriptRepo+"/id/{doc}/@audit", 200, `"eventId":"documentCreated"`, `"docPath":"`+scriptRoot+`/Document"`),
		deleteFile,
	)
	if got := s.Do("GET", "/nuxeo"+s.fill(scriptRepo+"/id/{doc}/@blob/file:content"), ""); got.StatusCode != http.StatusNotFound {
		s.t.Errorf("file of a document that is gone: %d", got.StatusCode)
	}
}
