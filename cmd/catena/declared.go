package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"catena/engine/declaration"
	"catena/engine/mail"
	"catena/ops"
	"catena/ops/service"
	"catena/storage/schema"
)

// declared is what the files of a data directory add to what is built in.
type declared struct {
	dir     string
	kinds   *declaration.Declarations // of types and directories, with those that the store keeps
	types   *schema.Registry          // that the rest was read with
	texts   *ops.Texts
	actions service.Actions
	mails   *mail.Templates

	wrong error // with what depends on types, beside directories
}

// declarations reads the files of a data directory and tells everything that is wrong with them. What depends on types is read
// only if those are right; what does not fit to them is no error yet, but kept in wrong, since the store may keep more types.
func declarations(dir string) (*declared, error) {
	d := &declared{dir: dir}
	var err, failed error
	d.mails, failed = mail.LoadTemplates(d.in("mail"))
	var unread error
	d.texts, unread = ops.NewTexts(d.in)
	failed = errors.Join(failed, unread)
	if d.kinds, err = declaration.New(d.in("types"), d.in("directories")); err != nil {
		return nil, errors.Join(err, failed)
	}
	d.kinds.Beside(d.texts.Providers, d.texts.Workflows)
	types := d.kinds.Base().Types
	if d.wrong = d.complete(types, d.texts.Declare(types)); failed != nil {
		return nil, errors.Join(d.misfit(), failed)
	}
	return d, nil
}

// misfit is what does not fit to the types.
func (d *declared) misfit() error { return errors.Join(d.kinds.Unread(), d.wrong) }

func (d *declared) in(folder string) fs.FS { return os.DirFS(filepath.Join(d.dir, folder)) }

// complete reads what depends on types. Wrong is what is wrong with texts.
func (d *declared) complete(types *schema.Registry, wrong error) error {
	d.types = types
	var failed error
	d.actions, failed = service.Load(types, d.in("actions"))
	return errors.Join(failed, wrong)
}
