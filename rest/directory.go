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
		{method: "GET", path: "/directory", op: "Directory.List", params: directoryTypes, query: "types", gives: "Directories"},
		{method: "GET", path: "/directory/:directory", op: "Directory.Page", query: "pageSize currentPageIndex offset sortBy sortOrder", gives: "DirectoryEntries"},
		{method: "POST", path: "/directory/:directory", op: "Directory.Create", entity: "entry", status: http.StatusCreated, gives: "DirectoryEntry"},
		{method: "PUT", path: "/directory/:directory", op: "Directory.Update", entity: "entry", gives: "DirectoryEntry"},
		{method: "GET", path: "/directory/:directory/*id", op: "Directory.Read", gives: "DirectoryEntry"},
		{method: "PUT", path: "/directory/:directory/*id", op: "Directory.Update", entity: "entry", gives: "DirectoryEntry"},
		{method: "DELETE", path: "/directory/:directory/*id", op: "Directory.Delete"},
	}
}

func directoryTypes(x *exchange) (values, error) {
	if types := x.query()["types"]; len(types) > 0 {
		return values{"types": types}, nil
	}
	return nil, nil
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
