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
	op           string
	status       int
	body         body
	bare         bool // the result is written as it is, without a wrapper
	params       func(x *exchange, args string) values
	do           func(x *exchange, in engine.Lazy, args string) error
}

// adapters are alphabetical. Names are exact.
var adapters []adapter

func init() {
	adapters = []adapter{
		{method: "GET", name: "acl", op: "Resource.ACL"},
		{method: "GET", name: "annotation", do: comments(true)},
		{method: "POST", name: "annotation", do: comments(true)},
		{method: "PUT", name: "annotation", do: comments(true)},
		{method: "DELETE", name: "annotation", do: comments(true)},
		{method: "GET", name: "audit", op: "Resource.Audit", params: auditParams, do: auditRecords},
		{method: "GET", name: "blob", op: "Resource.Blob", params: xpathParam, do: (*exchange).blob},
		{method: "PUT", name: "blob", body: partsBody, do: (*exchange).putBlob},
		{method: "DELETE", name: "blob", op: "Resource.RemoveBlob", status: http.StatusNoContent, params: xpathParam},
		{method: "GET", name: "bo", op: "Business.Read", bare: true, params: adapterParam},
		{method: "PUT", name: "bo", do: businessWrite},
		{method: "POST", name: "bo", do: businessCreate},
		{method: "GET", name: "children", op: "Resource.Children", params: pageParams},
		{method: "GET", name: "comment", do: comments(false)},
		{method: "POST", name: "comment", do: comments(false)},
		{method: "PUT", name: "comment", do: comments(false)},
		{method: "DELETE", name: "comment", do: comments(false)},
		{method: "GET", name: "convert", op: "Resource.Convert", params: convertParams},
		{method: "POST", name: "convert", body: formBody, do: scheduleConversion},
		{method: "GET", name: "emptyWithDefault", op: "Resource.Empty", params: emptyParams},
		{method: "POST", name: "op", body: callBody, do: func(x *exchange, in engine.Lazy, args string) error { return x.invoke(args, in) }},
		{method: "GET", name: "preview", op: "Resource.Preview", do: preview},
		{method: "GET", name: "pp", op: "Repository.PageProvider", params: providerParams, do: providerOn},
		{method: "GET", name: "rendition", op: "Resource.Rendition", params: nameParam},
		{method: "GET", name: "search", op: "Resource.Search", params: searchParams},
	}
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
	if a.params == nil {
		return nil
	}
	return a.params(x, args)
}

func adapterParam(_ *exchange, args string) values { return values{"adapter": args} }
func xpathParam(_ *exchange, args string) values   { return values{"xpath": args} }

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

func emptyParams(x *exchange, _ string) values {
	out := values{}
	pick(out, x.query(), "type", "name")
	return out
}

// pageParams are the parameters that ask for a part of a list.
func pageParams(x *exchange, _ string) values {
	out := values{}
	pick(out, x.query(), "pageSize", "currentPageIndex", "offset", "maxResults", "sortBy", "sortOrder")
	return out
}

func searchParams(x *exchange, _ string) values {
	out := pageParams(x, "")
	pick(out, x.query(), "query", "fullText", "orderBy", "highlight")
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
