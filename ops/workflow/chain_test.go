package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/chains"
	"catena/engine"
	"catena/rest/resttest"
	"catena/storage"
)

// deploy adds a chain.
func deploy(t *testing.T, s *resttest.Server, source string) {
	t.Helper()
	chain, problems := chains.Parse("chain.yaml", []byte(source))
	if problems != nil {
		t.Fatal(problems)
	}
	s.Swap(func(set *engine.Set) (*engine.Set, error) {
		op, err := chain.Op(set)
		if err != nil {
			return nil, err
		}
		return set.With([]engine.Op{op})
	})
}

// TestFiles keeps files in variables, whatever becomes of the documents they are from.
func TestFiles(t *testing.T) {
	s := server(t, `
workflows:
  Files:
    variables: {whole: blob, all: "blob[]", at: date, count: long}
    nodes:
      keep: {start: true, output: keep, transitions: {on: {to: ask}}}
      ask:
        task: {assignees: [carol], shows: [whole, all], buttons: {ok: {}}}
        transitions: {on: {to: done}}
      done: {end: true}
`, nil)
	deploy(t, s, `
name: keep
steps:
  - op: Context.FetchDocument
  - op: Document.GetBlob
  - op: Context.SetVar
    params: {name: file, value: "expr:input[0]"}
  - op: Context.SetWorkflowVar
    params: {name: whole, value: "expr:file"}
  - op: Context.SetWorkflowVar
    params: {name: all, value: "expr:[file, file]"}
`)
	ctx := context.Background()
	doc := s.Do("POST", api+"/path/", `{"entity-type":"document","type":"File","name":"x"}`).JSON(t)["uid"].(string)
	text := strings.Repeat("content of a file that is not kept within its document ", 3000)
	if err := s.Repo.Update(ctx, s.Repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(doc))
		if err != nil {
			return err
		}
		b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader(text))
		if err != nil {
			return err
		}
		if err := d.Set("file:content", b); err != nil {
			return err
		}
		_, err = tx.Save(d, storage.SaveOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	begun := s.Do("POST", api+"/workflow", fmt.Sprintf(`{"workflowModelName":"Files","attachedDocumentIds":[%q],"variables":{"at":"2026-01-02","count":"7"}}`, doc))
	id, ok := begun.JSON(t)["id"].(string)
	if !ok {
		t.Fatal(begun.Text)
	}
	s.Do("DELETE", api+"/id/"+doc, "")
	v := s.Do("GET", api+"/workflow/"+id, "").JSON(t)["variables"].(map[string]any)
	whole, _ := v["whole"].(map[string]any)
	if all, _ := v["all"].([]any); len(all) != 2 || whole["name"] != "a.txt" || v["count"] != 7.0 || v["at"] != "2026-01-02T00:00:00.000Z" {
		t.Errorf("variables: %v", v)
	}
	var kept string
	if err := s.Repo.View(ctx, s.Repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		b, err := d.BlobAt("docri:files/0")
		if err != nil {
			return err
		}
		raw, err := b.Bytes(1 << 20)
		kept = string(raw)
		return err
	}); err != nil || kept != text {
		t.Errorf("the file is not kept: %v, %d bytes", err, len(kept))
	}
}

// TestNested goes through a workflow within another: the outer one goes on when that has ended, however it has.
func TestNested(t *testing.T) {
	const nested = `
workflows:
  Outer:
    variables: {sum: long}
    nodes:
      quick: {start: true, workflow: {name: Quick}, variables: {answer: long}, transitions: {on: {to: slow, when: NodeVariables.answer == 42 && NodeVariables.button == "done"}}}
      slow:
        workflow: {name: Slow, variables: {answer: "expr:1 + 1"}}
        variables: {answer: long}
        transitions:
          yes: {to: done, when: NodeVariables.button == "done", chain: sum}
          no: {to: ask, when: NodeVariables.button == "canceled"}
      ask: {task: {assignees: ["user:@{workflowInitiator}"], buttons: {again: {}}}, transitions: {on: {to: slow}}}
      done: {end: true}
  Quick:
    variables: {answer: {type: long, default: 42}}
    nodes: {begin: {start: true, transitions: {on: {to: end}}}, end: {end: true}}
  Slow:
    variables: {answer: long}
    nodes:
      ask: {start: true, task: {assignees: [carol], asks: [answer], buttons: {ok: {}}}, transitions: {on: {to: end}}}
      end: {end: true}
`
	s := server(t, nested, nil)
	deploy(t, s, `
name: sum
steps:
  - op: Context.SetWorkflowVar
    params: {name: sum, value: "expr:NodeVariables.answer"}
`)
	doc, outer := begun(t, s, "Outer", `{}`)
	running := func() (ids []string) {
		for _, e := range s.Do("GET", api+"/id/"+doc+"/@workflow", "").JSON(t)["entries"].([]any) {
			if m := e.(map[string]any); m["workflowModelName"] == "Slow" {
				ids = append(ids, m["id"].(string))
			}
		}
		return ids
	}
	if v := s.Do("GET", tasks(t, s, "carol")["ask"], "", "as", "carol").JSON(t)["variables"].(map[string]any); v["answer"] != 2.0 {
		t.Errorf("first values: %v", v)
	}
	if got := s.Do("DELETE", api+"/workflow/"+running()[0], "").StatusCode; got != http.StatusNoContent {
		t.Fatal(got)
	}
	end(t, s, "Administrator", tasks(t, s, "Administrator")["ask"], "again", `{}`, http.StatusOK)
	end(t, s, "carol", tasks(t, s, "carol")["ask"], "ok", `{"answer":7}`, http.StatusOK)
	after := s.Do("GET", api+"/workflow/"+outer, "").JSON(t)
	if after["state"] != "done" || after["variables"].(map[string]any)["sum"] != 7.0 {
		t.Errorf("outer: %v", after)
	}

	doc, outer = begun(t, s, "Outer", `{}`)
	if got := s.Do("DELETE", api+"/workflow/"+outer, "").StatusCode; got != http.StatusNoContent {
		t.Fatal(got)
	}
	if left, still := tasks(t, s, "carol"), running(); len(left) > 0 || len(still) > 0 {
		t.Errorf("cancelled with it: tasks %v, workflows %v", left, still)
	}
}

// TestStops has a chain of a workflow cancel it: nobody gets a task any longer.
func TestStops(t *testing.T) {
	s := server(t, `
workflows:
  Stops:
    nodes:
      begin: {start: true, transitions: {on: {to: stop}}}
      stop:
        input: stop
        task: {assignees: [carol], buttons: {ok: {}}}
        transitions: {on: {to: done}}
      done: {end: true}
`, nil)
	deploy(t, s, `
name: stop
steps:
  - op: WorkflowInstance.Cancel
    params: {id: "expr:workflowInstanceId"}
`)
	_, id := begun(t, s, "Stops", `{}`)
	if got := s.Do("GET", api+"/workflow/"+id, "").JSON(t)["state"]; got != "canceled" {
		t.Errorf("state %v", got)
	}
	if left := tasks(t, s, "carol"); len(left) > 0 {
		t.Errorf("tasks: %v", left)
	}
}

// TestModeration moderates a comment by a workflow whose task knows it.
func TestModeration(t *testing.T) {
	s := server(t, `
workflows:
  Moderation:
    variables: {comment: string}
    nodes:
      ask:
        start: true
        task:
          assignees: [carol]
          variables: {commentId: "@{WorkflowVariables.comment}"}
          buttons: {publish: {}, reject: {}}
        output: moderate
        transitions: {on: {to: done}}
      done: {end: true}
`, nil)
	deploy(t, s, `
name: moderate
steps:
  - op: Context.FetchDocument
  - op: Comment.Moderate
    params: {accept: 'expr:NodeVariables.button == "publish"'}
`)
	doc := s.Do("POST", api+"/path/", `{"entity-type":"document","type":"File","name":"x"}`).JSON(t)["uid"].(string)
	comment := s.Do("POST", api+"/id/"+doc+"/@comment", `{"text":"Well"}`).JSON(t)["id"].(string)
	s.Do("POST", api+"/id/"+doc+"/@op/Document.AddPermission", `{"params":{"user":"carol","permission":"Read"}}`)
	s.Do("POST", api+"/workflow", fmt.Sprintf(`{"workflowModelName":"Moderation","attachedDocumentIds":[%q],"variables":{"comment":%q}}`, doc, comment))
	before := s.Do("GET", api+"/id/"+comment, "").JSON(t)["state"]
	end(t, s, "carol", tasks(t, s, "carol")["ask"], "reject", `{}`, http.StatusOK)
	if after := s.Do("GET", api+"/id/"+comment, "").JSON(t)["state"]; after != "rejected" {
		t.Errorf("the comment was %v and is %v", before, after)
	}
}

// TestAssigned reads what dashboards do: the tasks of the caller, in a language and in pages.
func TestAssigned(t *testing.T) {
	s := server(t, contract, nil)
	s.Do("POST", api+"/group", `{"entity-type":"group","groupname":"lawyers","memberUsers":["carol"]}`)
	doc, _ := begun(t, s, "Contract", `{}`)
	for range 2 {
		s.Do("POST", api+"/automation/Task.Create", fmt.Sprintf(`{"input":%q,"params":{"task name":"contract.title","due date":"2020-01-02","additional list of actors prefixed ids":["carol"]}}`, doc))
	}
	s.Do("POST", api+"/automation/Document.BlockPermissionInheritance", fmt.Sprintf(`{"input":%q,"params":{}}`, doc))
	read := func(op, params string) (v any) {
		t.Helper()
		a := s.Do("POST", api+"/automation/"+op, `{"params":`+params+`}`, "as", "carol")
		if err := json.Unmarshal([]byte(a.Text), &v); err != nil {
			t.Fatalf("%s: %s: %v", op, a.Text, err)
		}
		return v
	}
	if got := read("Task.GetAssigned", `{}`); len(got.([]any)) != 0 {
		t.Errorf("tasks about a document that carol may not read: %v", got)
	}
	s.Do("POST", api+"/automation/Document.AddPermission", fmt.Sprintf(`{"input":%q,"params":{"user":"carol","permission":"Read"}}`, doc))
	page := read("Workflow.UserTaskPageProvider", `{"pageSize":2,"page":1}`).(map[string]any)
	last := page["entries"].([]any)[0].(map[string]any)
	delete(last, "id")
	delete(last, "startDate")
	want := fmt.Sprintf("map[comment: directive: docref:%s documentLink:ui/#!/doc/%s documentTitle:X dueDate:2020-01-02T00:00:00.000Z expired:true name:contract.title taskName:Contract]", doc, doc)
	if got := fmt.Sprint(last); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	delete(page, "entries")
	if got := fmt.Sprint(page); got != "map[isPaginable:true pageCount:2 pageIndex:1 pageSize:2 totalSize:3]" {
		t.Errorf("page: %s", got)
	}
}
