package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"catena/engine"
	"catena/engine/declaration"
	"catena/engine/mail"
	"catena/engine/template"
	"catena/engine/workflow"
	"catena/ops/render"
	"catena/ops/repository"
	"catena/ops/service"
	"catena/storage/schema"
)

// declared is what the files of a data directory add to what is built in.
type declared struct {
	dir       string
	kinds     *declaration.Declarations // of types and directories, with those that the store keeps
	types     *schema.Registry          // that the rest was read with
	providers *repository.Providers
	actions   service.Actions
	templates template.Resources
	mails     *mail.Templates
	workflows *workflow.Models

	wrong error // with what depends on types, beside directories
}

// declarations reads the files of a data directory and tells everything that is wrong with them. What depends on types is read
// only if those are right; what does not fit to them is no error yet, but kept in wrong, since the store may keep more types.
func declarations(dir string) (*declared, error) {
	d := &declared{dir: dir}
	var err, failed error
	d.mails, failed = mail.LoadTemplates(d.in("mail"))
	var mistyped error
	d.templates, mistyped = render.Load(d.in("templates"))
	failed = errors.Join(failed, mistyped)
	if d.kinds, err = declaration.New(d.in("types"), d.in("directories")); err != nil {
		return nil, errors.Join(err, failed)
	}
	if d.wrong = d.complete(d.kinds.Base().Types); failed != nil {
		return nil, errors.Join(d.misfit(), failed)
	}
	return d, nil
}

// misfit is what does not fit to the types.
func (d *declared) misfit() error { return errors.Join(d.kinds.Unread(), d.wrong) }

func (d *declared) in(folder string) fs.FS { return os.DirFS(filepath.Join(d.dir, folder)) }

// complete reads what depends on types.
func (d *declared) complete(types *schema.Registry) error {
	var all [3]error
	d.types = types
	d.providers, all[0] = repository.Load(types, d.in("providers"))
	d.actions, all[1] = service.Load(types, d.in("actions"))
	d.workflows, all[2] = workflow.Load(types, engine.CheckExpression, d.in("workflows"))
	return errors.Join(all[:]...)
}
