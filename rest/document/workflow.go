package document

import (
	"net/http"
	"strings"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// Parameters that ask for some workflows or tasks, and for a part of a list of tasks.
const (
	taskPaging    = "pageSize currentPageIndex offset"
	taskQuery     = "userId workflowInstanceId workflowModelName " + taskPaging
	workflowQuery = "workflowModelName"
)

// workflowRoutes are the addresses of workflows and tasks.
func workflowRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/task", Op: "Task.List", Query: taskQuery, Gives: "Tasks"},
		{Method: "GET", Path: "/task/:taskId", Op: "Task.Get", Gives: "Task"},
		{Method: "PUT", Path: "/task/:taskId/:action", Op: "Task.End", Entity: "task", Gives: "Task"},
		{Method: "PUT", Path: "/task/:taskId/delegate", Body: rest.NoBody, Op: "Task.Delegate", Query: "delegatedActors comment", Params: handed("delegatedActors"), Status: http.StatusOK, Gives: "none"},
		{Method: "GET", Path: "/task/:taskId/form", Op: "Task.Form", Gives: "TaskForm"},
		{Method: "PUT", Path: "/task/:taskId/reassign", Body: rest.NoBody, Op: "Task.Reassign", Query: "actors comment", Params: handed("actors"), Status: http.StatusOK, Gives: "none"},
		{Method: "GET", Path: "/workflow", Op: "Workflow.List", Query: workflowQuery, Gives: "Workflows"},
		{Method: "POST", Path: "/workflow", Op: "Workflow.Start", Entity: "workflow", Status: http.StatusCreated, Gives: "Workflow"},
		{Method: "GET", Path: "/workflow/:workflowInstanceId", Op: "Workflow.Get", Gives: "Workflow"},
		{Method: "DELETE", Path: "/workflow/:workflowInstanceId", Op: "WorkflowInstance.Cancel"},
		{Method: "GET", Path: "/workflow/:workflowInstanceId/graph", Op: "Workflow.GetGraph", Gives: "Graph"},
		{Method: "GET", Path: "/workflowModel", Op: "WorkflowModel.List", Gives: "Workflows"},
		{Method: "GET", Path: "/workflowModel/:modelName", Op: "WorkflowModel.Get", Gives: "Workflow"},
		{Method: "GET", Path: "/workflowModel/:modelName/graph", Op: "WorkflowModel.GetGraph", Gives: "Graph"},
	}
}

// handed are the parameters of a task that is handed on: the query names each of the people once more.
func handed(people string) func(*rest.Request) (rest.Values, error) {
	return func(x *rest.Request) (rest.Values, error) {
		out, err := rest.Placed(x)
		if err == nil && out[people] != nil {
			out[people] = x.Query()[people]
		}
		return out, err
	}
}

// taskOf answers with the tasks about a document, or with one of them.
func taskOf(x *rest.Request, in engine.Lazy, args string) error {
	call := engine.Call{Op: "Task.List", Input: in, Params: rest.Values{}}
	if args == "" {
		rest.Pick(call.Params, x.Query(), strings.Fields(taskQuery)...)
	} else {
		call.Op, call.Params["taskId"] = "Task.Get", args
	}
	return x.Run(call, rest.Reply{Status: http.StatusOK})
}

// endTaskOf ends a task about a document.
func endTaskOf(x *rest.Request, in engine.Lazy, args string) error {
	task, action, ok := strings.Cut(args, "/")
	if !ok {
		return fault.NotFound.Errorf("@task/%s: the name of an action is missing", args)
	}
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	p := rest.RawParams{}.Text("taskId", task).Text("action", action).Add("task", body)
	return x.Run(engine.Call{Op: "Task.End", Input: in, RawParams: p.Close()}, rest.Reply{Status: http.StatusOK, Body: body})
}

// workflowsOf answers with the running workflows about a document, or with the tasks of one.
func workflowsOf(x *rest.Request, in engine.Lazy, args string) error {
	call := engine.Call{Op: "Workflow.List", Input: in, Params: rest.Values{}}
	if args == "" {
		rest.Pick(call.Params, x.Query(), workflowQuery)
		return x.Run(call, rest.Reply{Status: http.StatusOK})
	}
	id, ok := strings.CutSuffix(args, "/task")
	if !ok {
		return fault.NotFound.Errorf("@workflow/%s", args)
	}
	call.Op, call.Params["workflowInstanceId"] = "Task.List", id
	rest.Pick(call.Params, x.Query(), strings.Fields(taskPaging)...)
	return x.Run(call, rest.Reply{Status: http.StatusOK})
}

// startOn starts a workflow on a document.
func startOn(x *rest.Request, in engine.Lazy, args string) error {
	if args != "" {
		return notAllowed(x, "GET")
	}
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	call := engine.Call{Op: "Workflow.Start", Input: in, RawParams: rest.RawParams{}.Add("workflow", body).Close()}
	return x.Run(call, rest.Reply{Status: http.StatusCreated, Body: body})
}
