package people

import (
	"net/http"

	"catena/rest"
)

// directoryRoutes are the addresses of directories. Ids run to the end of the path, slashes
// included: an id may be a URL.
func directoryRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/directory", Op: "Directory.List", Params: directoryTypes, Query: "types", Gives: "Directories"},
		{Method: "GET", Path: "/directory/:directory", Op: "Directory.Page", Query: "pageSize currentPageIndex offset sortBy sortOrder", Gives: "DirectoryEntries"},
		{Method: "POST", Path: "/directory/:directory", Op: "Directory.Create", Entity: "entry", Status: http.StatusCreated, Gives: "DirectoryEntry"},
		{Method: "PUT", Path: "/directory/:directory", Op: "Directory.Update", Entity: "entry", Gives: "DirectoryEntry"},
		{Method: "GET", Path: "/directory/:directory/*id", Op: "Directory.Read", Gives: "DirectoryEntry"},
		{Method: "PUT", Path: "/directory/:directory/*id", Op: "Directory.Update", Entity: "entry", Gives: "DirectoryEntry"},
		{Method: "DELETE", Path: "/directory/:directory/*id", Op: "Directory.Delete"},
	}
}

func directoryTypes(x *rest.Request) (rest.Values, error) {
	if types := x.Query()["types"]; len(types) > 0 {
		return rest.Values{"types": types}, nil
	}
	return nil, nil
}
