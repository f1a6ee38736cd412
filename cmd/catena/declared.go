package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"catena/engine"
	"catena/engine/mail"
	"catena/engine/template"
	"catena/engine/workflow"
	"catena/ops/render"
	"catena/ops/repository"
	"catena/ops/service"
	"catena/storage/directory"
	"catena/storage/schema"
)

// declared is what the files of a data directory add to what is built in.
type declared struct {
	types       *schema.Registry
	directories *directory.Registry
	providers   *repository.Providers
	actions     service.Actions
	templates   template.Resources
	mails       *mail.Templates
	workflows   *workflow.Models
}

// declarations reads the files of a data directory and tells everything that is wrong with them. What depends on
// types is read only if those are right.
func declarations(dir string) (*declared, error) {
	in := func(folder string) fs.FS { return os.DirFS(filepath.Join(dir, folder)) }
	d := &declared{}
	var err, failed error
	d.mails, failed = mail.LoadTemplates(in("mail"))
	var mistyped error
	d.templates, mistyped = render.Load(in("templates"))
	failed = errors.Join(failed, mistyped)
	if d.types, err = schema.Load(schema.Defaults(), in("types")); err != nil {
		return nil, errors.Join(err, failed)
	}
	var all [4]error
	d.directories, all[0] = directory.Load(d.types, directory.Defaults(), in("directories"))
	d.providers, all[1] = repository.Load(d.types, in("providers"))
	d.actions, all[2] = service.Load(d.types, in("actions"))
	d.workflows, all[3] = workflow.Load(d.types, engine.CheckExpression, in("workflows"))
	if err := errors.Join(append(all[:], failed)...); err != nil {
		return nil, err
	}
	return d, nil
}
