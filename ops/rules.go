package ops

import (
	"slices"

	"catena/engine"
)

// Entry points by what stands behind them: somebody who sends a request or a script, or what an
// administrator has stored on the server.
const (
	outside = engine.REST | engine.MCP | engine.CLI
	sent    = outside | engine.Script
	stored  = engine.Chain | engine.Listener | engine.Server
)

// Rules say who may call what from where. The rule that names an operation exactly comes
// before the one of its family, and what no rule names nobody may call.
var Rules = slices.Concat(
	// Operations that act for somebody else, reach outside the repository, or tell about
	// other users: for administrators when a request or a script asks for them, for anyone
	// within a stored chain, which an administrator has written.
	guarded(engine.Admins,
		"Audit.LogEvent", "Audit.Query", "Audit.QueryWithPageProvider", "Auth.LoginAs",
		"Blob.CreateFromURL", "Blob.PostToURL", "Context.RunDocumentOperationInNewTx", "Directory.Entries",
		"Document.CreateLiveProxy", "Document.Mail", "Event.Fire", "RunOperationOnListInNewTx"),
	// Chains of workflows, which believe what the context says of one.
	guarded(engine.Admins, "NRD-AC-PR-*", "cancelWorkflow", "logInAudit", "notifyInitiatorEndOfWorkflow", "sendTaskCreatedNotificationMail", "terminateWorkflow"),
	guarded(engine.Admins, "Task.ApplyDocumentMapping", "Workflow.ResumeNode"),
	allow(engine.Admins, engine.Everywhere, "WorkflowModel.BulkRestartInstances"),
	// Operations that evaluate an expression of the caller's.
	guarded(engine.Scripters,
		"Context.RestoreBlobInputFromScript", "Context.RestoreBlobsInputFromScript",
		"Context.RestoreDocumentInputFromScript", "Context.RestoreDocumentsInputFromScript"),
	allow(engine.Anyone, engine.Everywhere, "AttachFiles", "VersionAndAttachFile*", "BlobHolder.*", "Conversion.*", "Image.*", "PDF.*", "Picture.*", "Render.*", "Upload.*", "UserWorkspace.*"),
	allow(engine.Scripters, engine.Everywhere, "RunInputScript", "RunScript"),
	allow(engine.Admins, engine.Server, "Resource.Downloaded"),
	allow(engine.Admins, engine.Everywhere,
		"Blob.ExportToFS", "Group.CreateOrUpdate", "Repository.Verify",
		"JsonStack.*", "Team.Create", "Team.Delete", "Team.List", "Traces.*", "User.CreateOrUpdate", "User.SetAccount"),
	allow(engine.Admins, outside|engine.Server, "Services.LogLevel"),
	allow(engine.Admins, outside|engine.Server, "Chain.*", "Job.*", "Listener.*", "Schedule.*", "Script.*", "WorkManager.*"),
	allow(engine.Anyone, outside|engine.Server, "Key.*"),
	allow(engine.Anyone, outside|engine.Server, "OAuth2.*"),
	allow(engine.Anyone, outside|engine.Server, "Token.*"),
	allow(engine.Anyone, engine.Everywhere, "Directory.*"),
	allow(engine.Anyone, engine.Everywhere, "RenditionDefinition.*", "blobToPDF", "containerContentBlob", "mainBlob", "xmlExportRendition", "zipTreeExportRendition"),
	allow(engine.Anyone, engine.Everywhere, "DocumentMultivaluedProperty.addItem", "Proxy.GetSourceDocument"),
	allow(engine.Anyone, outside|engine.Server, "Webhook.*"),
	allow(engine.Anyone, engine.Everywhere, "PlatformDrive.*"),
	allow(engine.Admins, outside|engine.Server,
		"PlatformDrive.CreateTestDocuments", "PlatformDrive.SetActiveFactories", "PlatformDrive.SetVersioningOptions",
		"PlatformDrive.SetupIntegrationTests", "PlatformDrive.TearDownIntegrationTests",
		"PlatformDrive.WaitForAsyncCompletion", "PlatformDrive.WaitForElasticsearchCompletion"),
	allow(engine.Admins, engine.Everywhere, "Counters.GET"),
	allow(engine.Anyone, engine.Everywhere, "Actions.GET", "Bulk.*", "Elasticsearch.*", "LocalConfiguration.*"),
	guarded(engine.Admins, "Bulk.WaitForAction"),
	// A UI session is the caller's, whichever entry point the call comes from.
	allow(engine.Anyone, engine.Everywhere, "Navigation.*", "Seam.*", "SeamActions.GET", "UISession.*", "WebUI.*"),
	allow(engine.Anyone, engine.Everywhere,
		"Audit.*", "Auth.*", "Blob.*", "Business.*", "Collection.*", "Comment.*", "Config.*", "Context.*", "Deck.*", "Document.*", "Favorite.*", "FileManager.*",
		"GetRepositories", "Group.*", "Log", "Login", "Repository.*", "Resource.*", "RunDocumentOperation", "RunFileOperation",
		"RunOperation", "RunOperationOnList", "RunOperationOnProvider", "SavedSearch.*", "Search.*", "Services.*", "Tag.*", "Task.*", "Team.*", "User.*", "UserGroup.*",
		"Update.NextStep.ConditionalFolder", "Workflow.*", "WorkflowInstance.*", "WorkflowModel.*", "WorkflowTask.*"),
)

// allow lets who call operations from entry points.
func allow(who engine.Who, from engine.EntryPoint, ops ...string) []engine.Rule {
	rules := make([]engine.Rule, len(ops))
	for i, op := range ops {
		rules[i] = engine.Rule{Ops: op, Who: who, From: from}
	}
	return rules
}

// guarded lets who call operations from outside and from scripts, and anyone from what an
// administrator has stored.
func guarded(who engine.Who, ops ...string) []engine.Rule {
	return append(allow(who, sent, ops...), allow(engine.Anyone, stored, ops...)...)
}
