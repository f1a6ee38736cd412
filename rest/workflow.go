package rest

import "net/http"

// taskQuery are the parameters that ask for some tasks, and for a part of their list.
const taskQuery = "userId workflowInstanceId workflowModelName pageSize currentPageIndex offset"

// workflowRoutes are the addresses of workflows and tasks.
func workflowRoutes() []route {
	return []route{
		{method: "GET", path: "/task", op: "Task.List", query: taskQuery, gives: "Tasks"},
		{method: "GET", path: "/task/:taskId", op: "Task.Get", gives: "Task"},
		{method: "PUT", path: "/task/:taskId/:action", op: "Task.End", entity: "task", gives: "Task"},
		{method: "POST", path: "/workflow", op: "Workflow.Start", entity: "workflow", status: http.StatusCreated, gives: "Workflow"},
		{method: "GET", path: "/workflow/:workflowInstanceId", op: "Workflow.Get", gives: "Workflow"},
		{method: "DELETE", path: "/workflow/:id", op: "WorkflowInstance.Cancel"},
	}
}

// workflowSchemas are the schemas of workflows and tasks.
func workflowSchemas() map[string]any {
	return map[string]any{
		"Task": entitySchema("task", `id name:string? state directive:string? created:moment? dueDate:moment? nodeName workflowInstanceId:string? workflowModelName:string?
			workflowInitiator:any workflowTitle:string? workflowLifeCycleState:string? graphResource:string? targetDocumentIds:array actors:array
			delegatedActors:array comments:array variables:object taskInfo:object`, ""),
		"TaskInput":     entitySchema("", "", "id comment variables:object"),
		"Workflow":      entitySchema("workflow", "id name title state workflowModelName initiator:any attachedDocumentIds:array variables:object graphResource", ""),
		"WorkflowInput": entitySchema("", "", "workflowModelName attachedDocumentIds:any variables:object"),
	}
}
