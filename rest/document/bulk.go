package document

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// bulkRoutes are the addresses of bulk commands.
func bulkRoutes() []rest.Route {
	return []rest.Route{
		{Method: "POST", Path: "/bulk", Body: rest.LinesBody, Handle: load, Op: "Bulk.Load", Query: loadQuery, Gives: "lines", Says: "Creates or updates documents from records, JSON Lines or CSV, in transactions of bounded size, and returns a line for each."},
		{Method: "GET", Path: "/bulk/:commandId", Handle: bulk, Parts: []rest.Route{
			{Path: "/bulk/:commandId", Op: "Bulk.Get"},
			{Path: "/bulk/;id=:id", Op: "Bulk.Documents", Says: "Returns the documents of several ids: /bulk/;id=…;id=…"},
		}},
		{Method: "PUT", Path: "/bulk/:commandId", Handle: bulk, Parts: []rest.Route{
			{Path: "/bulk/;id=:id", Op: "Bulk.Documents", Entity: "document", Says: "Changes properties of the documents of several ids: /bulk/;id=…;id=…"},
		}},
		{Method: "DELETE", Path: "/bulk/:commandId", Handle: bulk, Parts: []rest.Route{
			{Path: "/bulk/;id=:id", Op: "Bulk.Documents", Says: "Deletes the documents of several ids: /bulk/;id=…;id=…"},
		}},
		{Method: "GET", Path: "/bulk/:commandId/events", Handle: bulkEvents, Gives: "events", Or: http.StatusNoContent, Says: "Streams the progress of a command until it is finished."},
		{Method: "GET", Path: "/bulk/:commandId/result", Op: "Bulk.Result"},
		{Method: "PUT", Path: "/bulk/:commandId/abort", Body: rest.NoBody, Op: "Bulk.Abort"},
		{Method: "POST", Path: "/search/bulk/:action", Handle: searchBulk, Op: "Bulk.RunAction", Query: bulkQuery, Status: http.StatusAccepted},
		{Method: "POST", Path: "/search/pp/:provider/bulk/:action", Handle: searchBulk, Op: "Bulk.RunAction", Query: bulkQuery, Status: http.StatusAccepted},
	}
}

// bulkQuery are the parameters of a query whose results an action is carried out on.
const bulkQuery = "query queryParams quickFilters batchSize bucketSize"

func commandParams(x *rest.Request) (rest.Values, error) {
	id, err := x.Param("commandId")
	return rest.Values{"commandId": id, "base": x.Base()}, err
}

// bulkEvents streams how far a command is until it has ended.
func bulkEvents(x *rest.Request) error {
	params, err := commandParams(x)
	if err != nil {
		return err
	}
	return x.Stream("bulk", func() (rest.Progress, error) {
		v, err := x.Value(engine.Call{Op: "Bulk.Get", Params: params})
		if err != nil {
			return rest.Progress{}, err
		}
		body, err := json.Marshal(v)
		if err != nil {
			return rest.Progress{}, err
		}
		var now struct {
			State     string
			Processed int64
		}
		err = json.Unmarshal(body, &now)
		return rest.Progress{
			Mark: now.State + "-" + strconv.FormatInt(now.Processed, 10), Body: body, Over: now.State == "COMPLETED" || now.State == "ABORTED",
		}, err
	})
}

// bulk says how far a command is, or serves the documents that ;id=a;id=b names.
func bulk(x *rest.Request) error {
	ids, several := strings.CutPrefix(x.Segments.Get("commandId"), ";")
	if !several {
		if x.HTTP.Method != http.MethodGet && x.HTTP.Method != http.MethodHead {
			return fault.Invalid.Errorf("method %s is not allowed here", x.HTTP.Method).WithCode(fault.CodeMethodNotAllowed)
		}
		return x.Call("Bulk.Get", commandParams, http.StatusOK)
	}
	params, list := rest.Values{"action": "get"}, []any{}
	for part := range strings.SplitSeq(ids, ";") {
		name, id, _ := strings.Cut(part, "=")
		id, err := rest.Decode(id)
		if err != nil || name != "id" || id == "" {
			return fault.Invalid.Errorf("address: must contain ;id=…, not ;%s", part)
		}
		list = append(list, id)
	}
	params["ids"] = list
	re := rest.Reply{Status: http.StatusOK}
	switch x.HTTP.Method {
	case http.MethodDelete:
		params["action"] = "delete"
	case http.MethodPut:
		body, err := x.ReadJSON()
		if err != nil {
			return err
		}
		var doc struct{ Properties map[string]any }
		if err := json.Unmarshal(body, &doc); err != nil {
			return fault.Invalid.Errorf("body: must be a document with properties")
		}
		params["action"], params["properties"], re.Body = "update", doc.Properties, body
	}
	return x.Run(engine.Call{Op: "Bulk.Documents", Params: params}, re)
}

// searchBulk runs an action on what a query finds: the body, if there is one, holds the action's parameters.
func searchBulk(x *rest.Request) error {
	out := queryParams(x)
	for name, from := range map[string]string{"action": "action", "providerName": "provider"} {
		if v, err := x.Param(from); err == nil && v != "" {
			out[name] = v
		}
	}
	for _, name := range []string{"pageSize", "currentPageIndex", "offset", "maxResults", "sortBy", "sortOrder", "countLimit", "highlight"} {
		delete(out, name)
	}
	rest.Pick(out, x.Query(), "batchSize", "bucketSize")
	if named, ok := out["namedParameters"].(rest.Values); ok {
		delete(named, "batchSize")
		delete(named, "bucketSize")
	}
	if x.HTTP.ContentLength != 0 {
		body, err := x.ReadJSON()
		if err != nil {
			return err
		}
		out["parameters"] = string(body)
	}
	return x.Run(engine.Call{Op: "Bulk.RunAction", Params: out}, rest.Reply{Bare: true, Choose: x.Begun("commandId", x.Base()+"/api/v1/bulk/")})
}
