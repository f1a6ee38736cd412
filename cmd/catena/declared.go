package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"catena/engine"
	"catena/engine/declaration"
	"catena/engine/library"
	"catena/ops"
	"catena/storage/declare"
	"catena/storage/schema"
)

// declared is what the files of a data directory add to what is built in.
type declared struct {
	dir   string
	kinds *declaration.Declarations // of types and directories, with those that the store keeps
	types *schema.Registry          // that the rest was read with
	texts *ops.Texts

	wrong error // with what depends on types, beside directories

	unreadKinds, unreadTexts error // why files could not be read
}

// readDeclared reads the files of a data directory. What is wrong with them is for declare to find out.
func readDeclared(dir string) *declared {
	d := &declared{dir: dir}
	d.kinds, d.unreadKinds = declaration.New(d.in("types"), d.in("directories"))
	d.texts, d.unreadTexts = ops.NewTexts(d.in)
	d.kinds.Beside(d.texts.Providers, d.texts.Actions, d.texts.Workflows)
	return d
}

// declare makes what the files declare and tells everything that is wrong with them. What depends on types is made only if those are
// right; what does not fit to them is no error yet, but kept in wrong, since the store may keep more types.
func (d *declared) declare() error {
	err := d.unreadKinds
	if err == nil {
		err = d.kinds.Declare()
	}
	if err != nil {
		return errors.Join(err, d.unreadTexts)
	}
	d.types = d.kinds.Base().Types
	if d.wrong = d.texts.Declare(d.types); d.unreadTexts != nil {
		return errors.Join(d.misfit(), d.unreadTexts)
	}
	return nil
}

// misfit is what does not fit to the types.
func (d *declared) misfit() error { return errors.Join(d.kinds.Unread(), d.wrong) }

func (d *declared) in(folder string) fs.FS { return os.DirFS(filepath.Join(d.dir, folder)) }

// deployments are what is deployed at run time. Types and directories are in front, since all others name them; chains call scripts, and the others call both.
func (a *app) deployments() library.Deployments {
	return library.Deployments{a.declared.kinds, a.declared.texts, a.scripts.Modules(), a.scripts, a.chains, a.listeners, a.waiting, a.schedules, a.hooks}
}

// sync deploys the files of the data directory: types of documents and directories first, since all others name them, then modules and
// scripts, since chains call these, and what names chains last.
func (a *app) sync(ctx context.Context) error {
	d := a.declared
	_, err := d.kinds.Sync(ctx, a.engine, d.in("types"), d.in("directories"))
	errs := []error{err}
	for _, f := range []struct {
		folder string
		kind   interface {
			Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error)
		}
	}{
		{"templates", d.texts.Templates},
		{"mail", d.texts.Mail},
		{"providers", d.texts.Providers},
		{"modules", a.scripts.Modules()},
		{"scripts", a.scripts},
		{"chains", a.chains},
		{"actions", d.texts.Actions},
		{"workflows", d.texts.Workflows},
		{"listeners", a.listeners},
		{"schedules", a.schedules},
		{"hooks", a.hooks},
	} {
		_, err := f.kind.Sync(ctx, a.engine, d.in(f.folder))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// actionStatus fails if an action is not offered, because of an operation that it names.
func (a *app) actionStatus() error {
	return declare.ErrorOf(a.declared.texts.Actions.Value().Check(a.engine.Set()))
}

// workflowStatus fails if a workflow cannot run, because of an operation or a variable that it names.
func (a *app) workflowStatus(context.Context) error {
	return declare.ErrorOf(ops.WorkflowsWork(a.engine.Set(), a.repo.Types(), a.declared.texts.Workflows.Value()))
}
