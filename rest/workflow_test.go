package rest_test

import (
	"net/http"
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
		{"GET", first, "bob", "", http.StatusForbidden},
		{"PUT", first + "/start_review", "bob", `{}`, http.StatusForbidden},
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
