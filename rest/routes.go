package rest

import "slices"

// apiRoutes are the addresses below /api/v1, also reached below /site/api/v1 and below
// /api/v1/repo/{repository}. Adapters of documents are in adapter.go.
func apiRoutes() []route {
	return slices.Concat(
		directoryRoutes(),
		documentRoutes(), searchRoutes(),
		oauthAdminRoutes(),
		peopleRoutes(),
		platformRoutes(),
		serviceRoutes(),
		tokenRoutes(),
		uploadRoutes(),
	)
}

// topRoutes are the addresses that stand beside /api/v1.
func topRoutes() []route {
	return append(slices.Concat(deckRoutes(), invitationRoutes(), pageRoutes(), oauthRoutes()), []route{
		{method: "GET", path: problemsPath, access: open, handle: problems},
		{method: "GET", path: "/.well-known/security.txt", access: open, handle: securityTxt},
		{method: "GET", path: "/healthz", access: open, handle: alive},
		{method: "GET", path: "/json/cmis", handle: repositoryInfo},
		{method: "GET", path: "/livez", access: open, handle: alive},
		{method: "GET", path: "/metrics", access: open, handle: metrics},
		{method: "GET", path: "/nxdoc/:repo/:id", access: visitor, handle: seeDocument},
		{method: "GET", path: "/nxfile/:repo/:id", handle: download},
		{method: "GET", path: "/nxfile/:repo/:id/*tail", handle: download},
		{method: "GET", path: "/readyz", access: open, handle: ready},
		{method: "GET", path: "/runningstatus", access: open, handle: runningStatus},
	}...)
}

func platformRoutes() []route {
	return []route{
		{method: "GET", path: "/@emptyWithDefault", handle: call("Resource.Empty", blank)},
		{method: "POST", path: "/@op/:op", body: callBody, handle: invoke},
		{method: "GET", path: "/automation", handle: registry},
		{method: "GET", path: "/automation/doc", access: visitor, handle: reference},
		{method: "POST", path: "/automation/login", body: noBody, handle: call("Login", nil)},
		{method: "GET", path: "/automation/runs", handle: listRuns},
		{method: "GET", path: "/automation/runs/:run", handle: readRun},
		{method: "DELETE", path: "/automation/runs/:run", handle: endRun},
		{method: "POST", path: "/automation/runs/:run/retry", body: noBody, handle: retryRun},
		{method: "GET", path: "/automation/traces", handle: listTraces},
		{method: "GET", path: "/automation/traces/:trace", handle: readTrace},
		{method: "GET", path: "/automation/:op", handle: describe},
		{method: "POST", path: "/automation/:op", body: callBody, handle: invoke},
		{method: "POST", path: "/automation/:op/@async", body: callBody, handle: invokeAsync},
		{method: "GET", path: "/automation/:op/@async/:run", handle: asyncResult},
		{method: "DELETE", path: "/automation/:op/@async/:run", handle: asyncAbort},
		{method: "GET", path: "/automation/:op/@async/:run/status", handle: asyncStatus},
		{method: "GET", path: "/backup", handle: backup},
		{method: "GET", path: "/capabilities", handle: capabilities},
		{method: "GET", path: "/config/docType", handle: call("Config.Types", nil)},
		{method: "GET", path: "/config/docType/:name", handle: call("Config.Type", named)},
		{method: "GET", path: "/config/facet", handle: call("Config.Facets", nil)},
		{method: "GET", path: "/config/facet/:name", handle: call("Config.Facet", named)},
		{method: "GET", path: "/config/facets", handle: call("Config.Facets", nil)},
		{method: "GET", path: "/config/facets/:name", handle: call("Config.Facet", named)},
		{method: "GET", path: "/config/schema", handle: call("Config.Schemas", nil)},
		{method: "GET", path: "/config/schema/:name", handle: call("Config.Schema", schemaParams)},
		{method: "GET", path: "/config/schemas", handle: call("Config.Schemas", nil)},
		{method: "GET", path: "/config/schemas/:name", handle: call("Config.Schema", schemaParams)},
		{method: "GET", path: "/config/types", handle: call("Config.Types", nil)},
		{method: "GET", path: "/config/types/:name", handle: call("Config.Type", named)},
		{method: "GET", path: "/query", handle: call("Resource.Query", fromQuery)},
		{method: "GET", path: "/query/NXQL", handle: call("Resource.Query", fromQuery)},
		{method: "GET", path: "/query/:provider", handle: call("Repository.PageProvider", fromProvider)},
		{method: "GET", path: "/search/execute", handle: call("Resource.Query", fromQuery)},
		{method: "GET", path: "/search/lang/:lang/execute", handle: call("Resource.Query", inLanguage)},
		{method: "GET", path: "/search/pp/:provider/execute", handle: call("Repository.PageProvider", fromProvider)},
	}
}

// documentRoutes are the addresses of documents; what follows one is cut off in the handler.
func documentRoutes() []route {
	var out []route
	for _, m := range []string{"GET", "POST", "PUT", "DELETE"} {
		out = append(out,
			route{method: m, path: "/id/:id", handle: byID},
			route{method: m, path: "/id/:id/*tail", handle: byID},
			route{method: m, path: "/path", handle: byPath},
			route{method: m, path: "/path/*doc", handle: byPath},
		)
	}
	return out
}
