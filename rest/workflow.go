package rest

import (
	"net/http"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// Parameters that ask for some workflows or tasks, and for a part of a list of tasks.
const (
	taskPaging    = "pageSize currentPageIndex offset"
	taskQuery     = "userId workflowInstanceId workflowModelName " + taskPaging
	workflowQuery = "workflowModelName"
)

// workflowRoutes are the addresses of workflows and tasks.
func workflowRoutes() []route {
	return []route{
		{method: "GET", path: "/task", op: "Task.List", query: taskQuery, gives: "Tasks"},
		{method: "GET", path: "/task/:taskId", op: "Task.Get", gives: "Task"},
		{method: "PUT", path: "/task/:taskId/:action", op: "Task.End", entity: "task", gives: "Task"},
		{method: "PUT", path: "/task/:taskId/delegate", body: noBody, op: "Task.Delegate", query: "delegatedActors comment", params: handed("delegatedActors"), status: http.StatusOK, gives: "none"},
		{method: "GET", path: "/task/:taskId/form", op: "Task.Form", gives: "TaskForm"},
		{method: "PUT", path: "/task/:taskId/reassign", body: noBody, op: "Task.Reassign", query: "actors comment", params: handed("actors"), status: http.StatusOK, gives: "none"},
		{method: "GET", path: "/workflow", op: "Workflow.List", query: workflowQuery, gives: "Workflows"},
		{method: "POST", path: "/workflow", op: "Workflow.Start", entity: "workflow", status: http.StatusCreated, gives: "Workflow"},
		{method: "GET", path: "/workflow/:workflowInstanceId", op: "Workflow.Get", gives: "Workflow"},
		{method: "DELETE", path: "/workflow/:id", op: "WorkflowInstance.Cancel"},
		{method: "GET", path: "/workflow/:workflowInstanceId/graph", op: "Workflow.GetGraph", gives: "Graph"},
		{method: "GET", path: "/workflowModel", op: "WorkflowModel.List", gives: "Workflows"},
		{method: "GET", path: "/workflowModel/:modelName", op: "WorkflowModel.Get", gives: "Workflow"},
		{method: "GET", path: "/workflowModel/:modelName/graph", op: "WorkflowModel.GetGraph", gives: "Graph"},
	}
}

// handed are the parameters of a task that is handed on: the query names each of the people once more.
func handed(people string) func(*exchange) (values, error) {
	return func(x *exchange) (values, error) {
		out, err := placed(x)
		if err == nil && out[people] != nil {
			out[people] = x.query()[people]
		}
		return out, err
	}
}

// taskOf answers with the tasks about a document, or with one of them.
func taskOf(x *exchange, in engine.Lazy, args string) error {
	call := engine.Call{Op: "Task.List", Input: in, Params: values{}}
	if args == "" {
		pick(call.Params, x.query(), strings.Fields(taskQuery)...)
	} else {
		call.Op, call.Params["taskId"] = "Task.Get", args
	}
	return x.run(call, reply{status: http.StatusOK})
}

// endTaskOf ends a task about a document.
func endTaskOf(x *exchange, in engine.Lazy, args string) error {
	task, action, ok := strings.Cut(args, "/")
	if !ok {
		return fault.NotFound.Errorf("@task/%s: the name of an action is missing", args)
	}
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	p := rawParams{}.text("taskId", task).text("action", action).add("task", body)
	return x.run(engine.Call{Op: "Task.End", Input: in, RawParams: p.close()}, reply{status: http.StatusOK, body: body})
}

// workflowsOf answers with the running workflows about a document, or with the tasks of one.
func workflowsOf(x *exchange, in engine.Lazy, args string) error {
	call := engine.Call{Op: "Workflow.List", Input: in, Params: values{}}
	if args == "" {
		pick(call.Params, x.query(), workflowQuery)
		return x.run(call, reply{status: http.StatusOK})
	}
	id, ok := strings.CutSuffix(args, "/task")
	if !ok {
		return fault.NotFound.Errorf("@workflow/%s", args)
	}
	call.Op, call.Params["workflowInstanceId"] = "Task.List", id
	pick(call.Params, x.query(), strings.Fields(taskPaging)...)
	return x.run(call, reply{status: http.StatusOK})
}

// startOn starts a workflow on a document.
func startOn(x *exchange, in engine.Lazy, args string) error {
	if args != "" {
		return notAllowed(x, "GET")
	}
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	call := engine.Call{Op: "Workflow.Start", Input: in, RawParams: rawParams{}.add("workflow", body).close()}
	return x.run(call, reply{status: http.StatusCreated, body: body})
}

// workflowSchemas are the schemas of workflows and tasks.
func workflowSchemas() map[string]any {
	return map[string]any{
		"Graph": entitySchema("graph", "nodes:array transitions:array", ""),
		"Task": entitySchema("task", `id name:string? state directive:string? created:moment? dueDate:moment? nodeName workflowInstanceId:string? workflowModelName:string?
			workflowInitiator:any workflowTitle:string? workflowLifeCycleState:string? graphResource:string? targetDocumentIds:array actors:array
			delegatedActors:array comments:array variables:object taskInfo:object`, ""),
		"TaskForm":      entitySchema("taskForm", "id may:array fields:array", ""),
		"TaskInput":     entitySchema("", "", "id comment variables:object"),
		"Workflow":      entitySchema("workflow", "id name title state:string? workflowModelName initiator:any attachedDocumentIds:array variables:object graphResource", ""),
		"WorkflowInput": entitySchema("", "", "workflowModelName attachedDocumentIds:any variables:object"),
	}
}
