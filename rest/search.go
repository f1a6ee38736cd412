package rest

// searchRoutes are the addresses of queries, of saved searches and of the declarations of page providers.
func searchRoutes() []route {
	return []route{
		{method: "GET", path: "/query", op: "Resource.Query", params: fromQuery, query: queryQuery},
		{method: "GET", path: "/query/NXQL", op: "Resource.Query", params: fromQuery, query: queryQuery},
		{method: "GET", path: "/query/:provider", op: "Repository.PageProvider", params: fromProvider, query: queryQuery},
		{method: "GET", path: "/search/execute", op: "Resource.Query", params: fromQuery, query: queryQuery},
		{method: "GET", path: "/search/lang/:lang/execute", op: "Resource.Query", params: inLanguage, query: queryQuery},
		{method: "GET", path: "/search/pp/:provider/execute", op: "Repository.PageProvider", params: fromProvider, query: queryQuery},
		{method: "GET", path: "/search/pp/:provider", op: "Repository.ReadPageProvider", params: providerNamed},
		{method: "GET", path: "/search/saved", op: "SavedSearch.List", query: "pageProvider pageSize currentPageIndex", gives: "SavedSearches"},
		{method: "POST", path: "/search/saved", op: "SavedSearch.Create", entity: "search", gives: "SavedSearch"},
		{method: "GET", path: "/search/saved/:id", op: "SavedSearch.Read", gives: "SavedSearch"},
		{method: "PUT", path: "/search/saved/:id", op: "SavedSearch.Update", entity: "search", gives: "SavedSearch"},
		{method: "DELETE", path: "/search/saved/:id", op: "SavedSearch.Delete"},
		{method: "GET", path: "/search/saved/:id/execute", op: "SavedSearch.Execute", query: "pageSize currentPageIndex sortBy sortOrder"},
	}
}

func providerNamed(x *exchange) (values, error) {
	name, err := x.param("provider")
	return values{"providerName": name}, err
}
