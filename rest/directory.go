package rest

import (
	"encoding/json"
	"net/http"

	"catena/engine"
)

// directoryRoutes are the addresses of directories. Ids run to the end of the path, slashes
// included: an id may be a URL.
func directoryRoutes() []route {
	return []route{
		{method: "GET", path: "/directory", handle: call("Directory.List", directoryTypes)},
		{method: "GET", path: "/directory/:directory", handle: call("Directory.Page", directoryPage)},
		{method: "POST", path: "/directory/:directory", handle: sendEntry("Directory.Create", http.StatusCreated)},
		{method: "PUT", path: "/directory/:directory", handle: sendEntry("Directory.Update", http.StatusOK)},
		{method: "GET", path: "/directory/:directory/*id", handle: readEntry},
		{method: "PUT", path: "/directory/:directory/*id", handle: sendEntry("Directory.Update", http.StatusOK)},
		{method: "DELETE", path: "/directory/:directory/*id", handle: deleteEntry},
	}
}

func directoryTypes(x *exchange) (values, error) {
	if types := x.query()["types"]; len(types) > 0 {
		return values{"types": types}, nil
	}
	return nil, nil
}

func directoryPage(x *exchange) (values, error) {
	name, err := x.param("directory")
	out := pageParams(x, "")
	delete(out, "maxResults")
	out["directory"] = name
	return out, err
}

// entryOf are the directory and the id of an address.
func entryOf(x *exchange) (values, error) {
	name, err := x.param("directory")
	if err != nil {
		return nil, err
	}
	id, err := x.param("id")
	if err != nil {
		return nil, err
	}
	out := values{"directory": name}
	if id != "" {
		out["id"] = id
	}
	return out, nil
}

// readEntry answers with an entry; an address that ends behind the directory is the directory's.
func readEntry(x *exchange) error {
	if x.ps.get("id") == "" {
		return call("Directory.Page", directoryPage)(x)
	}
	return call("Directory.Read", entryOf)(x)
}

func deleteEntry(x *exchange) error {
	params, err := entryOf(x)
	if err != nil {
		return err
	}
	return x.run(engine.Call{Op: "Directory.Delete", Params: params}, reply{status: http.StatusNoContent})
}

// sendEntry runs an operation on the entry in the body.
func sendEntry(op string, status int) handler {
	return func(x *exchange) error { return x.runBody(op, "entry", entryOf, status) }
}

// runBody runs an operation on the JSON object in the body, which becomes one of its parameters
// beside those of the address.
func (x *exchange) runBody(op, name string, params func(*exchange) (values, error), status int) error {
	given := values{}
	if params != nil {
		var err error
		if given, err = params(x); err != nil {
			return err
		}
	}
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	p := rawParams{}.add(name, body)
	for key, v := range given {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		p = p.add(key, raw)
	}
	return x.run(engine.Call{Op: op, RawParams: p.close()}, reply{status: status, body: body})
}
