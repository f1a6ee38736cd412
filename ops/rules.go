package ops

import (
	"catena/engine"
)

// Doors by what stands behind them: somebody who sends a request, or what an administrator
// has stored on the server.
const (
	outside = engine.REST | engine.MCP | engine.CLI
	stored  = engine.Chain | engine.Listener | engine.Server
)

// Rules say who may call what from where. The rule that names an operation exactly comes
// before the one of its family, and what no rule names nobody may call. Operations that act
// for somebody else, reach outside the repository, run code or tell about other users are
// for administrators when a request or a script asks for them, and for anyone within a
// stored chain, which an administrator has written.
var Rules = []engine.Rule{
	{Ops: "Audit.LogEvent", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Audit.LogEvent", Who: engine.Anyone, From: stored},
	{Ops: "Audit.Query", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Audit.Query", Who: engine.Anyone, From: stored},
	{Ops: "Audit.QueryWithPageProvider", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Audit.QueryWithPageProvider", Who: engine.Anyone, From: stored},
	{Ops: "Auth.LoginAs", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Auth.LoginAs", Who: engine.Anyone, From: stored},
	{Ops: "Blob.CreateFromURL", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Blob.CreateFromURL", Who: engine.Anyone, From: stored},
	{Ops: "Blob.ExportToFS", Who: engine.Admins, From: engine.Everywhere},
	{Ops: "Blob.PostToURL", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Blob.PostToURL", Who: engine.Anyone, From: stored},
	{Ops: "Context.RunDocumentOperationInNewTx", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Context.RunDocumentOperationInNewTx", Who: engine.Anyone, From: stored},
	{Ops: "Counters.GET", Who: engine.Admins, From: engine.Everywhere},
	{Ops: "Directory.Entries", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Directory.Entries", Who: engine.Anyone, From: stored},
	{Ops: "Document.CreateLiveProxy", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Document.CreateLiveProxy", Who: engine.Anyone, From: stored},
	{Ops: "Document.Mail", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Document.Mail", Who: engine.Anyone, From: stored},
	{Ops: "Event.Fire", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Event.Fire", Who: engine.Anyone, From: stored},
	{Ops: "Group.CreateOrUpdate", Who: engine.Admins, From: engine.Everywhere},
	{Ops: "PlatformDrive.SetupIntegrationTests", Who: engine.Admins, From: engine.Everywhere},
	{Ops: "PlatformDrive.TearDownIntegrationTests", Who: engine.Admins, From: engine.Everywhere},
	{Ops: "RunInputScript", Who: engine.Scripters, From: engine.Everywhere},
	{Ops: "RunOperationOnListInNewTx", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "RunOperationOnListInNewTx", Who: engine.Anyone, From: stored},
	{Ops: "RunScript", Who: engine.Scripters, From: engine.Everywhere},
	{Ops: "TemplateProcessor.Render", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "TemplateProcessor.Render", Who: engine.Anyone, From: stored},
	{Ops: "User.CreateOrUpdate", Who: engine.Admins, From: engine.Everywhere},

	{Ops: "Actions.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Audit.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Auth.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Blob.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "BlobHolder.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Business.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Chain.*", Who: engine.Admins, From: outside},
	{Ops: "Collection.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Comment.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Config.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Context.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Deck.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Directory.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Document.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Favorite.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "FileManager.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "GetRepositories", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "LocalConfiguration.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Log", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Login", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Navigation.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Picture.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "PlatformDrive.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Render.*", Who: engine.Admins, From: outside | engine.Script},
	{Ops: "Render.*", Who: engine.Anyone, From: stored},
	{Ops: "Repository.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Resource.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "RunDocumentOperation", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "RunFileOperation", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "RunOperation", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "RunOperationOnList", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "RunOperationOnProvider", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Script.*", Who: engine.Admins, From: outside},
	{Ops: "Seam.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Search.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Services.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Tag.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Task.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Traces.*", Who: engine.Admins, From: engine.Everywhere},
	{Ops: "User.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "UserGroup.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "WebUI.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "Workflow.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "WorkflowInstance.*", Who: engine.Anyone, From: engine.Everywhere},
	{Ops: "WorkflowModel.*", Who: engine.Admins, From: engine.Everywhere},
	{Ops: "WorkflowTask.*", Who: engine.Anyone, From: engine.Everywhere},
}
