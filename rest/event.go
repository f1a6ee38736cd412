package rest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// bulkRoutes are the addresses of bulk commands.
func bulkRoutes() []route {
	return []route{
		{method: "GET", path: "/bulk/:commandId", handle: bulk, parts: []route{
			{path: "/bulk/:commandId", op: "Bulk.Get"},
			{path: "/bulk/;id=:id", op: "Bulk.Documents", says: "Returns the documents of several ids: /bulk/;id=…;id=…"},
		}},
		{method: "PUT", path: "/bulk/:commandId", handle: bulk, parts: []route{
			{path: "/bulk/;id=:id", op: "Bulk.Documents", entity: "document", says: "Changes properties of the documents of several ids: /bulk/;id=…;id=…"},
		}},
		{method: "DELETE", path: "/bulk/:commandId", handle: bulk, parts: []route{
			{path: "/bulk/;id=:id", op: "Bulk.Documents", says: "Deletes the documents of several ids: /bulk/;id=…;id=…"},
		}},
		{method: "GET", path: "/bulk/:commandId/events", handle: bulkEvents, gives: "events", or: http.StatusNoContent, says: "Sends how far a command is as that changes, until it is over."},
		{method: "GET", path: "/bulk/:commandId/result", op: "Bulk.Result"},
		{method: "PUT", path: "/bulk/:commandId/abort", body: noBody, op: "Bulk.Abort"},
		{method: "POST", path: "/search/bulk/:action", handle: searchBulk, op: "Bulk.RunAction", query: bulkQuery, status: http.StatusAccepted},
		{method: "POST", path: "/search/pp/:provider/bulk/:action", handle: searchBulk, op: "Bulk.RunAction", query: bulkQuery, status: http.StatusAccepted},
	}
}

// bulkQuery are the parameters of a query whose results an action is carried out on.
const bulkQuery = "query queryParams quickFilters batchSize bucketSize"

// sent runs one operation with the members of the body, a JSON object, as parameters, and with parts of the address.
func (x *exchange) sent(op string, status int) error {
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal(body, &params); err != nil || params == nil {
		return fault.Invalid.Errorf("body: an object expected")
	}
	given, err := placed(x)
	if err != nil {
		return err
	}
	for name, v := range given {
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

func commandParams(x *exchange) (values, error) {
	id, err := x.param("commandId")
	return values{"commandId": id, "base": x.base()}, err
}

// bulkEvents streams how far a command is until it is over.
func bulkEvents(x *exchange) error {
	params, err := commandParams(x)
	if err != nil {
		return err
	}
	return x.stream("bulk", func() (progress, error) {
		v, err := x.quiet("Bulk.Get", params)
		if err != nil {
			return progress{}, err
		}
		body, err := json.Marshal(v)
		if err != nil {
			return progress{}, err
		}
		var now struct {
			State     string
			Processed int64
		}
		err = json.Unmarshal(body, &now)
		return progress{
			mark: now.State + "-" + strconv.FormatInt(now.Processed, 10), body: body, over: now.State == "COMPLETED" || now.State == "ABORTED",
		}, err
	})
}

// bulk says how far a command is, or serves the documents that ;id=a;id=b names.
func bulk(x *exchange) error {
	ids, several := strings.CutPrefix(x.ps.get("commandId"), ";")
	if !several {
		if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
			return fault.Invalid.Errorf("method %s is not allowed here", x.r.Method).WithCode(fault.CodeMethodNotAllowed)
		}
		return x.call("Bulk.Get", commandParams, http.StatusOK)
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
