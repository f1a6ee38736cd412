package ops

import (
	"context"
	"errors"
	"io/fs"

	"catena/engine"
	"catena/engine/declaration"
	"catena/engine/library"
	"catena/engine/mail"
	"catena/engine/template"
	models "catena/engine/workflow"
	"catena/ops/render"
	"catena/ops/repository"
	"catena/ops/service"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/schema"
)

// Texts are what is declared beside types and directories, by texts that are deployed while the server runs.
type Texts struct {
	Actions   *declaration.Kind[service.Actions]
	Mail      *declaration.Kind[*mail.Templates]
	Providers *declaration.Kind[*repository.Providers]
	Templates *declaration.Kind[template.Resources]
	Workflows *declaration.Kind[*models.Models]
}

// kind is one of them.
type kind interface {
	library.Deployment
	Declare(types *schema.Registry) error
	Open(ctx context.Context, repo *storage.Repo) error
	Over(types *schema.Registry, kept []declare.Source) error
	Lacks(e *engine.Engine) []library.Lack
	FamilyName() string
}

func (x *Texts) all() []kind { return []kind{x.Templates, x.Mail, x.Providers, x.Actions, x.Workflows} }

// NewTexts reads the files of a data directory; folder opens one of its folders. What they declare is for Declare to find out.
func NewTexts(folder func(name string) fs.FS) (*Texts, error) {
	x, errs := &Texts{}, [5]error{}
	x.Templates, errs[0] = declaration.NewKind(declaration.Texts[template.Resources]{
		Family: "Template", Noun: "template", Ext: template.Extensions, Extended: true, Build: render.Build,
	}, folder("templates"))
	x.Providers, errs[1] = declaration.NewKind(declaration.Texts[*repository.Providers]{
		Family: "PageProvider", Noun: "provider", Ext: declaration.YAML, Build: repository.Build,
	}, folder("providers"))
	x.Workflows, errs[2] = declaration.NewKind(declaration.Texts[*models.Models]{
		Family: "WorkflowDefinition", Noun: "workflow", Ext: declaration.YAML, Works: WorkflowsWork, Loses: models.Lost,
		Build: func(types *schema.Registry, texts []declare.Source) (*models.Models, []declare.Mistake, error) {
			return models.Build(types, engine.CheckExpression, texts)
		},
	}, folder("workflows"))
	x.Actions, errs[3] = declaration.NewKind(declaration.Texts[service.Actions]{
		Family: "ActionDefinition", Noun: "action", Ext: declaration.YAML, Build: service.Build,
		Works: func(set *engine.Set, _ *schema.Registry, all service.Actions) []declare.Mistake {
			return all.Check(set)
		},
	}, folder("actions"))
	x.Mail, errs[4] = declaration.NewKind(declaration.Texts[*mail.Templates]{
		Family: "MailTemplate", Noun: "mail", Nouns: "templates of mail", Ext: mail.Extensions, Extended: true, Build: mail.Build,
	}, folder("mail"))
	return x, errors.Join(errs[:]...)
}

// WorkflowsWork tells which workflows cannot run, because of an operation or a variable that they name.
func WorkflowsWork(set *engine.Set, types *schema.Registry, ms *models.Models) []declare.Mistake {
	return ms.Check(models.Checks{
		Runs:       func(name string) error { return set.Accepts(name, "") },
		TakesDocs:  func(name string) error { return set.Accepts(name, "documents") },
		Expression: engine.ExpressionCheck(types, models.Variables...),
	})
}

// Declare makes what the files declare, before a store is open. A file that is wrong is an error.
func (x *Texts) Declare(types *schema.Registry) error {
	return x.each(func(k kind) error { return k.Declare(types) })
}

// Open makes what the store keeps, and files whose texts were never kept. A file that is wrong is an error.
func (x *Texts) Open(ctx context.Context, repo *storage.Repo) error {
	return x.each(func(k kind) error { return k.Open(ctx, repo) })
}

// Over makes what texts declare that a store keeps, by their families.
func (x *Texts) Over(types *schema.Registry, kept map[string][]declare.Source) error {
	return x.each(func(k kind) error { return k.Over(types, kept[k.FamilyName()]) })
}

func (x *Texts) each(do func(kind) error) error {
	var errs []error
	for _, k := range x.all() {
		errs = append(errs, do(k))
	}
	return errors.Join(errs...)
}

// Ops are the operations that manage them.
func (x *Texts) Ops() (all []engine.Op) {
	for _, k := range x.all() {
		all = append(all, k.Ops()...)
	}
	return all
}

// Load deploys what is kept, at start.
func (x *Texts) Load(ctx context.Context, e *engine.Engine) error {
	return x.each(func(k kind) error { return k.Load(ctx, e) })
}

// Refresh follows what other servers deploy in the same store.
func (x *Texts) Refresh(ctx context.Context, e *engine.Engine) error {
	return x.each(func(k kind) error { return k.Refresh(ctx, e) })
}

// Lacks finds the texts that do not work on this server.
func (x *Texts) Lacks(e *engine.Engine) (all []library.Lack) {
	for _, k := range x.all() {
		all = append(all, k.Lacks(e)...)
	}
	return all
}
