package document

import (
	"net/http"
	"strings"
	"sync"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// adapter is one row of the table of adapters: an operation on what stands before it in the
// address. Those with a do are more than that.
type adapter struct {
	method, name string
	args         string // parameter of op that what follows the name becomes; with a question mark it may be left out
	op           string
	status       int
	body         rest.Body
	bare         bool                                           // the result is written as it is, without a wrapper
	query        string                                         // parameters of the query, separated by spaces
	params       func(x *rest.Request, args string) rest.Values // nil: args, and those of query
	do           func(x *rest.Request, in engine.Lazy, args string) error
	whole        func(x *rest.Request, ref string, in engine.Lazy, hops []rest.Hop) error // do, of what has to know the document and all adapters

	entity, gives, says string // as of a route, for the description
	or                  int
	parts               []rest.Route // addresses that do tells apart, below the adapter's own
}

// adapters returns all. The table is made on first use, since its functions refer to it.
func adapters() []adapter {
	adapterTable.once.Do(func() { adapterTable.of = allAdapters() })
	return adapterTable.of
}

var adapterTable struct {
	once sync.Once
	of   []adapter
}

// allAdapters are alphabetical. Names are exact.
func allAdapters() []adapter {
	return []adapter{
		{method: "GET", name: "acl", op: "Resource.ACL", gives: "ACP"},
		{method: "GET", name: "activity", op: "Activity.GetStream", query: activityQuery, gives: "Activities"},
		{method: "GET", name: "annotation", do: comments(true), parts: append(oneComment("GET", "Comment.Read"), rest.Route{Op: "Comment.List", Query: "pageSize currentPageIndex xpath", Gives: "Comments"}, replies("GET"))},
		{method: "POST", name: "annotation", do: comments(true), parts: []rest.Route{
			{Op: "Comment.Create", Entity: "comment", Status: http.StatusCreated, Gives: "Comment"}, replies("POST"),
		}},
		{method: "PUT", name: "annotation", do: comments(true), parts: oneComment("PUT", "Comment.Update")},
		{method: "DELETE", name: "annotation", do: comments(true), parts: oneComment("DELETE", "Comment.Delete")},
		{method: "GET", name: "audit", op: "Resource.Audit", query: "eventId category principalName startEventDate endEventDate " + paging, params: auditParams, do: auditRecords, gives: "LogEntries"},
		{method: "GET", name: "blob", args: "xpath?", op: "Resource.Blob", do: blob},
		{method: "PUT", name: "blob", args: "xpath?", op: "Resource.SetBlob", body: rest.PartsBody, do: putBlob},
		{method: "DELETE", name: "blob", args: "xpath?", op: "Resource.RemoveBlob"},
		{method: "GET", name: "bo", args: "adapter", op: "Business.Read", bare: true, gives: "BusinessObject"},
		{method: "PUT", name: "bo", args: "adapter", op: "Business.Write", do: businessWrite, gives: "BusinessObject"},
		{method: "POST", name: "bo", op: "Business.Create", do: businessCreate, parts: []rest.Route{{Path: "/:adapter/:name", Op: "Business.Create", Gives: "BusinessObject"}}},
		{method: "GET", name: "children", op: "Resource.Children", query: paging + " after"},
		{method: "GET", name: "comment", do: comments(false), parts: append(oneComment("GET", "Comment.Read"), rest.Route{Op: "Comment.List", Query: "pageSize currentPageIndex", Gives: "Comments"})},
		{method: "POST", name: "comment", do: comments(false), parts: []rest.Route{
			{Op: "Comment.Create", Entity: "comment", Status: http.StatusCreated, Gives: "Comment"},
		}},
		{method: "PUT", name: "comment", do: comments(false), parts: oneComment("PUT", "Comment.Update")},
		{method: "DELETE", name: "comment", do: comments(false), parts: oneComment("DELETE", "Comment.Delete")},
		{method: "GET", name: "convert", op: "Resource.Convert", query: "converter type format"},
		{method: "POST", name: "convert", op: "Resource.Convert", body: rest.FormBody, or: http.StatusAccepted, do: scheduleConversion, says: "Converts the document's file; with async=true in the background."},
		{method: "GET", name: "diff", args: "other", op: "Document.Diff", query: "schemas", gives: "DocumentDiff"},
		{method: "GET", name: "emptyWithDefault", op: "Resource.Empty", query: "type name"},
		{method: "POST", name: "op", args: "op", body: rest.CallBody, or: http.StatusNoContent, says: "Runs an operation on the document.", do: func(x *rest.Request, in engine.Lazy, args string) error { return x.Invoke(args, in) }},
		{method: "GET", name: "preview", op: "Resource.Preview", whole: preview},
		{method: "GET", name: "pp", args: "providerName", op: "Repository.PageProvider", query: queryQuery, params: providerParams, do: providerOn},
		{method: "GET", name: "rendition", args: "name", op: "Resource.Rendition"},
		{method: "GET", name: "search", op: "Resource.Search", query: paging + " after query fullText orderBy highlight"},
		{method: "GET", name: "task", do: taskOf, parts: []rest.Route{
			{Op: "Task.List", Query: taskQuery, Gives: "Tasks"},
			{Path: "/:taskId", Op: "Task.Get", Gives: "Task"},
		}},
		{method: "PUT", name: "task", do: endTaskOf, parts: []rest.Route{{Path: "/:taskId/:action", Op: "Task.End", Entity: "task", Gives: "Task"}}},
		{method: "GET", name: "workflow", do: workflowsOf, parts: []rest.Route{
			{Op: "Workflow.List", Query: workflowQuery, Gives: "Workflows"},
			{Path: "/:workflowInstanceId/task", Op: "Task.List", Query: taskPaging, Gives: "Tasks"},
		}},
		{method: "POST", name: "workflow", do: startOn, parts: []rest.Route{{Op: "Workflow.Start", Entity: "workflow", Status: http.StatusCreated, Gives: "Workflow"}}},
	}
}

// oneComment are the addresses of a comment, by its id and by the one another system gave it.
func oneComment(method, op string) []rest.Route {
	r := rest.Route{Op: op, Gives: "Comment"}
	switch method {
	case http.MethodPut:
		r.Entity = "comment"
	case http.MethodDelete:
		r.Gives = ""
	}
	own, foreign := r, r
	own.Path, foreign.Path = "/:comment", "/external/:entityId"
	return []rest.Route{own, foreign}
}

// replies is the address of the replies to annotations.
func replies(method string) rest.Route {
	r := rest.Route{Path: "/comments", Op: "Comment.List", Gives: "Comments", Says: "Returns the replies to the annotations with the given ids."}
	if method == http.MethodGet {
		r.Query = "annotationIds"
	}
	return r
}

// adaptersOf are the addresses of the adapters that take a method, behind that of a document.
func adaptersOf(method, document string) (out []rest.Route) {
	for _, a := range adapters() {
		if a.method != method {
			continue
		}
		at := rest.Route{
			Path: document + "/@" + a.name, Body: a.body, Op: a.op, Query: a.query,
			Entity: a.entity, Gives: a.gives, Status: a.status, Or: a.or, Says: a.says,
		}
		for _, p := range a.parts {
			p.Path, p.Body = at.Path+p.Path, a.body
			out = append(out, p)
		}
		name, optional := strings.CutSuffix(a.args, "?")
		if a.parts == nil && (a.args == "" || optional) {
			out = append(out, at)
		}
		if a.args != "" {
			at.Path += "/:" + name
			out = append(out, at)
		}
	}
	return out
}

// findAdapter finds the row of a name.
func findAdapter(x *rest.Request, method, name string) (*adapter, error) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var others []string
	for i := range adapters() {
		if adapters()[i].name != name {
			continue
		}
		if adapters()[i].method == method {
			return &adapters()[i], nil
		}
		others = append(others, adapters()[i].method)
	}
	if others != nil {
		x.Writer.Header().Set("Allow", strings.Join(others, ", "))
		return nil, fault.Invalid.Errorf("method %s is not allowed on @%s", method, name).WithCode(fault.CodeMethodNotAllowed)
	}
	return nil, fault.Missing("adapter", "@"+name, func(yield func(string) bool) {
		for i := range adapters() {
			if !yield("@" + adapters()[i].name) {
				return
			}
		}
	})
}

// serve answers with what the adapter makes of its input.
func (a *adapter) serve(x *rest.Request, in engine.Lazy, args string) error {
	if a.do != nil {
		return a.do(x, in, args)
	}
	status := a.status
	if status == 0 {
		status = http.StatusOK
	}
	return x.Run(engine.Call{Op: a.op, Input: in, Params: a.values(x, args)}, rest.Reply{Status: status, Bare: a.bare})
}

// after makes the adapter's result the input of the adapter behind it.
func (a *adapter) after(x *rest.Request, in engine.Lazy, args string) (engine.Lazy, error) {
	if a.op == "" {
		return nil, fault.NotFound.Errorf("adapter @%s: must be the last one", a.name)
	}
	params := a.values(x, args)
	return func(c *engine.Ctx) (any, error) {
		v, err := in(c)
		if err != nil {
			return nil, err
		}
		if a.name == "pp" {
			return c.Call(a.op, nil, withFirst(params, v))
		}
		return c.Call(a.op, v, params)
	}, nil
}

func (a *adapter) values(x *rest.Request, args string) rest.Values {
	if a.params != nil {
		return a.params(x, args)
	}
	out := rest.Values{}
	if name, _ := strings.CutSuffix(a.args, "?"); name != "" {
		out[name] = args
	}
	rest.Pick(out, x.Query(), strings.Fields(a.query)...)
	return out
}

func auditParams(x *rest.Request, _ string) rest.Values {
	q := x.Query()
	out := pageParams(x, "")
	for _, name := range []string{"eventId", "category", "principalName"} {
		if v := q[name]; len(v) > 0 {
			out[name] = v
		}
	}
	rest.Pick(out, q, "startEventDate", "endEventDate")
	return out
}

// auditRecords answers with records, as a table if that is asked for.
func auditRecords(x *rest.Request, in engine.Lazy, args string) error {
	call := engine.Call{Op: "Resource.Audit", Input: in, Params: auditParams(x, args)}
	if strings.Contains(x.HTTP.Header.Get("Accept"), "text/csv") {
		call.Op = "Resource.AuditTable"
	}
	return x.Run(call, rest.Reply{Status: http.StatusOK})
}

// providerOn runs a page provider with the document's id as its first parameter.
func providerOn(x *rest.Request, in engine.Lazy, args string) error {
	params := providerParams(x, args)
	own, _ := params["queryParams"].([]string)
	delete(params, "queryParams")
	list := func(c *engine.Ctx) (any, error) {
		v, err := in(c)
		if err != nil {
			return nil, err
		}
		return withFirst(rest.Values{"queryParams": own}, v)["queryParams"], nil
	}
	call := engine.Call{Op: "Repository.PageProvider", Params: params, Vars: rest.Values{"queryParams": engine.Lazy(list)}}
	return x.Run(call, rest.Reply{Status: http.StatusOK})
}

// withFirst puts the id of a document before the query parameters.
func withFirst(params rest.Values, v any) rest.Values {
	out := rest.Values{}
	for k, p := range params {
		out[k] = p
	}
	if d, ok := v.(interface{ ID() string }); ok {
		own, _ := params["queryParams"].([]string)
		out["queryParams"] = append([]string{d.ID()}, own...)
	}
	return out
}

// businessWrite stores what a business object holds in the document.
func businessWrite(x *rest.Request, in engine.Lazy, args string) error {
	return business(x, engine.Call{Op: "Business.Write", Input: in}, args, "")
}

// businessCreate makes a document below this one of a business object.
func businessCreate(x *rest.Request, in engine.Lazy, args string) error {
	adapter, name, _ := strings.Cut(args, "/")
	return business(x, engine.Call{Op: "Business.Create", Input: in}, adapter, name)
}

func business(x *rest.Request, call engine.Call, adapter, name string) error {
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	call.RawParams = rest.RawParams{}.Text("adapter", adapter).Text("name", name).Add("object", body).Close()
	return x.Run(call, rest.Reply{Status: http.StatusOK, Body: body, Bare: true})
}
