package workflow_test

import (
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/workflow"
)

func reviewed(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, workflow.Ops(nil), document.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "A"}}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b", "properties": {"dc:title": "B"}}`, "/ws/b"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "c", "properties": {"dc:title": "C"}}`, "/ws/c"},
		{"admin", "Document.Create", "/private", `{"type": "File", "name": "p"}`, "/private/p"},
	})
	return s
}

func TestStartedWorkflows(t *testing.T) {
	s := reviewed(t)
	start := func(more string) string { return `{"workflow": {"entity-type": "workflow"` + more + `}}` }
	const serial = `, "workflowModelName": "SerialDocumentReview"`
	s.Play([]opstest.Row{
		{"alice", "Workflow.Start", "/ws/a", start(serial), `{"entity-type":"workflow"…"initiator":"alice"…"state":"running"…"workflowModelName":"SerialDocumentReview"}`},
		{"", "keep", "", "id", "flow"},
		{"", "Workflow.Start", "/ws/a", start(`, "workflowModelName": "Nope"`), "! invalid workflowModelName: workflowModelName: workflow Nope does not exist"},
		{"", "Workflow.Start", "/ws/a", start(`, "workflowModelName": ""`), "! invalid workflowModelName: workflowModelName: is missing"},
		{"", "Workflow.Start", "/ws/a", start(""), "! invalid workflowModelName: workflowModelName: is missing"},
		{"", "Workflow.Start", "/ws/c", start(serial + `, "variables": {"nope": 1}`), `{…"variables":{"index":0,"initiatorComment":null,"participants":[],"validationOrReview":"validation"}…}`}, // passed over
		{"", "Workflow.Start", "/ws/c", start(serial + `, "variables": ["index", 1]`), "! invalid variables: variables: must be an object"},
		{"", "Workflow.Start", "/ws/c", start(serial + `, "variables": "x"`), "! invalid variables: variables: must be an object"},
		{"", "Workflow.Start", "/ws/c", start(serial + `, "variables": null`), `{…"state":"running"…}`},
		{"", "Workflow.Start", "", start(serial + `, "attachedDocumentIds": ["/private/p"]`), "! notfound: /private/p"},
		{"", "Workflow.Start", "/private/p", start(serial), "! notfound: /private/p"},
		{"", "Workflow.Start", "/ws/a", `{}`, `! invalid missing_parameter workflow: parameter "workflow" is missing`},
		{"", "Workflow.Get", "", `{"workflowInstanceId": "$flow"}`, `{…"id":"$flow"…"state":"running"…}`},
		{"", "Workflow.Get", "", `{"workflowInstanceId": "nope"}`, "! notfound: nope"},
		{"", "Workflow.List", "/ws/a", `{}`, `{…"id":"$flow"…}`},
		{"", "Workflow.List", "/ws/a", `{"workflowModelName": "ParallelDocumentReview"}`, `{"entity-type":"workflows","entries":[]}`},
		{"", "Workflow.List", "/ws/b", `{}`, `{"entity-type":"workflows","entries":[]}`}, // another document's
		{"bob", "WorkflowInstance.Cancel", "", `{"id": "$flow"}`, "! notfound: $flow"},   // not his
		{"alice", "Workflow.Get", "", `{"workflowInstanceId": "$flow"}`, `{…"state":"running"…}`},
		{"", "WorkflowInstance.Cancel", "", `{"id": "nope"}`, "! notfound: nope"},
		{"", "WorkflowInstance.Cancel", "", `{"id": "$flow"}`, ""},
		{"", "Workflow.List", "/ws/a", `{}`, `{"entity-type":"workflows","entries":[]}`},
		{"", "Task.List", "/ws/a", `{}`, `{…"entries":[]…}`}, // its tasks end with it
		{"", "WorkflowModel.Get", "", `{"modelName": "SerialDocumentReview"}`, `{…"SerialDocumentReview"…}`},
		{"", "WorkflowModel.Get", "", `{"modelName": "serialdocumentreview"}`, "! notfound: workflow serialdocumentreview: does not exist, perhaps SerialDocumentReview"},
		{"", "WorkflowModel.GetGraph", "", `{"modelName": "Nope"}`, "! notfound: workflow Nope"},
	})
}

func TestTasksOfOthers(t *testing.T) {
	s := reviewed(t)
	s.Play([]opstest.Row{
		{"alice", "Context.StartWorkflow", "/ws/a", `{"id": "SerialDocumentReview"}`, "/ws/a"},
		{"", "Context.StartWorkflow", "/ws/a", `{"id": "Nope"}`, "! invalid id: id: workflow Nope does not exist"},
		{"", "Context.StartWorkflow", "/ws/a", `{"id": ""}`, "! invalid id: id: workflow  does not exist"},
		{"", "Context.StartWorkflow", "", `{"id": "SerialDocumentReview"}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"", "Task.List", "/ws/a", `{}`, `{"entity-type":"tasks"…"resultsCount":1…}`},
		{"", "keep", "", "entries.0.id", "task"},
		{"", "Task.List", "/ws/a", `{"pageSize": 1, "currentPageIndex": 1}`, `{…"entries":[]…}`},
		{"", "Task.List", "/ws/a", `{"offset": 1}`, `{…"entries":[]…}`},
		{"", "Task.List", "/ws/a", `{"currentPageIndex": -1}`, "! invalid currentPageIndex: currentPageIndex: must be at least 0"},
		{"", "Task.List", "/ws/a", `{"offset": -1}`, "! invalid offset: offset: must be at least 0"},
		{"", "Task.List", "/ws/a", `{"pageSize": 2, "currentPageIndex": 9223372036854775807}`, "! invalid currentPageIndex: currentPageIndex: page 9223372036854775807 begins after entry …"},
		{"", "Task.List", "/ws/b", `{}`, `{…"entries":[]…}`},
		{"", "Task.Get", "", `{"taskId": "$task"}`, `{…"id":"$task"…}`},
		{"", "Task.Get", "", `{"taskId": "nope"}`, "! notfound: nope"},
		{"", "Task.Get", "", `{"taskId": ""}`, "! notfound: "},
		{"bob", "Task.Get", "", `{"taskId": "$task"}`, "! notfound: $task"},
		{"", "Task.End", "", `{"taskId": "$task", "action": "cancel"}`, "! notfound: $task"},
		{"", "Task.Reassign", "", `{"taskId": "$task", "actors": ["bob"]}`, "! notfound: $task"},
		{"", "Task.Delegate", "", `{"taskId": "$task", "delegatedActors": ["bob"]}`, "! notfound: $task"},
		{"", "Task.GetAssigned", "", `{}`, "[]"},
		{"", "Workflow.GetOpenTasks", "/private/p", `{}`, "! notfound: /private/p"},
		{"alice", "Task.Delegate", "", `{"taskId": "$task", "delegatedActors": ["nobody"]}`, "! …nobody…"},
		{"", "Task.Delegate", "", `{"taskId": "$task", "delegatedActors": []}`, "! invalid delegatedActors: delegatedActors: must not be empty"},
		{"", "Task.Reassign", "", `{"taskId": "$task", "actors": []}`, "! invalid actors: actors: must not be empty"},
		{"", "Task.Delegate", "", `{"taskId": "$task", "delegatedActors": ["bob"]}`, ""},
		{"bob", "Task.Get", "", `{"taskId": "$task"}`, `{…"id":"$task"…}`}, // his now, too
		{"alice", "Task.End", "", `{"taskId": "$task", "action": "nope"}`, "! …nope…"},
		{"", "Task.End", "", `{"taskId": "$task", "action": ""}`, `! invalid action: action: unknown action ""`},
		// The chain of the node is not there, so nothing happens at all: the task stays open.
		{"", "Task.End", "", `{"taskId": "$task", "action": "cancel"}`, "! conflict: workflow SerialDocumentReview: node Task38e: unknown operation initInitiatorComment"},
		{"", "Task.List", "/ws/a", `{}`, `{…"id":"$task"…"state":"opened"…}`},
		{"bob", "Task.List", "", `{"userId": "bob"}`, `{…"id":"$task"…}`},
	})
}
