package rest

import (
	"net/http"

	"catena/engine"
)

// searchRoutes are the addresses of saved searches and of the declarations of page providers.
func searchRoutes() []route {
	return []route{
		{method: "GET", path: "/search/pp/:provider", handle: call("Repository.ReadPageProvider", providerNamed)},
		{method: "GET", path: "/search/saved", handle: call("SavedSearch.List", savedParams)},
		{method: "POST", path: "/search/saved", handle: saveSearch("SavedSearch.Create")},
		{method: "GET", path: "/search/saved/:id", handle: call("SavedSearch.Read", savedID)},
		{method: "PUT", path: "/search/saved/:id", handle: saveSearch("SavedSearch.Update")},
		{method: "DELETE", path: "/search/saved/:id", handle: forgetSearch},
		{method: "GET", path: "/search/saved/:id/execute", handle: call("SavedSearch.Execute", savedRun)},
	}
}

func providerNamed(x *exchange) (values, error) {
	name, err := x.param("provider")
	return values{"providerName": name}, err
}

func savedParams(x *exchange) (values, error) {
	out := values{}
	pick(out, x.query(), "pageProvider", "pageSize", "currentPageIndex")
	return out, nil
}

func savedID(x *exchange) (values, error) {
	id, err := x.param("id")
	return values{"id": id}, err
}

func savedRun(x *exchange) (values, error) {
	out, err := savedID(x)
	pick(out, x.query(), "pageSize", "currentPageIndex", "sortBy", "sortOrder")
	return out, err
}

// saveSearch keeps the search in the body, anew or under the id in the address.
func saveSearch(op string) handler {
	return func(x *exchange) error {
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		p := rawParams(nil).add("search", body)
		if x.r.Method == http.MethodPut {
			id, err := x.param("id")
			if err != nil {
				return err
			}
			p = p.text("id", id)
		}
		return x.run(engine.Call{Op: op, RawParams: p.close()}, reply{status: http.StatusOK, body: body, bare: true})
	}
}

func forgetSearch(x *exchange) error {
	params, err := savedID(x)
	if err != nil {
		return err
	}
	return x.run(engine.Call{Op: "SavedSearch.Delete", Params: params}, reply{status: http.StatusNoContent})
}
