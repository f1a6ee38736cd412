// Package automation serves operations: calls, descriptions, runs, traces.
package automation

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"

	"catena/engine"
	"catena/engine/entity"
	"catena/rest"
	"catena/storage/fault"
)

// Routes are the addresses of operations and of their runs.
func Routes() []rest.Route {
	return []rest.Route{
		{Method: "POST", Path: "/@op/:op", Body: rest.CallBody, Handle: invoke, Batch: true, Or: http.StatusNoContent, Says: "Runs an operation on the input in the body."},
		{Method: "GET", Path: "/automation", Handle: registry, Gives: "Registry", Says: "Lists the operations and chains that the caller may run."},
		{Method: "POST", Path: "/automation/login", Body: rest.NoBody, Op: "Login", Gives: "Login"},
		{Method: "GET", Path: "/automation/runs", Handle: listRuns, Gives: "Runs", Query: "state operation requestId user code since before limit", Says: "Lists running calls, oldest first, or with state=failed failed calls."},
		{Method: "GET", Path: "/automation/runs/:run", Handle: readRun, Gives: "Run", Says: "Describes a running or failed call."},
		{Method: "DELETE", Path: "/automation/runs/:run", Handle: endRun, Gives: "none", Says: "Cancels a running call."},
		{Method: "POST", Path: "/automation/runs/:run/retry", Body: rest.NoBody, Handle: retryRun, Query: "version", Or: http.StatusNoContent, Says: "Repeats a failed call and returns its response."},
		{Method: "GET", Path: "/automation/traces", Handle: listTraces, Gives: "Traces", Query: "operation requestId status user limit", Says: "Lists the stored traces, newest first."},
		{Method: "GET", Path: "/automation/traces/:trace", Handle: readTrace, Gives: "Trace", Says: "Returns the trace of a run."},
		{Method: "GET", Path: "/automation/:op", Handle: describe, Gives: "Operation", Says: "Describes an operation."},
		{Method: "POST", Path: "/automation/:op", Body: rest.CallBody, Handle: invoke, Batch: true, Or: http.StatusNoContent, Says: "Runs an operation. With Prefer: respond-async it runs in the background."},
		{Method: "POST", Path: "/automation/:op/@async", Body: rest.CallBody, Handle: invokeAsync, Status: http.StatusAccepted, Gives: "none", Says: "Runs an operation in the background; Location is the address of its result."},
		{Method: "GET", Path: "/automation/:op/@async/:run", Handle: rest.AsyncResult, Or: http.StatusNoContent, Says: "Returns the result of a background run, once."},
		{Method: "DELETE", Path: "/automation/:op/@async/:run", Handle: rest.AsyncAbort, Gives: "none", Status: http.StatusNoContent, Says: "Cancels a background run."},
		{Method: "GET", Path: "/automation/:op/@async/:run/events", Handle: rest.AsyncEvents, Gives: "events", Or: http.StatusNoContent, Says: "Streams the states of a background run until the last one."},
		{Method: "GET", Path: "/automation/:op/@async/:run/status", Handle: rest.AsyncStatus, Gives: "text", Says: "Returns the state of a background run."},
	}
}

// invocation is the body of an automation call.
type invocation struct {
	input      json.RawMessage
	params     json.RawMessage
	vars       map[string]any
	context    json.RawMessage
	properties []string // an old way to ask for schemas
	files      []*engine.Blob
	body       []byte
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
	return Run(x, name, nil)
}

// Run runs an operation; input, if any, goes before what the body says.
func Run(x *rest.Request, name string, input engine.Lazy) error {
	call, re, err := ReadCall(x, name, input)
	if err != nil {
		return err
	}
	return x.Run(call, re)
}

// ReadCall reads the request as a call of an operation.
func ReadCall(x *rest.Request, name string, input engine.Lazy) (engine.Call, rest.Reply, error) {
	if !x.Engine.Set().Allowed(name, x.As, x.Door()) {
		return engine.Call{}, rest.Reply{}, unknownOperation(x, name)
	}
	x.Invoked = name
	inv, err := readInvocation(x)
	if err != nil {
		return engine.Call{}, rest.Reply{}, err
	}
	return callOf(x, name, inv, input)
}

// callOf makes a call of an operation of what its body says.
func callOf(x *rest.Request, name string, inv *invocation, input engine.Lazy) (engine.Call, rest.Reply, error) {
	call := engine.Call{Op: name, RawParams: inv.params, Vars: inv.vars, Asked: &engine.Asked{Context: inv.context}}
	switch {
	case input != nil:
		call.Input = input
	case len(inv.files) == 1:
		call.Input = inv.files[0]
	case len(inv.files) > 1:
		call.Input = engine.Blobs(inv.files)
	case inv.input != nil:
		var err error
		if call.Input, err = resolvable(inv.input); err != nil {
			return call, rest.Reply{}, err
		}
		call.Asked.Input = inv.input
	}
	if d, ok := x.Engine.Set().Op(name); ok {
		deprecated(x, d)
	}
	o := x.Options()
	o.Properties = rest.AppendItems(o.Properties, inv.properties)
	return call, rest.Reply{Status: http.StatusOK, Body: inv.body, Files: inv.files, Options: o}, nil
}

func unknownOperation(x *rest.Request, name string) error {
	return x.Engine.Set().Missing(name, x.As, x.Door())
}

// resolvable reads an input or a variable. Objects, lists and texts that name documents are
// resolved once the transaction is open.
func resolvable(raw json.RawMessage) (any, error) {
	if raw[0] == '{' || raw[0] == '[' || bytes.HasPrefix(raw, []byte(`"doc`)) {
		return engine.Lazy(func(c *engine.Ctx) (any, error) { return entity.Decode(c, raw) }), nil
	}
	return engine.ParseJSON(raw)
}

// readInvocation reads the body of a call, in any of its content types.
func readInvocation(x *rest.Request) (*invocation, error) {
	inv := &invocation{}
	if err := readCall(x, inv); err != nil {
		return nil, err
	}
	if len(inv.body) == 0 {
		return nil, fault.Invalid.Errorf("body: is empty").WithCode(fault.CodeBodyEmpty)
	}
	return inv, inv.parse()
}

// readCall reads the JSON of a call, and its files.
func readCall(x *rest.Request, inv *invocation) error {
	if x.Bodyless() {
		return nil
	}
	typ, ps, err := x.Media()
	switch {
	case err != nil:
	case rest.IsJSON(typ):
		inv.body, err = x.ReadBody()
	case typ == rest.MIMEForm:
		inv.body, err = readForm(x)
	default:
		inv.body, inv.files, err = x.ReadParts(ps["boundary"], true)
		if err == nil && len(inv.files) == 0 {
			err = fault.Invalid.Errorf("body: multipart contains no file").WithCode(fault.CodeBodyIncomplete)
		}
	}
	return err
}

// readForm reads JSON from the field jsondata of a form.
func readForm(x *rest.Request) ([]byte, error) {
	body, err := x.ReadBody()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.Invalid.Errorf("body: malformed form")
	}
	return []byte(form.Get("jsondata")), nil
}

// parse takes the JSON body apart. Members it does not know are ignored.
func (inv *invocation) parse() error {
	if err := rest.CheckJSON(inv.body); err != nil {
		return err
	}
	return rest.Members(inv.body, func(name string, value json.RawMessage) error {
		if string(value) == "null" {
			return nil // as if it was absent
		}
		switch name {
		case "input":
			inv.input = value
		case "params":
			if value[0] != '{' {
				return fault.Invalid.Errorf("body: params must be an object").In("params")
			}
			inv.params = value
		case "context":
			inv.context = value
			return inv.variables(value)
		case "documentProperties":
			var s string
			if json.Unmarshal(value, &s) == nil {
				inv.properties = []string{s}
			}
		}
		return nil
	})
}

// variables takes the variables of a call in.
func (inv *invocation) variables(raw json.RawMessage) error {
	if raw[0] != '{' {
		return fault.Invalid.Errorf("body: context must be an object").In("context")
	}
	inv.vars = map[string]any{}
	return rest.Members(raw, func(name string, value json.RawMessage) error {
		switch {
		case string(value) == "null":
			return nil // as if it was absent
		case name == "ChainParameters":
			return fault.Invalid.Errorf("body: context variable ChainParameters is reserved").In("context/ChainParameters")
		}
		v, err := resolvable(value)
		inv.vars[name] = v
		return err
	})
}

// registry answers with every operation and chain the caller may run.
func registry(x *rest.Request) error {
	set := x.Engine.Set()
	return x.Described(set.Describe(func(name string) bool { return set.Allowed(name, x.As, x.Door()) }))
}

// describe answers with the documentation of one operation.
func describe(x *rest.Request) error {
	name, err := x.Param("op")
	if err != nil {
		return err
	}
	set := x.Engine.Set()
	doc, ok := set.DescribeOp(name)
	if !ok || !set.Allowed(name, x.As, x.Door()) {
		return unknownOperation(x, name)
	}
	return x.Described(doc)
}

// invokeAsync starts an operation and says where its status is.
func invokeAsync(x *rest.Request) error {
	name, err := x.Param("op")
	if err != nil {
		return err
	}
	call, re, err := ReadCall(x, name, nil)
	if err != nil {
		return err
	}
	return x.Begin(name, call, re)
}
