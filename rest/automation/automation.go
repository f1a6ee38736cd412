// Package automation serves operations: calls, descriptions, runs and traces. A call is JSON, a form, or multipart
// with files; its result is an entity, a file, or several files as multipart. Runs are asynchronous: a client starts
// one, asks for its state and fetches the result while it is kept.
//
// The address is the name of an operation or chain. The body gives input, parameters and context variables in
// the platform's form; files come as parts of a multipart body. The same parsing serves calls that wait and
// calls that do not (Prefer: respond-async).
package automation

import (
	"net/http"

	"catena/engine"
	"catena/engine/hook"
	"catena/rest"
	"catena/storage/fault"
)

// Routes are the addresses of operations and of their runs.
func Routes() []rest.Route {
	return []rest.Route{
		{Method: "POST", Path: "/@op/:op", Body: rest.CallBody, Handle: invoke, Batch: true, Or: http.StatusNoContent, Says: "Runs an operation on the input in the body."},
		{Method: "GET", Path: "/automation", Handle: registry, Query: "view", Gives: "Registry", Says: "Lists the operations and chains that the caller may run; with view=list without parameters, aliases of their own, and all but the first sentence of each description; with view=names only names and signatures."},
		{Method: "POST", Path: "/automation/login", Body: rest.NoBody, Op: "Login", Gives: "Login"},
		{Method: "GET", Path: "/automation/runs", Handle: listRuns, Gives: "Runs", Query: "state operation requestId user code since before limit", Says: "Lists running calls, oldest first, or with state=done, state=failed or state=stopped calls that have ended, newest first."},
		{Method: "GET", Path: "/automation/runs/:run", Handle: readRun, Gives: "Run", Says: "Describes a call that runs or that has ended."},
		{Method: "DELETE", Path: "/automation/runs/:run", Handle: endRun, Gives: "none", Says: "Cancels a running call."},
		{Method: "POST", Path: "/automation/runs/:run/retry", Handle: retryRun, Query: "version", Or: http.StatusNoContent, Says: "Repeats a call that has ended and returns its response. What the body gives replaces what was asked."},
		{Method: "GET", Path: "/automation/traces", Handle: listTraces, Gives: "Traces", Query: "operation requestId status user limit", Says: "Lists the stored traces, newest first."},
		{Method: "GET", Path: "/automation/traces/:trace", Handle: readTrace, Gives: "Trace", Says: "Returns the trace of a run."},
		{Method: "GET", Path: "/automation/:op", Handle: describe, Gives: "Operation", Says: "Describes an operation."},
		{Method: "POST", Path: "/automation/:op", Body: rest.CallBody, Handle: invoke, Batch: true, Proves: true, Or: http.StatusNoContent, Says: "Runs an operation. With Prefer: respond-async it runs in the background."},
		{Method: "POST", Path: "/automation/:op/@async", Body: rest.CallBody, Handle: invokeAsync, Status: http.StatusAccepted, Gives: "none", Says: "Runs an operation in the background; Location is the address of its result."},
		{Method: "GET", Path: "/automation/:op/@async/:run", Handle: rest.AsyncResult, Or: http.StatusNoContent, Says: "Returns the result of a background run until it expires."},
		{Method: "DELETE", Path: "/automation/:op/@async/:run", Handle: rest.AsyncAbort, Gives: "none", Status: http.StatusNoContent, Says: "Cancels a background run."},
		{Method: "GET", Path: "/automation/:op/@async/:run/events", Handle: rest.AsyncEvents, Gives: "events", Or: http.StatusNoContent, Says: "Streams the states of a background run until the last one."},
		{Method: "GET", Path: "/automation/:op/@async/:run/status", Handle: rest.AsyncStatus, Gives: "text", Says: "Returns the state of a background run."},
	}
}

// HookRoutes are the addresses of hooks.
func HookRoutes() []rest.Route {
	return []rest.Route{
		{Method: "POST", Path: hook.Path + ":hook", Access: rest.Open, Body: rest.FileBody, Handle: toHook, Status: http.StatusAccepted, Or: http.StatusOK, Says: "Receives a request of another service, which is signed with the secret of the hook."},
	}
}

// invoke runs the operation that the address names on the input that the body names.
func invoke(x *rest.Request) error {
	if x.PrefersAsync() {
		return invokeAsync(x)
	}
	name, err := x.Param("op")
	if err != nil {
		return err
	}
	set := x.Engine.Set()
	if d, ok := set.Op(name); !ok || d.Effect != engine.Writes || !set.Allowed(name, x.As, x.EntryPoint()) {
		if err := x.Prove(); err != nil {
			return err
		}
	}
	return x.Invoke(name, nil)
}

// registry answers with every operation and chain the caller may run.
func registry(x *rest.Request) error {
	set := x.Engine.Set()
	all := set.Describe(func(name string) bool { return set.Allowed(name, x.As, x.EntryPoint()) })
	switch view := x.Query().Get("view"); view {
	case "":
		return x.Described(all)
	case "list":
		return x.Described(all.List())
	case "names":
		return x.Described(all.Names())
	default:
		return fault.Invalid.Errorf("view %q: must be list or names", view).In("view")
	}
}

// describe answers with the documentation of one operation.
func describe(x *rest.Request) error {
	name, err := x.Param("op")
	if err != nil {
		return err
	}
	set := x.Engine.Set()
	doc, ok := set.DescribeOp(name)
	if !ok || !set.Allowed(name, x.As, x.EntryPoint()) {
		return set.Missing(name, x.As, x.EntryPoint())
	}
	return x.Described(doc)
}

// invokeAsync starts an operation and says where its status is.
func invokeAsync(x *rest.Request) error {
	name, err := x.Param("op")
	if err == nil {
		err = x.Prove()
	}
	if err != nil {
		return err
	}
	call, re, err := x.ReadCall(name, nil)
	if err != nil {
		return err
	}
	return x.Begin(name, call, re)
}
