// Package server is the whole HTTP server: it joins the tables of addresses of the packages below rest, checks that no two
// rows match the same address, and derives the OpenAPI description. Nothing else knows all of them.
//
// The OpenAPI document is made from the rows of all tables and from the schemas of operations, on demand. The contract tests send requests to every row and compare the answers with it.
package server

import (
	"net/http"
	"slices"

	"catena/rest"
	"catena/rest/automation"
	"catena/rest/deck"
	"catena/rest/document"
	"catena/rest/page"
	"catena/rest/people"
)

// Routes are all addresses, those of the platform below /api/v1, of a server until it is done.
func Routes(done <-chan struct{}) (platform, top []rest.Route) { return apiRoutes(), topRoutes(done) }

// apiRoutes are the addresses below /api/v1, also reached below /site/api/v1 and below
// /api/v1/repo/{repository}. Adapters of documents are in adapter.go.
func apiRoutes() []rest.Route {
	return slices.Concat(
		automation.Routes(),
		document.Routes(),
		people.Routes(),
		platformRoutes(),
		uiSessionRoutes(),
	)
}

// topRoutes are the addresses that stand beside /api/v1, of a server until it is done.
func topRoutes(done <-chan struct{}) []rest.Route {
	return slices.Concat(deck.Routes(), deck.PictureRoutes(), people.InvitationRoutes(), automation.HookRoutes(), page.Routes(done), people.OAuthRoutes(), serverRoutes())
}

// New makes the handler of a server. What should be an origin and is none is left out and logged.
func New(c rest.Config) *rest.Handler { return rest.New(c, table) }

// table is everything that a server serves.
func table(s *rest.Handler) rest.Table {
	platform, top := Routes(s.Done())
	return rest.Table{
		API: platform, Top: top, Mounts: toolServers(s),
		Sections: []rest.Section{{Holds: deck.Holds, Fail: deck.Fail, Keys: true}, {Holds: page.Holds, Fail: rest.FailPage}},
	}
}

// serverRoutes are the addresses of the server itself, and of files and documents that stand outside /api/v1.
func serverRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/docs", Access: rest.Open, Handle: page.Manual, Query: "q", Gives: "page", Says: "Shows the manual, or the sections of it that contain the words q."},
		{Method: "GET", Path: "/docs/:page", Access: rest.Open, Handle: page.ManualPage, Gives: "page", Says: "Shows a page of the manual."},
		{Method: "GET", Path: "/docs/operations", Access: rest.Visitor, Handle: page.Reference, Gives: "page", Says: "Describes the operations that the caller may run."},
		{Method: "GET", Path: rest.ErrorCodesPath, Access: rest.Open, Handle: page.ErrorCodes, Gives: "page", Says: "Explains error codes, for people."},
		{Method: "GET", Path: "/.well-known/security.txt", Access: rest.Open, Handle: securityTxt, Gives: "text", Says: "Returns the contact for reporting vulnerabilities."},
		{Method: "POST", Path: "/site/es/:index/_search", Op: "Search.Aggregate", Entity: "*", Status: http.StatusOK, Gives: "Aggregations"},
		{Method: "POST", Path: "/site/es/:index/:type/_search", Op: "Search.Aggregate", Entity: "*", Status: http.StatusOK, Gives: "Aggregations"},
		{Method: "GET", Path: "/healthz", Access: rest.Open, Handle: alive, Gives: "text", Says: "Responds while the process is alive."},
		{Method: "GET", Path: "/json/cmis", Handle: repositoryInfo, Gives: "Repositories", Says: "Describes the repositories."},
		{Method: "GET", Path: "/livez", Access: rest.Open, Handle: alive, Gives: "text", Says: "Responds while the process is alive."},
		{Method: "GET", Path: "/metrics", Handle: metrics, Gives: "text", Says: "Returns the server's metrics in the format of Prometheus, for administrators."},
		{Method: "GET", Path: "/nxdoc/:repo/:id", Access: rest.Visitor, Handle: document.SeeDocument, Status: http.StatusSeeOther, Gives: "none", Says: "Redirects people to a document."},
		{Method: "GET", Path: "/nxdoc/:repo/:id/*view", Access: rest.Visitor, Handle: document.SeeDocument, Status: http.StatusSeeOther, Gives: "none", Says: "Redirects people to a document, whatever the view that the address names."},
		{Method: "GET", Path: "/nxpath/:repo", Access: rest.Visitor, Handle: document.SeePath, Status: http.StatusSeeOther, Gives: "none", Says: "Redirects people to the root document."},
		{Method: "GET", Path: "/nxpath/:repo/*path", Access: rest.Visitor, Handle: document.SeePath, Status: http.StatusSeeOther, Gives: "none", Says: "Redirects people to the document at a path."},
		{Method: "GET", Path: "/nxfile/:repo/:id", Handle: document.Download, Gives: "file", Says: "Returns the main file of a document."},
		{Method: "GET", Path: "/nxfile/:repo/:id/*tail", Handle: document.Download, Gives: "file", Says: "Returns the file of a document at an xpath, which the file's name may follow."},
		{Method: "GET", Path: "/readyz", Access: rest.Open, Handle: ready, Gives: "Health", Says: "Returns whether the server is ready for traffic: the state of its dependencies."},
		{Method: "GET", Path: "/runningstatus", Access: rest.Open, Handle: runningStatus, Query: "info key", Gives: "Health|Started", Says: "Returns the health of the server: the state of its dependencies."},
	}
}

// platformRoutes are the addresses of the platform as a whole.
func platformRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/@emptyWithDefault", Op: "Resource.Empty", Query: "type name"},
		{Method: "GET", Path: "/automation/doc", Access: rest.Visitor, Handle: page.Reference, Gives: "page", Says: "Shows the operations that the caller may run, for people."},
		{Method: "GET", Path: "/backup", Handle: backup, Gives: "file", Says: "Returns a backup of the server, for administrators."},
		{Method: "POST", Path: "/batch", Handle: rest.Batch, Entity: "batch", Gives: "BatchAnswers", Says: "Executes several requests in one transaction: all of them or, if one fails, none."},
		{Method: "GET", Path: "/capabilities", Handle: capabilities, Gives: "Capabilities", Says: "Returns the capabilities of the server."},
		{Method: "GET", Path: "/config/docType", Op: "Config.Types", Gives: "DocTypes"},
		{Method: "GET", Path: "/config/docType/:name", Op: "Config.Type", Gives: "DocType"},
		{Method: "GET", Path: "/config/facet", Op: "Config.Facets", Gives: "Facets"},
		{Method: "GET", Path: "/config/facet/:name", Op: "Config.Facet", Gives: "Facet"},
		{Method: "GET", Path: "/config/facets", Op: "Config.Facets", Gives: "Facets"},
		{Method: "GET", Path: "/config/facets/:name", Op: "Config.Facet", Gives: "Facet"},
		{Method: "GET", Path: "/config/schema", Op: "Config.Schemas", Params: schemaParams, Gives: "Schemas"},
		{Method: "GET", Path: "/config/schema/:name", Op: "Config.Schema", Params: schemaParams, Gives: "Schema"},
		{Method: "GET", Path: "/config/schemas", Op: "Config.Schemas", Params: schemaParams, Gives: "Schemas"},
		{Method: "GET", Path: "/config/schemas/:name", Op: "Config.Schema", Params: schemaParams, Gives: "Schema"},
		{Method: "GET", Path: "/config/types", Op: "Config.Types", Gives: "DocTypes"},
		{Method: "GET", Path: "/config/types/:name", Op: "Config.Type", Gives: "DocType"},
		{Method: "GET", Path: "/docType", Op: "Config.Types", Gives: "DocTypes"},
		{Method: "GET", Path: "/docType/:name", Op: "Config.Type", Gives: "DocType"},
		{Method: "GET", Path: "/facet", Op: "Config.Facets", Gives: "Facets"},
		{Method: "GET", Path: "/facet/:name", Op: "Config.Facet", Gives: "Facet"},
		{Method: "GET", Path: "/schema", Op: "Config.Schemas", Params: schemaParams, Gives: "Schemas"},
		{Method: "GET", Path: "/schema/:name", Op: "Config.Schema", Params: schemaParams, Gives: "Schema"},
		{Method: "GET", Path: "/job", Op: "Job.List", Query: "state kind limit", Gives: "Jobs"},
		{Method: "POST", Path: "/job/:id/retry", Body: rest.NoBody, Op: "Job.Retry", Gives: "Job"},
		{Method: "DELETE", Path: "/job/:id", Op: "Job.Delete"},
		{Method: "GET", Path: openAPIPath, Access: rest.Visitor, Handle: platformAPI, Gives: "Description", Says: "Describes these addresses, and the operations that the caller may run."},
		{Method: "GET", Path: "/webhook", Op: "Webhook.List", Query: "owner", Gives: "Webhooks"},
		{Method: "POST", Path: "/webhook", Op: "Webhook.Create", Entity: "*", Status: http.StatusCreated, Gives: "Webhook"},
		{Method: "GET", Path: "/webhook/:id", Op: "Webhook.Get", Gives: "Webhook"},
		{Method: "PUT", Path: "/webhook/:id", Op: "Webhook.Update", Entity: "*", Gives: "Webhook"},
		{Method: "DELETE", Path: "/webhook/:id", Op: "Webhook.Delete"},
		{Method: "GET", Path: "/webhook/:id/deliveries", Op: "Webhook.Deliveries", Query: "limit", Gives: "Deliveries"},
		{Method: "POST", Path: "/webhook/:id/deliveries/:delivery/redeliver", Body: rest.NoBody, Op: "Webhook.Redeliver", Gives: "Delivery"},
	}
}

// uiSessionRoutes are the addresses of the sessions of user interfaces.
func uiSessionRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/uisession", Op: "UISession.List", Gives: "UISessions"},
		{Method: "GET", Path: "/uisession/:conversationId", Op: "UISession.Read", Gives: "UISession"},
		{Method: "PUT", Path: "/uisession/:conversationId", Op: "UISession.Update", Entity: "state", Gives: "UISession"},
		{Method: "DELETE", Path: "/uisession/:conversationId", Op: "WebUI.DestroySeamContext"},
		{Method: "GET", Path: "/uisession/:conversationId/file", Op: "UISession.File", Gives: "file"},
		{Method: "POST", Path: "/uisession/:conversationId/take", Body: rest.NoBody, Op: "UISession.Take", Status: http.StatusOK, Gives: "UISession"},
	}
}
