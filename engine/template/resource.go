package template

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"strings"

	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/limit"
)

// DefaultLimits are the bounds that hold where none is given.
var DefaultLimits = limit.Defaults[Limits]()

// Resources are templates that are files, by file name: NAME.ftl and NAME.mvel.
type Resources map[string]*Template

// Load reads the templates of folders; one replaces that of the same file name in an earlier folder. A folder
// that is not there has none. What is wrong with them is told with file, line and column. All files are read
// even if some are wrong, so that one start names all mistakes.
func Load(folders ...fs.FS) (Resources, error) {
	all := Resources{}
	var errs []error
	for _, dir := range folders {
		entries, err := fs.ReadDir(dir, ".")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Unavailable.Errorf("templates: %w", err)
		}
		for _, e := range entries {
			ext := path.Ext(e.Name())
			if e.IsDir() || ext != ".ftl" && ext != ".mvel" {
				continue
			}
			text, err := declare.ReadFile(dir, e.Name())
			if err == nil {
				all[e.Name()], err = Parse(ext[1:], e.Name(), string(text), DefaultLimits)
			} else {
				err = fault.Wrap(err, "template %s", e.Name())
			}
			errs = append(errs, err)
		}
	}
	return all, errors.Join(errs...)
}

// Find returns the template of a name in a language, ftl or mvel. It is an error of kind NotFound if there is none.
func (all Resources) Find(language, name string) (*Template, error) {
	if t := all[name+"."+language]; t != nil {
		return t, nil
	}
	return nil, fault.Missing("template", name, func(yield func(string) bool) {
		for file := range maps.Keys(all) {
			if name, ok := strings.CutSuffix(file, "."+language); ok && !yield(name) {
				return
			}
		}
	})
}
