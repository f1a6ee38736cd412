package rest

import (
	"encoding/json"
	"net/http"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// serviceRoutes are the addresses of what works beside requests: bulk commands, jobs and webhooks.
func serviceRoutes() []route {
	return []route{
		{method: "GET", path: "/bulk/:commandId", handle: bulk},
		{method: "PUT", path: "/bulk/:commandId", handle: bulk},
		{method: "DELETE", path: "/bulk/:commandId", handle: bulk},
		{method: "GET", path: "/bulk/:commandId/result", handle: bulkResult},
		{method: "PUT", path: "/bulk/:commandId/abort", body: noBody, handle: call("Bulk.Abort", addressed("commandId"))},
		{method: "POST", path: "/search/bulk/:action", handle: searchBulk},
		{method: "POST", path: "/search/pp/:provider/bulk/:action", handle: searchBulk},
		{method: "GET", path: "/job", handle: call("Job.List", picked("state", "kind", "limit"))},
		{method: "POST", path: "/job/:id/retry", body: noBody, handle: call("Job.Retry", addressed("id"))},
		{method: "DELETE", path: "/job/:id", handle: call("Job.Delete", addressed("id"))},
		{method: "GET", path: "/webhook", handle: call("Webhook.List", picked("owner"))},
		{method: "POST", path: "/webhook", handle: sent("Webhook.Create", http.StatusCreated)},
		{method: "GET", path: "/webhook/:id", handle: call("Webhook.Get", addressed("id"))},
		{method: "PUT", path: "/webhook/:id", handle: sent("Webhook.Update", http.StatusOK, "id")},
		{method: "DELETE", path: "/webhook/:id", handle: call("Webhook.Delete", addressed("id"))},
		{method: "GET", path: "/webhook/:id/deliveries", handle: call("Webhook.Deliveries", addressed("id"))},
		{method: "POST", path: "/webhook/:id/deliveries/:delivery/redeliver", body: noBody, handle: call("Webhook.Redeliver", addressed("id", "delivery"))},
	}
}

// addressed passes parts of the address on, and the paging of the query.
func addressed(names ...string) func(*exchange) (values, error) {
	return func(x *exchange) (values, error) {
		out := values{}
		pick(out, x.query(), "limit")
		for _, name := range names {
			v, err := x.param(name)
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
		return out, nil
	}
}

// picked passes parameters of the query on.
func picked(names ...string) func(*exchange) (values, error) {
	return func(x *exchange) (values, error) {
		out := values{}
		pick(out, x.query(), names...)
		return out, nil
	}
}

// sent makes a handler that runs one operation with the members of the body, a JSON object, as parameters,
// and with parts of the address.
func sent(op string, status int, names ...string) handler {
	return func(x *exchange) error {
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		var params map[string]json.RawMessage
		if err := json.Unmarshal(body, &params); err != nil || params == nil {
			return fault.Invalid.Errorf("body: an object expected")
		}
		for _, name := range names {
			v, err := x.param(name)
			if err != nil {
				return err
			}
			if params[name], err = json.Marshal(v); err != nil {
				return err
			}
		}
		raw, err := json.Marshal(params)
		if err != nil {
			return err
		}
		return x.run(engine.Call{Op: op, RawParams: raw}, reply{status: status, body: body, bare: true})
	}
}

func commandParams(x *exchange) (values, error) {
	id, err := x.param("commandId")
	return values{"commandId": id, "base": x.base()}, err
}

// bulkResult sends the file that a command has made.
func bulkResult(x *exchange) error {
	id, err := x.param("commandId")
	if err != nil {
		return err
	}
	return x.run(engine.Call{Op: "Bulk.Result", Params: values{"commandId": id}}, reply{status: http.StatusOK})
}

// bulk says how far a command is, or serves the documents that ;id=a;id=b names.
func bulk(x *exchange) error {
	ids, several := strings.CutPrefix(x.ps.get("commandId"), ";")
	if !several {
		if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
			return fault.Invalid.Errorf("method %s is not allowed here", x.r.Method).WithCode(fault.CodeMethodNotAllowed)
		}
		return call("Bulk.Get", commandParams)(x)
	}
	params, list := values{"action": "get"}, []any{}
	for part := range strings.SplitSeq(ids, ";") {
		name, id, _ := strings.Cut(part, "=")
		id, err := decode(id)
		if err != nil || name != "id" || id == "" {
			return fault.Invalid.Errorf("address: ;id=… expected, not ;%s", part)
		}
		list = append(list, id)
	}
	params["ids"] = list
	re := reply{status: http.StatusOK}
	switch x.r.Method {
	case http.MethodDelete:
		params["action"] = "delete"
	case http.MethodPut:
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		var doc struct{ Properties map[string]any }
		if err := json.Unmarshal(body, &doc); err != nil {
			return fault.Invalid.Errorf("body: a document with properties expected")
		}
		params["action"], params["properties"], re.body = "update", doc.Properties, body
	}
	return x.run(engine.Call{Op: "Bulk.Documents", Params: params}, re)
}

// searchBulk runs an action on what a query finds: the body, if there is one, holds the action's parameters.
func searchBulk(x *exchange) error {
	out := queryParams(x)
	for name, from := range map[string]string{"action": "action", "providerName": "provider"} {
		if v, err := x.param(from); err == nil && v != "" {
			out[name] = v
		}
	}
	for _, name := range []string{"pageSize", "currentPageIndex", "offset", "maxResults", "sortBy", "sortOrder", "countLimit", "highlight"} {
		delete(out, name)
	}
	pick(out, x.query(), "batchSize", "bucketSize")
	if named, ok := out["namedParameters"].(values); ok {
		delete(named, "batchSize")
		delete(named, "bucketSize")
	}
	if x.r.ContentLength != 0 {
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		out["parameters"] = string(body)
	}
	return x.run(engine.Call{Op: "Bulk.RunAction", Params: out}, reply{bare: true, choose: x.begun("commandId", x.base()+"/api/v1/bulk/")})
}
