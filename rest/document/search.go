package document

import (
	"catena/rest"
)

// activityQuery are the parameters of the activity stream.
const activityQuery = "limit after user eventId since"

// searchRoutes are the addresses of queries, of saved searches, of the activity stream and of the declarations of page providers.
func searchRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/activity", Op: "Activity.GetStream", Query: activityQuery, Gives: "Activities"},
		{Method: "GET", Path: "/query", Op: "Resource.Query", Params: fromQuery, Query: queryQuery},
		{Method: "GET", Path: "/query/NXQL", Op: "Resource.Query", Params: fromQuery, Query: queryQuery},
		{Method: "GET", Path: "/query/LATEST_CREATED_USERS_OR_GROUPS_PROVIDER", Op: "UserGroup.Latest", Query: "pageSize", Gives: "UsersAndGroups"},
		{Method: "GET", Path: "/query/:provider", Op: "Repository.PageProvider", Params: fromProvider, Query: queryQuery},
		{Method: "GET", Path: "/search/execute", Op: "Resource.Query", Params: fromQuery, Query: queryQuery},
		{Method: "GET", Path: "/search/lang/:lang/execute", Op: "Resource.Query", Params: inLanguage, Query: queryQuery},
		{Method: "GET", Path: "/search/pp/LATEST_CREATED_USERS_OR_GROUPS_PROVIDER/execute", Op: "UserGroup.Latest", Query: "pageSize", Gives: "UsersAndGroups"},
		{Method: "GET", Path: "/search/pp/:provider/execute", Op: "Repository.PageProvider", Params: fromProvider, Query: queryQuery},
		{Method: "GET", Path: "/search/pp/:provider", Op: "Repository.ReadPageProvider", Params: providerNamed, Gives: "PageProvider"},
		{Method: "GET", Path: "/search/saved", Op: "SavedSearch.List", Query: "pageProvider pageSize currentPageIndex", Gives: "SavedSearches"},
		{Method: "POST", Path: "/search/saved", Op: "SavedSearch.Create", Entity: "search", Gives: "SavedSearch"},
		{Method: "GET", Path: "/search/saved/:id", Op: "SavedSearch.Read", Gives: "SavedSearch"},
		{Method: "PUT", Path: "/search/saved/:id", Op: "SavedSearch.Update", Entity: "search", Gives: "SavedSearch"},
		{Method: "DELETE", Path: "/search/saved/:id", Op: "SavedSearch.Delete"},
		{Method: "GET", Path: "/search/saved/:id/execute", Op: "SavedSearch.Execute", Query: "pageSize currentPageIndex sortBy sortOrder"},
	}
}

func providerNamed(x *rest.Request) (rest.Values, error) {
	name, err := x.Param("provider")
	return rest.Values{"providerName": name}, err
}
