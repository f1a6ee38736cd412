// Package ops is the table of the operation families. Each family is a package below it; adding
// one is a line here. The deck family stands beside it in package decks.
//
// Each operation is one file of its family, named after it, with its definition, its parameters and its
// function; a scenario in testdata is its specification and its example. The catalogue follows that of the
// platform in names, aliases, parameters and results, because its clients and chains call these.
//
// An operation contains no permission checks of its own, apart from those that the platform has beyond
// permissions on documents: it acts with the rights of the caller through the transaction, which refuses what
// is not permitted.
package ops

import (
	"catena/engine"
	"catena/engine/template"
	models "catena/engine/workflow"
	"catena/ops/audit"
	"catena/ops/auth"
	"catena/ops/blob"
	"catena/ops/bulk"
	"catena/ops/collection"
	"catena/ops/comment"
	"catena/ops/context"
	"catena/ops/control"
	"catena/ops/conversion"
	"catena/ops/data"
	"catena/ops/directory"
	"catena/ops/document"
	"catena/ops/drive"
	"catena/ops/job"
	"catena/ops/notification"
	"catena/ops/oauth"
	"catena/ops/outside"
	"catena/ops/pdf"
	"catena/ops/property"
	"catena/ops/publish"
	"catena/ops/relation"
	"catena/ops/render"
	"catena/ops/repository"
	"catena/ops/resource"
	"catena/ops/search"
	"catena/ops/service"
	"catena/ops/tag"
	"catena/ops/upload"
	"catena/ops/user"
	"catena/ops/version"
	"catena/ops/webhook"
	"catena/ops/webui"
	"catena/ops/workflow"
	"catena/storage"
	directories "catena/storage/directory"
)

// Owners keep data about documents and users beside those below storage.
var Owners = []storage.Owner{drive.Owner, models.Owner, tag.Owner}

// Uploads finds uploaded files for an engine.
var Uploads = upload.Files

// Config is what operations know of the server. The zero value is a server without configuration.
type Config struct {
	Directories  func() *directories.Registry // whose names texts are checked for; nil: they are not
	Outside      blob.Outside
	Spreadsheets []string // command line of workers that read spreadsheets; nil: they are read in this process
	Drive        drive.Config
	Notification notification.Config
	Service      service.Config
	Texts        *Texts // nil: what is built in
}

// All returns the operations of every family.
func All(c Config) [][]engine.Op {
	var templates func() template.Resources
	var providers func() *repository.Providers
	var workflows func() *models.Models
	if c.Texts != nil {
		c.Service.Actions, c.Notification.Templates = c.Texts.Actions.Value, c.Texts.Mail.Value
		templates, providers, workflows = c.Texts.Templates.Value, c.Texts.Providers.Value, c.Texts.Workflows.Value
	}
	return [][]engine.Op{
		audit.Ops,
		auth.Ops,
		blob.Ops(c.Outside),
		bulk.Ops,
		collection.Ops,
		comment.Ops,
		context.Ops,
		control.Ops,
		conversion.Ops,
		data.Ops(c.Spreadsheets),
		directory.Known(c.Directories),
		document.Ops,
		drive.Ops(c.Drive),
		job.Ops,
		notification.Ops(c.Notification),
		oauth.Ops,
		outside.Ops(c.Outside.Client),
		pdf.Ops,
		property.Ops,
		publish.Ops,
		relation.Ops,
		render.Ops(templates),
		repository.Ops(providers),
		resource.Ops,
		search.Ops(repository.Lists(providers)),
		tag.Ops,
		upload.Ops,
		service.Ops(c.Service),
		user.Ops,
		version.Ops,
		webhook.Ops,
		webui.Ops,
		workflow.Ops(workflows),
	}
}
