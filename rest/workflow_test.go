package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestWorkflow starts a workflow over REST and ends it by its tasks, as clients do: with all variables of the task
// sent back.
func TestWorkflow(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	const api = "/nuxeo/api/v1"
	doc := s.Do("POST", api+"/path/", `{"entity-type":"document","type":"File","name":"plan"}`).JSON(t)
	w := s.Do("POST", api+"/workflow", `{"entity-type":"workflow","workflowModelName":"SerialDocumentReview","attachedDocumentIds":["`+doc["uid"].(string)+`"]}`)
	if w.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", w.Status, w.Text)
	}
	id := w.JSON(t)["id"].(string)
	task := func(user string) string {
		t.Helper()
		entries := s.Do("GET", api+"/task?workflowModelName=SerialDocumentReview", "", "as", user).JSON(t)["entries"].([]any)
		if len(entries) != 1 {
			t.Fatalf("%s has %d tasks", user, len(entries))
		}
		return api + "/task/" + entries[0].(map[string]any)["id"].(string)
	}
	first := task("Administrator")
	for _, step := range []struct {
		method, path, user, body string
		want                     int
	}{
		{"GET", first, "bob", "", http.StatusNotFound},
		{"PUT", first + "/start_review", "bob", `{}`, http.StatusNotFound},
		{"PUT", first + "/approve", "Administrator", `{}`, http.StatusBadRequest},
		{
			"PUT", first + "/start_review", "Administrator",
			`{"entity-type":"task","comment":"a comment","variables":{"comment":null,"participants":["user:bob"],"validationOrReview":"simpleReview","end_date":"2011-10-23T12:00:00.00Z"}}`, http.StatusOK,
		},
		{"PUT", first + "/start_review", "Administrator", `{}`, http.StatusConflict},
		{"POST", api + "/workflow", "bob", `{"workflowModelName":"SerialDocumentReview","attachedDocumentIds":["` + doc["uid"].(string) + `"]}`, http.StatusForbidden},
		{"POST", api + "/workflow", "bob", `{"workflowModelName":"Serial"}`, http.StatusBadRequest},
	} {
		if got := s.Do(step.method, step.path, step.body, "as", step.user); got.StatusCode != step.want {
			t.Errorf("%s %s as %s: %s: %s", step.method, step.path, step.user, got.Status, got.Text)
		} else if step.want == http.StatusConflict && (got.JSON(t)["code"] != "workflow_state" || got.JSON(t)["retryable"] != false) {
			t.Errorf("%s %s: %s", step.method, step.path, got.Text)
		}
	}
	ended := s.Do("PUT", task("bob")+"/validate", `{"entity-type":"task","variables":{}}`, "as", "bob").JSON(t)
	if ended["state"] != "ended" || ended["workflowLifeCycleState"] != "done" {
		t.Errorf("task %v, workflow %v", ended["state"], ended["workflowLifeCycleState"])
	}
	if got := s.Do("DELETE", api+"/workflow/"+id, ""); got.StatusCode != http.StatusConflict {
		t.Errorf("a workflow that is over is cancelled: %s", got.Status)
	}
	again := s.Do("POST", api+"/workflow", `{"workflowModelName":"SerialDocumentReview","attachedDocumentIds":""}`).JSON(t)["id"].(string)
	if got := s.Do("DELETE", api+"/workflow/"+again, ""); got.StatusCode != http.StatusNoContent {
		t.Errorf("%s: %s", got.Status, got.Text)
	}
}

// TestWorkflowSeen asks for a running workflow and its task as everybody whom they concern or not.
func TestWorkflowSeen(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	for _, name := range []string{"actor", "helper", "starter", "stranger"} {
		s.User(name)
	}
	s.User("chief", "administrators")
	doc := s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"File","name":"plan"}`).JSON(t)["uid"].(string)
	other := s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"File","name":"other"}`).JSON(t)["uid"].(string)
	for _, id := range []string{doc, other} {
		s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"`+id+`","params":{"permission":"ManageWorkflows","username":"starter"}}`)
	}
	flow := s.Do("POST", api+"/id/"+doc+"/@workflow", `{"workflowModelName":"SerialDocumentReview"}`, "as", "starter").JSON(t)["id"].(string)
	first := s.Do("GET", api+"/task", "", "as", "starter").JSON(t)["entries"].([]any)[0].(map[string]any)["id"].(string)
	s.Do("PUT", api+"/task/"+first+"/start_review", `{"variables":{"participants":["actor"]}}`, "as", "starter")
	task := s.Do("GET", api+"/task", "", "as", "actor").JSON(t)["entries"].([]any)[0].(map[string]any)["id"].(string)
	s.Do("PUT", api+"/task/"+task+"/delegate?delegatedActors=helper", "", "as", "actor")

	enriched := api + "/id/" + doc + "?enrichers.document=runnableWorkflows,runningWorkflows,pendingTasks"
	none := func(path string) string { return "GET " + path + " 200 -" + task }
	for name, requests := range map[string][]string{
		"actor": {
			"GET /task 200 " + task, "GET /task/{task} 200 opened", "GET /workflow 200 -{flow}", "GET /workflow/{flow} 200 running", "GET /workflow/{flow}/graph 200 suspended",
			"GET /id/{doc}/@workflow 200 {flow}", "GET /id/{doc}/@task 200 {task}", "GET /id/{doc}/@task/{task} 200 {task}", "GET /id/{other}/@task/{task} 404 ",
			"PUT /id/{other}/@task/{task}/validate 404 ", "GET /task/{first} 404 ", "DELETE /workflow/{flow} 403 ", none("/task?userId=starter"),
		},
		"helper":  {"GET /task 200 {task}", "GET /id/{doc}/@workflow/{flow}/task 200 {task}", "GET /id/{other}/@workflow/{flow}/task 200 -{task}", "GET /task?userId=actor 200 {task}"},
		"starter": {none("/task"), "GET /task?userId=actor 200 {task}", "GET /workflow 200 {flow}", "PUT /task/{task}/validate 403 ", "GET /task/{first} 200 ended", "GET /workflow?workflowModelName=ParallelDocumentReview 200 -{flow}"},
		"stranger": {
			none("/task"), none("/task?userId=actor"), none("/task?workflowInstanceId={flow}"), none("/id/{doc}/@task?userId=actor"), "GET /task/{task} 404 ", "GET /workflow/{flow} 404 ",
			"GET /workflow/{flow}/graph 404 ", "GET /id/{doc}/@workflow 200 -{flow}", "PUT /task/{task}/validate 404 ", "PUT /task/{task}/reassign?actors=stranger 404 ",
			"PUT /task/{task}/delegate?delegatedActors=stranger 404 ", "DELETE /workflow/{flow} 404 ", "POST /id/{doc}/@workflow 403 ", "GET /workflowModel 200 SerialDocumentReview",
		},
		"chief": {none("/task"), "GET /task?userId=actor 200 {task}", "GET /task?workflowInstanceId={flow} 200 {task}", "GET /task/{task} 200 opened", "GET /id/{doc}/@workflow 200 {flow}"},
		"":      {"GET /task 401 ", "GET /workflowModel 401 ", "GET /workflow/{flow} 401 "},
	} {
		for _, r := range requests {
			f := strings.Split(strings.NewReplacer("{task}", task, "{flow}", flow, "{first}", first, "{doc}", doc, "{other}", other).Replace(r), " ")
			body := `{"workflowModelName":"SerialDocumentReview"}`
			if f[0] == "GET" || f[0] == "DELETE" {
				body = ""
			}
			got := s.Do(f[0], api+f[1], body, "as", name)
			text, not := strings.CutPrefix(f[3], "-")
			if fmt.Sprint(got.StatusCode) != f[2] || strings.Contains(got.Text, text) == not {
				t.Errorf("%q: %s: %s %s", name, r, got.Status, got.Text)
			}
		}
	}
	for name, want := range map[string][3]int{"actor": {0, 1, 1}, "helper": {0, 1, 1}, "starter": {2, 1, 0}, "stranger": {0, 0, 0}, "chief": {2, 1, 0}} {
		said := s.Do("GET", enriched, "", "as", name).JSON(t)["contextParameters"].(map[string]any)
		for i, key := range []string{"runnableWorkflows", "runningWorkflows", "pendingTasks"} {
			if list := said[key].([]any); len(list) != want[i] {
				t.Errorf("%s: %s are %v", name, key, list)
			}
		}
	}
}

// TestWorkflowsOfPage enriches a page, whose documents each describe their own workflows and tasks.
func TestWorkflowsOfPage(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	flows := map[string][]string{}
	for _, name := range []string{"a", "b", "c"} {
		uid := s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"File","name":"`+name+`"}`).JSON(t)["uid"].(string)
		for range len(flows) {
			id := s.Do("POST", api+"/id/"+uid+"/@workflow", `{"workflowModelName":"ParallelDocumentReview"}`).JSON(t)["id"].(string)
			flows[uid] = append(flows[uid], id)
		}
		flows[uid] = append([]string{}, flows[uid]...)
	}
	got := s.Do("GET", api+"/path/default-domain/workspaces/@children?enrichers.document=runningWorkflows,pendingTasks&trace=true", "")
	trace := s.Do("GET", api+"/automation/traces/"+got.Header.Get("Catena-Trace"), "").Text
	for _, op := range []string{"Workflow.List", "Task.List"} {
		if n := strings.Count(trace, op); n != 1 {
			t.Errorf("%s is called %d times", op, n)
		}
	}
	for _, entry := range got.JSON(t)["entries"].([]any) {
		d := entry.(map[string]any)
		said := d["contextParameters"].(map[string]any)
		for key, member := range map[string]string{"runningWorkflows": "id", "pendingTasks": "workflowInstanceId"} {
			got := []string{}
			for _, one := range said[key].([]any) {
				got = append(got, one.(map[string]any)[member].(string))
			}
			if want := flows[d["uid"].(string)]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s of %s: %v, want %v", key, d["path"], got, want)
			}
		}
	}
}

// TestWorkflowGrants reads a document as those who get, hand on and end a task about it: the task lets them as long as
// it waits for them, also where nothing is inherited.
func TestWorkflowGrants(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	for _, name := range []string{"first", "second", "third"} {
		s.User(name)
	}
	doc := s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"File","name":"f"}`).JSON(t)["uid"].(string)
	for op, params := range map[string]string{
		"Document.BlockPermissionInheritance": `{}`,
		"Document.AddPermission":              `{"permission":"Read","user":"third","acl":"routing"}`,
	} {
		if got := s.Do("POST", api+"/automation/"+op, `{"input":"`+doc+`","params":`+params+`}`); got.StatusCode >= 300 {
			t.Fatal(got.Text)
		}
	}
	readers := func(want ...string) {
		t.Helper()
		for _, name := range []string{"first", "second", "third"} {
			status := s.Do("GET", api+"/id/"+doc, "", "as", name).StatusCode
			if (status == http.StatusOK) != slices.Contains(want, name) {
				t.Errorf("%s reads the document: %d; want %v", name, status, want)
			}
		}
	}
	start := func() (id string) {
		t.Helper()
		id = s.Do("POST", api+"/id/"+doc+"/@workflow", `{"workflowModelName":"ParallelDocumentReview"}`).JSON(t)["id"].(string)
		end(t, s, id, "Administrator", "start_review", `{"participants":["user:first","user:second"],"end_date":"2040-01-01T00:00:00.000Z"}`)
		return id
	}
	readers("third")
	id := start()
	readers("first", "second", "third")
	end(t, s, id, "first", "approve", `{}`)
	readers("second", "third")
	if got := s.Do("DELETE", api+"/workflow/"+id, ""); got.StatusCode != http.StatusNoContent {
		t.Fatal(got.Text)
	}
	readers("third")
	id = start()
	if got := s.Do("DELETE", api+"/id/"+id, ""); got.StatusCode != http.StatusNoContent {
		t.Fatal(got.Text)
	}
	readers("third")
}

// end ends the open task of somebody in a workflow.
func end(t *testing.T, s *resttest.Server, id, user, action, variables string) {
	t.Helper()
	entries := s.Do("GET", api+"/task?workflowInstanceId="+id+"&userId="+user, "").JSON(t)["entries"].([]any)
	if len(entries) != 1 {
		t.Fatalf("%s has %d tasks", user, len(entries))
	}
	task := entries[0].(map[string]any)["id"].(string)
	if got := s.Do("PUT", api+"/task/"+task+"/"+action, `{"entity-type":"task","variables":`+variables+`}`, "as", user); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
}

// TestWorkflowForged has somebody who may write in a folder make documents there that look like a workflow and like
// tasks, of the caller's own and of a real one, and copy a real task: they are neither listed nor found, and do nothing.
func TestWorkflowForged(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	const folder = api + "/path/default-domain/workspaces"
	doc := s.Do("POST", folder, `{"entity-type":"document","type":"File","name":"f"}`).JSON(t)["uid"].(string)
	s.Do("POST", folder, `{"entity-type":"document","type":"Folder","name":"own"}`).JSON(t)
	if got := s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"/default-domain/workspaces/own","params":{"permission":"ReadWrite","user":"bob"}}`); got.StatusCode >= 300 {
		t.Fatal(got.Text)
	}
	real := s.Do("POST", api+"/id/"+doc+"/@workflow", `{"workflowModelName":"ParallelDocumentReview"}`).JSON(t)["id"].(string)
	end(t, s, real, "Administrator", "start_review", `{"participants":["user:bob","user:Administrator"],"end_date":"2040-01-01T00:00:00.000Z"}`)
	mine := s.Do("GET", api+"/task", "", "as", "bob").JSON(t)["entries"].([]any)
	if len(mine) != 1 {
		t.Fatalf("bob has %d tasks", len(mine))
	}
	task := mine[0].(map[string]any)["id"].(string)
	forged := map[string]string{}
	for name, made := range map[string]string{
		"alone": `"type":"TaskDoc","properties":{"nt:name":"x","nt:initiator":"Administrator","nt:actors":["user:bob"],"nt:openFor":["user:bob"],"nt:targetDocumentsIds":["` + doc + `"],
			"nt:task_variables":[{"key":"acceptOperationChain","value":"Document.Trash"},{"key":"fromStored","value":"true"},{"key":"commentId","value":"` + doc + `"}]}`,
		"part": `"type":"RoutingTask","properties":{"nt:name":"x","nt:processId":"` + real + `","nt:processName":"ParallelDocumentReview","nt:type":"Task2169","nt:actors":["user:bob"],
			"nt:openFor":["user:bob"],"nt:targetDocumentsIds":["` + doc + `"],"nt:task_variables":[{"key":"nodeId","value":"Task328d"}]}`,
		"workflow": `"type":"DocumentRoute","properties":{"docri:modelId":"ParallelDocumentReview","docri:initiator":"bob","docri:participatingDocuments":["` + doc + `"],
			"docri:nodes":"{\"Task2169\":{\"state\":\"suspended\"}}","docri:variables":"{\"validationOrReview\":\"validation\"}"}`,
	} {
		forged[name] = s.Do("POST", folder+"/own", `{"entity-type":"document","name":"`+name+`",`+made+`}`, "as", "bob").JSON(t)["uid"].(string)
	}
	forged["copy"] = s.Do("POST", api+"/automation/Document.Copy", `{"input":"`+task+`","params":{"target":"/default-domain/workspaces/own"}}`, "as", "bob").JSON(t)["uid"].(string)
	if got := s.Do("GET", api+"/task", "", "as", "bob").JSON(t)["entries"].([]any); len(got) != 1 {
		t.Errorf("bob's tasks: %v", got)
	}
	for _, user := range []string{"bob", "Administrator"} {
		for name, id := range forged {
			for _, step := range [][3]string{
				{"GET", "/task/" + id},
				{"PUT", "/task/" + id + "/accept", "{}"},
				{"PUT", "/task/" + id + "/approve", "{}"},
				{"PUT", "/task/" + id + "/delegate?delegatedActors=bob"},
				{"GET", "/workflow/" + id},
				{"DELETE", "/workflow/" + id},
			} {
				if got := s.Do(step[0], api+step[1], step[2], "as", user); got.StatusCode != http.StatusNotFound {
					t.Errorf("%s: %s %s as %s: %s: %s", name, step[0], step[1], user, got.Status, got.Text)
				}
			}
		}
	}
	for _, adapter := range []string{"@workflow", "@task"} {
		got := s.Do("GET", api+"/id/"+doc+"/"+adapter, "").JSON(t)["entries"].([]any)
		if len(got) != 1 {
			t.Errorf("%s: %d entries", adapter, len(got))
		}
	}
	if state := s.Do("GET", api+"/id/"+doc, "").JSON(t); state["state"] != "project" || state["isTrashed"] != false {
		t.Errorf("the document: %v", state)
	}
}
