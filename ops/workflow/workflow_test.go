package workflow_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"catena/chains"
	"catena/engine"
	"catena/engine/library"
	"catena/engine/listener"
	"catena/engine/workflow"
	opsworkflow "catena/ops/workflow"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/outbox"
	"catena/storage/schema"
)

const api = "/nuxeo/api/v1"

// contract is a workflow as an integrator declares one: two are asked at the same time, and if there is much at stake
// the board signs.
const contract = `
workflows:
  Contract:
    title: contract.title
    startOn: {types: [File]}
    variables:
      amount: {type: double, default: 0}
      risk: string
    nodes:
      ask:
        start: true
        title: contract.ask
        transitions:
          finance: {to: finance}
          legal: {to: legal}
      finance:
        variables: {comment: string}
        task:
          assignees: ["user:bob", "user:alice"]
          asks: [amount]
          buttons: {ok: {label: Fine}, big: {label: Much, when: WorkflowVariables.amount > 5}}
        transitions: {on: {to: signed}}
      legal:
        task:
          assignees: ["group:lawyers"]
          asks: [risk]
          shows: [amount]
          reassignable: true
          buttons: {ok: {}}
        transitions: {on: {to: signed}}
      signed:
        merge: all
        transitions:
          small: {to: done, when: WorkflowVariables.amount <= 1000}
          large: {to: board, when: WorkflowVariables.amount > 1000}
      board:
        task:
          assignees: ["expr:WorkflowVariables.risk == 'high' ? ['Administrator', 'alice'] : ['Administrator']"]
          each: true
          due: Document.created ?? CurrentDate.days(1)
          buttons: {sign: {}}
        transitions: {on: {to: done, chain: Document.Lock}}
      done: {end: true, input: Document.FollowLifecycleTransition}
mappings:
  about: {"nt:description": "dc:title"}
texts:
  contract.title: {en: Contract}
`

// server runs the workflow of a file beside the built-in ones.
func server(t *testing.T, source string, more func(*storage.Config)) *resttest.Server {
	t.Helper()
	s := resttest.Start(t, resttest.Config{
		Deployed: func() library.Deployments { return library.Deployments{listener.New()} },
		Storage:  more,
		Engine:   func(c *engine.Config) { c.Set = with(t, c.Set, source) },
	})
	s.User("alice")
	s.User("bob")
	s.User("carol")
	return s
}

// with is a set with the operations that know the workflows of a file.
func with(t *testing.T, set *engine.Set, source string) *engine.Set {
	t.Helper()
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	ms, wrong, err := workflow.Build(types, engine.CheckExpression, []declare.Source{{Name: "own.yaml", Text: source}})
	if err = cmp.Or(err, declare.ErrorOf(wrong)); err != nil {
		t.Fatal(err)
	}
	set, err = set.With(opsworkflow.Ops(func() *workflow.Models { return ms }))
	if err == nil {
		set, err = chains.Builtin(set)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// begun starts a workflow on a new document and returns the ids of both.
func begun(t *testing.T, s *resttest.Server, model, variables string) (doc, instance string) {
	t.Helper()
	doc = s.Do("POST", api+"/path/", `{"entity-type":"document","type":"File","name":"x","properties":{"dc:title":"X"}}`).JSON(t)["uid"].(string)
	a := s.Do("POST", api+"/workflow", fmt.Sprintf(`{"workflowModelName":%q,"attachedDocumentIds":[%q],"variables":%s}`, model, doc, variables))
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", a.Status, a.Text)
	}
	return doc, a.JSON(t)["id"].(string)
}

// tasks are the addresses of a user's open tasks by their node, of a node of several the last.
func tasks(t *testing.T, s *resttest.Server, user string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range s.Do("GET", api+"/task", "", "as", user).JSON(t)["entries"].([]any) {
		m := e.(map[string]any)
		out[m["nodeName"].(string)] = api + "/task/" + m["id"].(string)
	}
	return out
}

func end(t *testing.T, s *resttest.Server, user, task, action, variables string, want int) map[string]any {
	t.Helper()
	a := s.Do("PUT", task+"/"+action, `{"variables":`+variables+`}`, "as", user)
	if a.StatusCode != want {
		t.Fatalf("%s ends %s: %s: %s", user, task, a.Status, a.Text)
	}
	return a.JSON(t)
}

// TestOwnModel walks through the workflow of an integrator.
func TestOwnModel(t *testing.T) {
	s := server(t, strings.Replace(contract, "input: Document.FollowLifecycleTransition", "input: validateDocument", 1), nil)
	s.Do("POST", api+"/group", `{"entity-type":"group","groupname":"lawyers","memberUsers":["carol"]}`)
	doc, id := begun(t, s, "Contract", `{"amount":10}`)
	finance := s.Do("GET", tasks(t, s, "alice")["finance"], "", "as", "alice").JSON(t)
	if got := fmt.Sprint(finance["taskInfo"].(map[string]any)["taskActions"]); !strings.Contains(got, "name:big") {
		t.Errorf("actions: %s", got)
	}
	end(t, s, "bob", tasks(t, s, "bob")["finance"], "ok", `{"amount":5000,"risk":"none"}`, http.StatusOK)
	if left := tasks(t, s, "alice"); len(left) != 0 {
		t.Errorf("the task that bob has done is alice's still: %v", left)
	}
	legal := tasks(t, s, "carol")["legal"]
	if got := s.Do("GET", legal, "", "as", "carol").JSON(t)["variables"]; fmt.Sprint(got) != "map[amount:5000 risk:<nil>]" {
		t.Errorf("variables: %v", got)
	}
	end(t, s, "carol", legal, "ok", `{"amount":1,"risk":"high"}`, http.StatusOK)
	end(t, s, "alice", tasks(t, s, "alice")["board"], "sign", `{}`, http.StatusOK)
	last := end(t, s, "Administrator", tasks(t, s, "Administrator")["board"], "sign", `{}`, http.StatusOK)
	if last["workflowLifeCycleState"] != "done" {
		t.Errorf("state %v", last["workflowLifeCycleState"])
	}
	after := s.Do("GET", api+"/id/"+doc, "", "fetch.document", "lock").JSON(t)
	if after["state"] != "approved" || after["lockOwner"] == nil {
		t.Errorf("document: state %v, lock %v", after["state"], after["lockOwner"])
	}
	if got := s.Do("GET", api+"/workflow/"+id, "", "as", "carol").StatusCode; got != http.StatusOK {
		t.Errorf("who had a task reads the workflow: %d", got)
	}
	for _, path := range []string{"/path/task-root", "/path/document-route-instances-root", strings.TrimPrefix(legal, api)} {
		if got := s.Do("GET", api+path, "", "as", "alice").StatusCode; got != http.StatusNotFound {
			t.Errorf("%s is alice's to read: %d", path, got)
		}
	}
}

// TestFails undoes all of a step whose chain fails, or is not there: the task stays open.
func TestFails(t *testing.T) {
	const lacking = "Document.FollowLifecycleTransition" // its parameter
	for chain, want := range map[string]int{lacking: http.StatusBadRequest, "No.Such": http.StatusConflict} {
		s := server(t, strings.Replace(contract, lacking, chain, 1), nil)
		s.Do("POST", api+"/group", `{"entity-type":"group","groupname":"lawyers","memberUsers":["carol"]}`)
		_, id := begun(t, s, "Contract", `{}`)
		end(t, s, "bob", tasks(t, s, "bob")["finance"], "ok", `{"amount":3}`, http.StatusOK)
		end(t, s, "carol", tasks(t, s, "carol")["legal"], "ok", `{"risk":"high"}`, want)
		if tasks(t, s, "carol")["legal"] == "" {
			t.Error("the task has ended")
		}
		if v := s.Do("GET", api+"/workflow/"+id, "").JSON(t)["variables"].(map[string]any); v["risk"] != nil {
			t.Errorf("variables: %v", v)
		}
	}
}

// TestAtOnce has two tasks of one workflow ended at the same time, and one task by two people: the merge begins once,
// and one of the two is told that the task has ended.
func TestAtOnce(t *testing.T) {
	s := server(t, strings.Replace(contract, "input: Document.FollowLifecycleTransition", "title: Done", 1), nil)
	s.Do("POST", api+"/group", `{"entity-type":"group","groupname":"lawyers","memberUsers":["carol"]}`)
	for range 15 {
		begun(t, s, "Contract", `{"amount":5000}`)
		finance, legal := tasks(t, s, "bob")["finance"], tasks(t, s, "carol")["legal"]
		var ok, late int
		var mu sync.Mutex
		var all sync.WaitGroup
		for user, task := range map[string]string{"alice": finance, "bob": finance, "carol": legal} {
			all.Go(func() {
				got := s.Do("PUT", task+"/ok", `{}`, "as", user).StatusCode
				mu.Lock()
				defer mu.Unlock()
				switch got {
				case http.StatusOK:
					ok++
				case http.StatusConflict:
					late++
				default:
					t.Errorf("%s: %d", user, got)
				}
			})
		}
		all.Wait()
		if ok != 2 || late != 1 {
			t.Errorf("%d ended, %d too late", ok, late)
		}
		page := s.Do("GET", api+"/task", "").JSON(t)["entries"].([]any)
		if len(page) != 1 {
			t.Fatalf("the board has %d tasks", len(page))
		}
		end(t, s, "Administrator", tasks(t, s, "Administrator")["board"], "sign", `{}`, http.StatusOK)
	}
}

// TestGone looks at what happens when users, documents, tasks and models go that a workflow needs.
func TestGone(t *testing.T) {
	s := server(t, contract, nil)
	s.Do("POST", api+"/group", `{"entity-type":"group","groupname":"lawyers","memberUsers":["carol"]}`)
	doc, id := begun(t, s, "Contract", `{}`)

	t.Run("users", func(t *testing.T) {
		for _, name := range []string{"bob", "alice"} {
			if got := s.Do("DELETE", api+"/user/"+name, "").StatusCode; got != http.StatusNoContent {
				t.Fatal(got)
			}
			s.User(name) // somebody else of the name
			if left := tasks(t, s, name); len(left) > 0 {
				t.Errorf("another %s has the tasks of one who is gone: %v", name, left)
			}
		}
		if got := s.Do("GET", api+"/workflow/"+id, "", "as", "bob").StatusCode; got != http.StatusNotFound {
			t.Errorf("another bob reads the workflow: %d", got)
		}
		if tasks(t, s, "Administrator")["finance"] == "" {
			t.Error("nobody has the task of users who are gone")
		}
	})
	t.Run("initiator", func(t *testing.T) {
		about := s.Do("POST", api+"/path/", `{"entity-type":"document","type":"File","name":"y"}`).JSON(t)["uid"].(string)
		grant := fmt.Sprintf(`{"input":%q,"params":{"user":"bob","permission":"ReadWrite"}}`, about)
		s.Do("POST", api+"/automation/Document.AddPermission", grant)
		of := s.Do("POST", api+"/workflow", fmt.Sprintf(`{"workflowModelName":"SerialDocumentReview","attachedDocumentIds":[%q],"variables":{"participants":["carol"]}}`, about), "as", "bob").JSON(t)["id"].(string)
		end(t, s, "bob", tasks(t, s, "bob")["Task38e"], "start_review", `{}`, http.StatusOK)
		s.Do("DELETE", api+"/user/bob", "")
		s.User("bob")
		if got := s.Do("GET", api+"/workflow/"+of, "", "as", "bob").StatusCode; got != http.StatusNotFound {
			t.Errorf("another bob reads the workflow: %d", got)
		}
		end(t, s, "carol", tasks(t, s, "carol")["Task6d8"], "reject", `{}`, http.StatusOK)
		if tasks(t, s, "Administrator")["Task542"] == "" {
			t.Error("nobody has the task of an initiator who is gone")
		}
	})
	t.Run("documents", func(t *testing.T) {
		s.Do("PUT", api+"/id/"+doc+"/@op/Document.Trash", "")
		if tasks(t, s, "carol")["legal"] == "" {
			t.Error("what is in the trash has ended the workflow")
		}
		s.Do("DELETE", api+"/id/"+doc, "")
		ended := end(t, s, "carol", tasks(t, s, "carol")["legal"], "ok", `{}`, http.StatusOK)
		if ended["workflowLifeCycleState"] != "canceled" {
			t.Errorf("state %v", ended["workflowLifeCycleState"])
		}
		if left := tasks(t, s, "Administrator")["finance"]; left != "" {
			t.Errorf("a cancelled workflow has an open task: %s", left)
		}
	})
	t.Run("tasks and instances", func(t *testing.T) {
		_, id := begun(t, s, "Contract", `{}`)
		if got := s.Do("DELETE", strings.Replace(tasks(t, s, "bob")["finance"], "/task/", "/id/", 1), "").StatusCode; got != http.StatusNoContent {
			t.Error(got)
		}
		legal := tasks(t, s, "carol")["legal"]
		s.Do("DELETE", api+"/group/lawyers", "")
		if left := tasks(t, s, "carol"); len(left) > 0 || tasks(t, s, "Administrator")["legal"] != legal {
			t.Errorf("the task of a group that is gone: %v", left)
		}
		s.Do("DELETE", api+"/id/"+id, "")
		end(t, s, "Administrator", legal, "ok", `{}`, http.StatusConflict)
		if left := tasks(t, s, "Administrator")["legal"]; left != "" {
			t.Errorf("a workflow that is deleted has an open task: %s", left)
		}
		s.Do("POST", api+"/group", `{"entity-type":"group","groupname":"lawyers","memberUsers":["carol"]}`)
	})
	t.Run("models", func(t *testing.T) {
		_, id := begun(t, s, "Contract", `{}`)
		set := s.Engine.Set()
		without := with(t, set, "workflows: {}")
		s.Swap(func(*engine.Set) (*engine.Set, error) { return without, nil })
		if got := s.Do("GET", api+"/workflow/"+id, "").JSON(t); got["title"] != "Contract" || got["state"] != "running" {
			t.Errorf("workflow: %v", got)
		}
		end(t, s, "carol", tasks(t, s, "carol")["legal"], "ok", `{}`, http.StatusConflict)
		if got := s.Do("DELETE", api+"/workflow/"+id, "").StatusCode; got != http.StatusNoContent {
			t.Errorf("it is cancelled: %d", got)
		}
		if left := tasks(t, s, "carol"); len(left) > 0 {
			t.Errorf("tasks: %v", left)
		}
	})
}

// TestLimits takes as much as the limits allow, and no more.
func TestLimits(t *testing.T) {
	const graph = `
workflows:
  Long:
    variables: {who: "string[]"}
    nodes:
      a: {start: true, transitions: {on: {to: b}}}
      b: {transitions: {on: {to: c}}}
      c:
        task: {assignees: ["expr:WorkflowVariables.who"], each: true, buttons: {ok: {}}}
        transitions: {on: {to: d}}
      d: {end: true}
`
	for _, tc := range []struct {
		steps, actors int
		who           string
		want          int
	}{
		{3, 2, `["alice","bob"]`, http.StatusCreated},
		{2, 2, `["alice","bob"]`, http.StatusUnprocessableEntity},
		{3, 2, `["alice","bob","carol"]`, http.StatusUnprocessableEntity},
		{3, 2, `[]`, http.StatusBadRequest},
	} {
		s := server(t, graph, func(c *storage.Config) { c.Bounds = c.Bounds.With(workflow.Limits{Steps: tc.steps, Actors: tc.actors}) })
		got := s.Do("POST", api+"/workflow", `{"workflowModelName":"Long","variables":{"who":`+tc.who+`}}`)
		if got.StatusCode != tc.want {
			t.Errorf("%d steps, %d actors, %s: %s: %s", tc.steps, tc.actors, tc.who, got.Status, got.Text)
		}
	}
}

// TestTold has those who get a task told by mail, but not who gives it to them, and mapped properties on tasks.
func TestTold(t *testing.T) {
	s := server(t, contract, nil)
	s.Do("POST", api+"/group", `{"entity-type":"group","groupname":"lawyers","memberUsers":["carol"]}`)
	for _, name := range []string{"alice", "bob", "carol"} {
		s.Do("PUT", api+"/user/"+name, `{"entity-type":"user","id":"`+name+`","properties":{"email":"`+name+`@example.org"}}`)
	}
	begun(t, s, "Contract", `{}`)
	var mails []string
	err := s.Repo.View(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		jobs, err := outbox.Jobs(tx, "", "mail", 100)
		for _, j := range jobs {
			mails = append(mails, string(j.Data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(mails, "\n")
	if len(mails) != 2 || !strings.Contains(told, `["bob@example.org","alice@example.org"]`) || !strings.Contains(told, `"title":"X"`) || !strings.Contains(told, `"carol@example.org"`) {
		t.Errorf("mails: %q", mails)
	}
	id := strings.TrimPrefix(tasks(t, s, "carol")["legal"], api+"/task/")
	got := s.Do("POST", api+"/automation/Task.ApplyDocumentMapping", fmt.Sprintf(`{"input":%q,"params":{"mappingName":"about"}}`, id), "properties", "task")
	if v := got.JSON(t)["properties"].(map[string]any)["nt:description"]; v != "X" {
		t.Errorf("%s: %s", got.Status, got.Text)
	}
	if got := s.Do("POST", api+"/automation/Task.ApplyDocumentMapping", fmt.Sprintf(`{"input":%q,"params":{"mappingName":"about"}}`, id), "as", "carol"); got.StatusCode != http.StatusNotFound {
		t.Errorf("carol maps: %s", got.Status)
	}
}
