package template

import (
	"errors"
	"fmt"
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

// Extensions are those of the files of templates.
var Extensions = []string{".ftl", ".mvel"}

// Over returns templates over others: one replaces that of the same file name. It also tells everything that is wrong with them.
func (all Resources) Over(texts []declare.Source) (Resources, []declare.Mistake) {
	all = maps.Clone(all)
	var wrong []declare.Mistake
	for _, s := range texts {
		t, err := Parse(strings.TrimPrefix(path.Ext(s.Name), "."), s.Name, s.Text, DefaultLimits)
		if err == nil {
			all[s.Name] = t
			continue
		}
		wrong = append(wrong, Mistake(s.Name, err))
	}
	return all, wrong
}

// Mistake returns an error of a template as a mistake in its file, with line and column.
func Mistake(file string, err error) declare.Mistake {
	m := declare.Mistake{At: declare.Position{Layer: 1, File: file, Line: 1, Long: true}, Text: err.Error()}
	if e := (*fault.Error)(nil); errors.As(err, &e) && e.Line > 0 {
		m.At.Line, m.At.Column = e.Line, e.Column
		m.Text = strings.TrimPrefix(e.Message, fmt.Sprintf("template %s:%d:%d: ", file, e.Line, e.Column))
	}
	return m
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
