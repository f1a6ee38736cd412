package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// adapter is one row of the table of adapters: an operation on what stands before it in the
// address. Those with a do are more than that.
type adapter struct {
	method, name string
	args         string // parameter of op that what follows the name becomes; with a question mark it may be left out
	op           string
	status       int
	body         body
	bare         bool                                  // the result is written as it is, without a wrapper
	query        string                                // parameters of the query, separated by spaces
	params       func(x *exchange, args string) values // nil: args, and those of query
	do           func(x *exchange, in engine.Lazy, args string) error

	entity, gives, says string // as of a route, for the description
	or                  int
	parts               []route // addresses that do tells apart, below the adapter's own
}

// adapters are alphabetical. Names are exact.
var adapters []adapter

// Parameters that ask for a part of a list, and those of queries.
const (
	paging     = "pageSize currentPageIndex offset maxResults sortBy sortOrder"
	queryQuery = paging + " query queryParams after quickFilters highlight countLimit"
)

func init() {
	adapters = []adapter{
		{method: "GET", name: "acl", op: "Resource.ACL", gives: "ACP"},
		{method: "GET", name: "annotation", do: comments(true), parts: append(oneComment("GET", "Comment.Read"), route{op: "Comment.List", query: "pageSize currentPageIndex xpath", gives: "Comments"}, replies("GET"))},
		{method: "POST", name: "annotation", do: comments(true), parts: []route{
			{op: "Comment.Create", entity: "comment", status: http.StatusCreated, gives: "Comment"}, replies("POST"),
		}},
		{method: "PUT", name: "annotation", do: comments(true), parts: oneComment("PUT", "Comment.Update")},
		{method: "DELETE", name: "annotation", do: comments(true), parts: oneComment("DELETE", "Comment.Delete")},
		{method: "GET", name: "audit", op: "Resource.Audit", query: "eventId category principalName startEventDate endEventDate " + paging, params: auditParams, do: auditRecords, gives: "LogEntries"},
		{method: "GET", name: "blob", args: "xpath?", op: "Resource.Blob", do: (*exchange).blob},
		{method: "PUT", name: "blob", args: "xpath?", op: "Resource.SetBlob", body: partsBody, do: (*exchange).putBlob},
		{method: "DELETE", name: "blob", args: "xpath?", op: "Resource.RemoveBlob"},
		{method: "GET", name: "bo", args: "adapter", op: "Business.Read", bare: true},
		{method: "PUT", name: "bo", args: "adapter", op: "Business.Write", do: businessWrite},
		{method: "POST", name: "bo", op: "Business.Create", do: businessCreate, parts: []route{{path: "/:adapter/:name", op: "Business.Create"}}},
		{method: "GET", name: "children", op: "Resource.Children", query: paging},
		{method: "GET", name: "comment", do: comments(false), parts: append(oneComment("GET", "Comment.Read"), route{op: "Comment.List", query: "pageSize currentPageIndex", gives: "Comments"})},
		{method: "POST", name: "comment", do: comments(false), parts: []route{
			{op: "Comment.Create", entity: "comment", status: http.StatusCreated, gives: "Comment"},
		}},
		{method: "PUT", name: "comment", do: comments(false), parts: oneComment("PUT", "Comment.Update")},
		{method: "DELETE", name: "comment", do: comments(false), parts: oneComment("DELETE", "Comment.Delete")},
		{method: "GET", name: "convert", op: "Resource.Convert", query: "converter type format"},
		{method: "POST", name: "convert", op: "Resource.Convert", body: formBody, or: http.StatusAccepted, do: scheduleConversion, says: "Converts the document's file; with async=true in the background."},
		{method: "GET", name: "emptyWithDefault", op: "Resource.Empty", query: "type name"},
		{method: "POST", name: "op", args: "op", body: callBody, or: http.StatusNoContent, says: "Runs an operation on the document.", do: func(x *exchange, in engine.Lazy, args string) error { return x.invoke(args, in) }},
		{method: "GET", name: "preview", op: "Resource.Preview", do: preview},
		{method: "GET", name: "pp", args: "providerName", op: "Repository.PageProvider", query: queryQuery, params: providerParams, do: providerOn},
		{method: "GET", name: "rendition", args: "name", op: "Resource.Rendition"},
		{method: "GET", name: "search", op: "Resource.Search", query: paging + " query fullText orderBy highlight"},
		{method: "GET", name: "task", do: taskOf, parts: []route{
			{op: "Task.List", query: taskQuery, gives: "Tasks"},
			{path: "/:taskId", op: "Task.Get", gives: "Task"},
		}},
		{method: "PUT", name: "task", do: endTaskOf, parts: []route{{path: "/:taskId/:action", op: "Task.End", entity: "task", gives: "Task"}}},
		{method: "GET", name: "workflow", do: workflowsOf, parts: []route{
			{op: "Workflow.List", query: workflowQuery, gives: "Workflows"},
			{path: "/:workflowInstanceId/task", op: "Task.List", query: taskPaging, gives: "Tasks"},
		}},
		{method: "POST", name: "workflow", do: startOn, parts: []route{{op: "Workflow.Start", entity: "workflow", status: http.StatusCreated, gives: "Workflow"}}},
	}
}

// oneComment are the addresses of a comment, by its id and by the one another system gave it.
func oneComment(method, op string) []route {
	r := route{op: op, gives: "Comment"}
	switch method {
	case http.MethodPut:
		r.entity = "comment"
	case http.MethodDelete:
		r.gives = ""
	}
	own, foreign := r, r
	own.path, foreign.path = "/:comment", "/external/:entityId"
	return []route{own, foreign}
}

// replies is the address of the replies to annotations.
func replies(method string) route {
	r := route{path: "/comments", op: "Comment.List", gives: "Comments", says: "Returns the replies to the annotations that are named by their ids."}
	if method == http.MethodGet {
		r.query = "annotationIds"
	}
	return r
}

// adaptersOf are the addresses of the adapters that take a method, behind that of a document.
func adaptersOf(method, document string) (out []route) {
	for _, a := range adapters {
		if a.method != method {
			continue
		}
		at := route{
			path: document + "/@" + a.name, body: a.body, op: a.op, query: a.query,
			entity: a.entity, gives: a.gives, status: a.status, or: a.or, says: a.says,
		}
		for _, p := range a.parts {
			p.path, p.body = at.path+p.path, a.body
			out = append(out, p)
		}
		name, optional := strings.CutSuffix(a.args, "?")
		if a.parts == nil && (a.args == "" || optional) {
			out = append(out, at)
		}
		if a.args != "" {
			at.path += "/:" + name
			out = append(out, at)
		}
	}
	return out
}

// adapter finds the row of a name.
func (x *exchange) adapter(method, name string) (*adapter, error) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var others []string
	for i := range adapters {
		if adapters[i].name != name {
			continue
		}
		if adapters[i].method == method {
			return &adapters[i], nil
		}
		others = append(others, adapters[i].method)
	}
	if others != nil {
		x.w.Header().Set("Allow", strings.Join(others, ", "))
		return nil, fault.Invalid.Errorf("method %s is not allowed on @%s", method, name).WithCode(fault.CodeMethodNotAllowed)
	}
	return nil, fault.Missing("adapter", "@"+name, func(yield func(string) bool) {
		for i := range adapters {
			if !yield("@" + adapters[i].name) {
				return
			}
		}
	})
}

// serve answers with what the adapter makes of its input.
func (a *adapter) serve(x *exchange, in engine.Lazy, args string) error {
	if a.do != nil {
		return a.do(x, in, args)
	}
	status := a.status
	if status == 0 {
		status = http.StatusOK
	}
	return x.run(engine.Call{Op: a.op, Input: in, Params: a.values(x, args)}, reply{status: status, bare: a.bare})
}

// after makes the adapter's result the input of the adapter behind it.
func (a *adapter) after(x *exchange, in engine.Lazy, args string) (engine.Lazy, error) {
	if a.op == "" {
		return nil, fault.NotFound.Errorf("adapter @%s: nothing can follow it", a.name)
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

func (a *adapter) values(x *exchange, args string) values {
	if a.params != nil {
		return a.params(x, args)
	}
	out := values{}
	if name, _ := strings.CutSuffix(a.args, "?"); name != "" {
		out[name] = args
	}
	pick(out, x.query(), strings.Fields(a.query)...)
	return out
}

func auditParams(x *exchange, _ string) values {
	q := x.query()
	out := pageParams(x, "")
	for _, name := range []string{"eventId", "category", "principalName"} {
		if v := q[name]; len(v) > 0 {
			out[name] = v
		}
	}
	pick(out, q, "startEventDate", "endEventDate")
	return out
}

// auditRecords answers with records, as a table if that is asked for.
func auditRecords(x *exchange, in engine.Lazy, args string) error {
	call := engine.Call{Op: "Resource.Audit", Input: in, Params: auditParams(x, args)}
	if strings.Contains(x.r.Header.Get("Accept"), "text/csv") {
		call.Op = "Resource.AuditTable"
	}
	return x.run(call, reply{status: http.StatusOK})
}

// pageParams are the parameters that ask for a part of a list.
func pageParams(x *exchange, _ string) values {
	out := values{}
	pick(out, x.query(), strings.Fields(paging)...)
	return out
}

// pick takes the parameters that are there over.
func pick(out values, q url.Values, names ...string) {
	for _, name := range names {
		if v := q.Get(name); v != "" {
			out[name] = v
		}
	}
}

func providerParams(x *exchange, args string) values {
	out := queryParams(x)
	out["providerName"] = args
	return out
}

// queryParams are the parameters of a query: what is not known by name fills the query's
// named parameters.
func queryParams(x *exchange) values {
	q := x.query()
	out := pageParams(x, "")
	pick(out, q, "after", "query", "quickFilters", "highlight", "countLimit")
	v := q["queryParams"]
	if none := len(v) == 1 && v[0] == "" && !strings.Contains(q.Get("query"), "?"); len(v) > 0 && !none {
		out["queryParams"] = v
	}
	if v := header(x.r.Header, "Skipaggregates"); v != "" {
		out["skipAggregates"] = v
	}
	pick(out, q, "skipAggregates")
	named := values{}
	for name, v := range q {
		if len(v) > 0 && !reserved(name) {
			named[name] = v[0]
		}
	}
	if len(named) > 0 {
		out["namedParameters"] = named
	}
	return out
}

// notNamed are query parameters that are no named parameters of a query.
var notNamed = []string{
	"URLCodecName", "after", "countLimit", "currentPageIndex", "depth", "dryRun", "highlight", "maxResults", "nxrepository", "offset", "pageProvider",
	"pageSize", "properties", "query", "queryParams", "quickFilters", "skipAggregates", "sortBy", "sortOrder", "trace",
}

func reserved(name string) bool {
	if slices.Contains(notNamed, name) {
		return true
	}
	for _, p := range []string{"enrichers", "fetch", "translate"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && (rest[0] == '.' || rest[0] == '-') {
			return true
		}
	}
	return false
}

// providerOn runs a page provider with the document's id as its first parameter.
func providerOn(x *exchange, in engine.Lazy, args string) error {
	params := providerParams(x, args)
	own, _ := params["queryParams"].([]string)
	delete(params, "queryParams")
	list := func(c *engine.Ctx) (any, error) {
		v, err := in(c)
		if err != nil {
			return nil, err
		}
		return withFirst(values{"queryParams": own}, v)["queryParams"], nil
	}
	call := engine.Call{Op: "Repository.PageProvider", Params: params, Vars: values{"queryParams": engine.Lazy(list)}}
	return x.run(call, reply{status: http.StatusOK})
}

// withFirst puts the id of a document before the query parameters.
func withFirst(params values, v any) values {
	out := values{}
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
func businessWrite(x *exchange, in engine.Lazy, args string) error {
	return x.business(engine.Call{Op: "Business.Write", Input: in}, args, "")
}

// businessCreate makes a document below this one of a business object.
func businessCreate(x *exchange, in engine.Lazy, args string) error {
	adapter, name, _ := strings.Cut(args, "/")
	return x.business(engine.Call{Op: "Business.Create", Input: in}, adapter, name)
}

func (x *exchange) business(call engine.Call, adapter, name string) error {
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	call.RawParams = rawParams{}.text("adapter", adapter).text("name", name).add("object", body).close()
	return x.run(call, reply{status: http.StatusOK, body: body, bare: true})
}
