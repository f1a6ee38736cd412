package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"catena/engine/declaration"
	"catena/ops"
	"catena/storage/schema"
)

// declared is what the files of a data directory add to what is built in.
type declared struct {
	dir   string
	kinds *declaration.Declarations // of types and directories, with those that the store keeps
	types *schema.Registry          // that the rest was read with
	texts *ops.Texts

	wrong error // with what depends on types, beside directories
}

// declarations reads the files of a data directory and tells everything that is wrong with them. What depends on types is read
// only if those are right; what does not fit to them is no error yet, but kept in wrong, since the store may keep more types.
func declarations(dir string) (*declared, error) {
	d := &declared{dir: dir}
	var err, failed error
	d.texts, failed = ops.NewTexts(d.in)
	if d.kinds, err = declaration.New(d.in("types"), d.in("directories")); err != nil {
		return nil, errors.Join(err, failed)
	}
	d.kinds.Beside(d.texts.Providers, d.texts.Actions, d.texts.Workflows)
	d.types = d.kinds.Base().Types
	if d.wrong = d.texts.Declare(d.types); failed != nil {
		return nil, errors.Join(d.misfit(), failed)
	}
	return d, nil
}

// misfit is what does not fit to the types.
func (d *declared) misfit() error { return errors.Join(d.kinds.Unread(), d.wrong) }

func (d *declared) in(folder string) fs.FS { return os.DirFS(filepath.Join(d.dir, folder)) }
