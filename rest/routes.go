package rest

import (
	"net/http"
	"slices"
)

// Routes are all addresses, those of the platform below /api/v1, of a server until it is done.
func Routes(done <-chan struct{}) (platform, top []route) { return apiRoutes(), topRoutes(done) }

// apiRoutes are the addresses below /api/v1, also reached below /site/api/v1 and below
// /api/v1/repo/{repository}. Adapters of documents are in adapter.go.
func apiRoutes() []route {
	return slices.Concat(
		automationRoutes(),
		documentRoutes(),
		peopleRoutes(),
		platformRoutes(),
		uiSessionRoutes(),
	)
}

// topRoutes are the addresses that stand beside /api/v1, of a server until it is done.
func topRoutes(done <-chan struct{}) []route {
	return slices.Concat(deckRoutes(), invitationRoutes(), pageRoutes(done), oauthRoutes(), serverRoutes())
}

// New makes the handler of a server. What should be an origin and is none is left out and logged.
func New(c Config) *Handler { return newHandler(c, table) }

// table is everything that a server serves.
func table(s *Handler) Table {
	platform, top := Routes(s.Done())
	return Table{
		API: platform, Top: top, Mounts: toolServers(s),
		Sections: []Section{{Holds: isDecks, Fail: (*exchange).failDeck, Keys: true}, {Holds: isPage, Fail: (*exchange).failPage}},
	}
}

// serverRoutes are the addresses of the server itself, and of files and documents that stand outside /api/v1.
func serverRoutes() []route {
	return []route{
		{method: "GET", path: "/docs", access: open, handle: manual, query: "q", gives: "page", says: "Shows the manual, or the sections of it that contain the words q."},
		{method: "GET", path: "/docs/:page", access: open, handle: manualPage, gives: "page", says: "Shows a page of the manual."},
		{method: "GET", path: "/docs/operations", access: visitor, handle: reference, gives: "page", says: "Describes the operations that the caller may run."},
		{method: "GET", path: problemsPath, access: open, handle: problems, gives: "page", says: "Explains the codes of errors, to people."},
		{method: "GET", path: "/.well-known/security.txt", access: open, handle: securityTxt, gives: "text", says: "Tells who to tell of a weakness."},
		{method: "GET", path: "/healthz", access: open, handle: alive, gives: "text", says: "Answers as long as the process does."},
		{method: "GET", path: "/json/cmis", handle: repositoryInfo, says: "Describes the repositories."},
		{method: "GET", path: "/livez", access: open, handle: alive, gives: "text", says: "Answers as long as the process does."},
		{method: "GET", path: "/metrics", handle: metrics, gives: "text", says: "Returns the server's metrics in the format of Prometheus, for administrators."},
		{method: "GET", path: "/nxdoc/:repo/:id", access: visitor, handle: seeDocument, status: http.StatusSeeOther, gives: "none", says: "Leads people to a document."},
		{method: "GET", path: "/nxfile/:repo/:id", handle: download, gives: "file", says: "Returns the main file of a document."},
		{method: "GET", path: "/nxfile/:repo/:id/*tail", handle: download, gives: "file", says: "Returns the file of a document at an xpath, which its name may follow."},
		{method: "GET", path: "/readyz", access: open, handle: ready, says: "Says whether the server should get traffic: the state of everything that it needs."},
		{method: "GET", path: "/runningstatus", access: open, handle: runningStatus, query: "info key", says: "Says how the server is: the state of everything that it needs."},
	}
}

// platformRoutes are the addresses of the platform as a whole.
func platformRoutes() []route {
	return []route{
		{method: "GET", path: "/@emptyWithDefault", op: "Resource.Empty", query: "type name"},
		{method: "GET", path: "/automation/doc", access: visitor, handle: reference, gives: "page", says: "Shows the operations that the caller may run, to people."},
		{method: "GET", path: "/backup", handle: backup, gives: "file", says: "Returns a backup of the server, for administrators."},
		{method: "POST", path: "/batch", handle: batch, entity: "batch", gives: "BatchAnswers", says: "Carries out several requests in one transaction: all of them or, if one fails, none."},
		{method: "GET", path: "/capabilities", handle: capabilities, gives: "Capabilities", says: "Says what the server can do."},
		{method: "GET", path: "/config/docType", op: "Config.Types"},
		{method: "GET", path: "/config/docType/:name", op: "Config.Type"},
		{method: "GET", path: "/config/facet", op: "Config.Facets"},
		{method: "GET", path: "/config/facet/:name", op: "Config.Facet"},
		{method: "GET", path: "/config/facets", op: "Config.Facets"},
		{method: "GET", path: "/config/facets/:name", op: "Config.Facet"},
		{method: "GET", path: "/config/schema", op: "Config.Schemas"},
		{method: "GET", path: "/config/schema/:name", op: "Config.Schema", params: schemaParams},
		{method: "GET", path: "/config/schemas", op: "Config.Schemas"},
		{method: "GET", path: "/config/schemas/:name", op: "Config.Schema", params: schemaParams},
		{method: "GET", path: "/config/types", op: "Config.Types"},
		{method: "GET", path: "/config/types/:name", op: "Config.Type"},
		{method: "GET", path: "/job", op: "Job.List", query: "state kind limit"},
		{method: "POST", path: "/job/:id/retry", body: noBody, op: "Job.Retry"},
		{method: "DELETE", path: "/job/:id", op: "Job.Delete"},
		{method: "GET", path: openAPIPath, access: visitor, handle: platformAPI, gives: "any", says: "Describes these addresses, and the operations that the caller may run."},
		{method: "GET", path: "/webhook", op: "Webhook.List", query: "owner"},
		{method: "POST", path: "/webhook", op: "Webhook.Create", entity: "*", status: http.StatusCreated},
		{method: "GET", path: "/webhook/:id", op: "Webhook.Get"},
		{method: "PUT", path: "/webhook/:id", op: "Webhook.Update", entity: "*"},
		{method: "DELETE", path: "/webhook/:id", op: "Webhook.Delete"},
		{method: "GET", path: "/webhook/:id/deliveries", op: "Webhook.Deliveries", query: "limit"},
		{method: "POST", path: "/webhook/:id/deliveries/:delivery/redeliver", body: noBody, op: "Webhook.Redeliver"},
	}
}

// documentRoutes are the addresses of documents and of what works on them.
func documentRoutes() []route {
	return slices.Concat(resourceRoutes(), bulkRoutes(), searchRoutes(), uploadRoutes(), workflowRoutes())
}

// resourceRoutes are the addresses of documents; what follows one is cut off in the handler.
func resourceRoutes() []route {
	var out []route
	for _, at := range []route{
		{method: "GET", op: "Repository.GetDocument"},
		{method: "POST", op: "Resource.Create", entity: "document", status: http.StatusCreated},
		{method: "PUT", op: "Resource.Update", entity: "document"},
		{method: "DELETE", op: "Resource.Delete"},
	} {
		of := func(path string, handle handler, parts ...route) {
			r := at
			r.path, r.handle, r.parts, r.batch = path, handle, parts, true
			out = append(out, r)
		}
		named := at
		named.path = "/path/:doc"
		of("/id/:id", byID)
		of("/id/:id/*tail", byID, adaptersOf(at.method, "/id/:id")...)
		of("/path", byPath)
		of("/path/*doc", byPath, append(adaptersOf(at.method, "/path/:doc"), named)...)
	}
	return out
}
