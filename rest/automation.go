package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// automationRoutes are the addresses of operations and of their runs.
func automationRoutes() []route {
	return []route{
		{method: "POST", path: "/@op/:op", body: callBody, handle: invoke, batch: true, or: http.StatusNoContent, says: "Runs an operation on the input in the body."},
		{method: "GET", path: "/automation", handle: registry, gives: "Registry", says: "Lists the operations and chains that the caller may run."},
		{method: "POST", path: "/automation/login", body: noBody, op: "Login", gives: "Login"},
		{method: "GET", path: "/automation/runs", handle: listRuns, gives: "Runs", query: "state operation requestId user code since before limit", says: "Lists the calls that run, the oldest first, or with state=failed those that failed."},
		{method: "GET", path: "/automation/runs/:run", handle: readRun, gives: "Run", says: "Describes a call that runs or failed."},
		{method: "DELETE", path: "/automation/runs/:run", handle: endRun, gives: "none", says: "Ends a call that runs."},
		{method: "POST", path: "/automation/runs/:run/retry", body: noBody, handle: retryRun, query: "version", or: http.StatusNoContent, says: "Makes a call that failed once more and answers as that would have."},
		{method: "GET", path: "/automation/traces", handle: listTraces, gives: "Traces", query: "operation requestId status user limit", says: "Lists the traces that are kept, the newest first."},
		{method: "GET", path: "/automation/traces/:trace", handle: readTrace, gives: "Trace", says: "Returns the trace of a run."},
		{method: "GET", path: "/automation/:op", handle: describe, gives: "Operation", says: "Describes an operation."},
		{method: "POST", path: "/automation/:op", body: callBody, handle: invoke, batch: true, or: http.StatusNoContent, says: "Runs an operation. With Prefer: respond-async it runs in the background."},
		{method: "POST", path: "/automation/:op/@async", body: callBody, handle: invokeAsync, status: http.StatusAccepted, gives: "none", says: "Runs an operation in the background; Location tells where to ask for its result."},
		{method: "GET", path: "/automation/:op/@async/:run", handle: asyncResult, or: http.StatusNoContent, says: "Returns the result of a run in the background, once."},
		{method: "DELETE", path: "/automation/:op/@async/:run", handle: asyncAbort, gives: "none", status: http.StatusNoContent, says: "Ends a run in the background."},
		{method: "GET", path: "/automation/:op/@async/:run/events", handle: asyncEvents, gives: "events", or: http.StatusNoContent, says: "Sends the states of a run in the background as they come, until the last."},
		{method: "GET", path: "/automation/:op/@async/:run/status", handle: asyncStatus, gives: "text", says: "Says how far a run in the background is."},
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
func invoke(x *exchange) error {
	if x.prefersAsync() {
		return invokeAsync(x)
	}
	name, err := x.param("op")
	if err != nil {
		return err
	}
	return x.invoke(name, nil)
}

// invoke runs an operation; input, if any, goes before what the body says.
func (x *exchange) invoke(name string, input engine.Lazy) error {
	call, re, err := x.automationCall(name, input)
	if err != nil {
		return err
	}
	return x.run(call, re)
}

// automationCall reads the request as a call of an operation.
func (x *exchange) automationCall(name string, input engine.Lazy) (engine.Call, reply, error) {
	if !x.engine.Set().Allowed(name, x.as, x.door()) {
		return engine.Call{}, reply{}, unknownOperation(x, name)
	}
	x.invoked = name
	inv, err := x.readInvocation()
	if err != nil {
		return engine.Call{}, reply{}, err
	}
	return x.callOf(name, inv, input)
}

// callOf makes a call of an operation of what its body says.
func (x *exchange) callOf(name string, inv *invocation, input engine.Lazy) (engine.Call, reply, error) {
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
			return call, reply{}, err
		}
		call.Asked.Input = inv.input
	}
	if d, ok := x.engine.Set().Op(name); ok {
		x.deprecated(d)
	}
	o := x.options()
	o.Properties = appendItems(o.Properties, inv.properties)
	return call, reply{status: http.StatusOK, body: inv.body, files: inv.files, options: o}, nil
}

func unknownOperation(x *exchange, name string) error {
	return x.engine.Set().Missing(name, x.as, x.door())
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
func (x *exchange) readInvocation() (*invocation, error) {
	inv := &invocation{}
	if err := x.readCall(inv); err != nil {
		return nil, err
	}
	if len(inv.body) == 0 {
		return nil, fault.Invalid.Errorf("body: is empty").WithCode(fault.CodeBodyEmpty)
	}
	return inv, inv.parse()
}

// readCall reads the JSON of a call, and its files.
func (x *exchange) readCall(inv *invocation) error {
	if x.bodyless() {
		return nil
	}
	typ, ps, err := x.media()
	switch {
	case err != nil:
	case isJSON(typ):
		inv.body, err = x.readBody()
	case typ == mimeForm:
		inv.body, err = x.readForm()
	default:
		inv.body, inv.files, err = x.readParts(ps["boundary"], true)
		if err == nil && len(inv.files) == 0 {
			err = fault.Invalid.Errorf("body: multipart without a file").WithCode(fault.CodeBodyIncomplete)
		}
	}
	return err
}

// readForm reads JSON from the field jsondata of a form.
func (x *exchange) readForm() ([]byte, error) {
	body, err := x.readBody()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.Invalid.Errorf("body: form is broken")
	}
	return []byte(form.Get("jsondata")), nil
}

// parse takes the JSON body apart. Members it does not know are ignored.
func (inv *invocation) parse() error {
	if err := checkJSON(inv.body); err != nil {
		return err
	}
	return members(inv.body, func(name string, value json.RawMessage) error {
		switch name {
		case "input":
			inv.input = value
		case "params":
			if value[0] != '{' {
				return fault.Invalid.Errorf("body: params is not an object").In("params")
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
		return fault.Invalid.Errorf("body: context is not an object").In("context")
	}
	inv.vars = map[string]any{}
	return members(raw, func(name string, value json.RawMessage) error {
		if name == "ChainParameters" {
			return fault.Invalid.Errorf("body: context variable ChainParameters is reserved").In("context/ChainParameters")
		}
		v, err := resolvable(value)
		inv.vars[name] = v
		return err
	})
}

// registry answers with every operation and chain the caller may run.
func registry(x *exchange) error {
	set := x.engine.Set()
	return x.described(set.Describe(func(name string) bool { return set.Allowed(name, x.as, x.door()) }))
}

// describe answers with the documentation of one operation.
func describe(x *exchange) error {
	name, err := x.param("op")
	if err != nil {
		return err
	}
	set := x.engine.Set()
	doc, ok := set.DescribeOp(name)
	if !ok || !set.Allowed(name, x.as, x.door()) {
		return unknownOperation(x, name)
	}
	return x.described(doc)
}

// described writes documentation, indented if asked.
func (x *exchange) described(v any) error {
	if !x.flag("pretty") {
		return x.json(http.StatusOK, v)
	}
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	x.write(&answer{status: http.StatusOK, mime: mimeJSON, body: body})
	return nil
}
