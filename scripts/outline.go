package scripts

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/library"
)

// moduleShown is a deployed module as editors and pages show it.
type moduleShown struct {
	Name    string        `json:"name"`
	Version int64         `json:"version"`
	Author  string        `json:"author"`
	Time    time.Time     `json:"time"`
	Exports []exportShown `json:"exports"`
	UsedBy  []moduleUse   `json:"usedBy"`
}

// exportShown is a name that a module exports.
type exportShown struct {
	Name   string `json:"name"`
	Kind   string `json:"kind,omitempty"`   // const, function or class; "" if another module declares it
	Params string `json:"params,omitempty"` // of a function, as it is written
}

// moduleUse is a text that imports from a module.
type moduleUse struct {
	Kind  string   `json:"kind"` // script or module
	Name  string   `json:"name"`
	Names []string `json:"names"` // what it imports; * is all
}

// outlineModules describes the deployed modules, and finds where they are used.
func (r *Runner) outlineModules(c *engine.Ctx) ([]moduleShown, error) {
	uses, err := moduleUses(c)
	if err != nil {
		return nil, err
	}
	all := r.deployedModules()
	out := make([]moduleShown, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		kinds := map[string]exportName{}
		for _, e := range m.text.exports {
			kinds[e.name] = e
		}
		shown := moduleShown{Name: name, Version: m.Version.Version, Author: m.Author, Time: m.Time, Exports: []exportShown{}, UsedBy: uses[name]}
		for _, export := range m.text.names(all, 0) {
			shown.Exports = append(shown.Exports, exportShown{export, kinds[export].kind, kinds[export].params})
		}
		if shown.UsedBy == nil {
			shown.UsedBy = []moduleUse{}
		}
		out = append(out, shown)
	}
	return out, nil
}

// moduleUses finds the deployed scripts and modules that import, by the module that they import from.
func moduleUses(c *engine.Ctx) (map[string][]moduleUse, error) {
	uses := map[string][]moduleUse{}
	for _, noun := range []string{"module", "script"} {
		users, err := library.Deployed(c, noun)
		if err != nil {
			return nil, err
		}
		for _, v := range users {
			if !strings.Contains(v.Source, "import") && !strings.Contains(v.Source, "export") {
				continue
			}
			t, err := splitModule(v.Source)
			if err != nil {
				continue // it cannot run
			}
			names := map[string][]string{}
			for _, decl := range t.imports {
				names[decl.from] = append(names[decl.from], "")
				for _, n := range decl.names {
					names[decl.from] = append(names[decl.from], n.name)
				}
			}
			for from, list := range names {
				list = slices.DeleteFunc(list, func(name string) bool { return name == "" }) // imported for its effects alone
				slices.Sort(list)
				uses[from] = append(uses[from], moduleUse{noun, v.Name, append([]string{}, slices.Compact(list)...)})
			}
		}
	}
	for _, list := range uses {
		slices.SortFunc(list, func(a, b moduleUse) int {
			return cmp.Or(strings.Compare(b.Kind, a.Kind), strings.Compare(a.Name, b.Name))
		})
	}
	return uses, nil
}

// outlineParam is a parameter as a header declares it.
type outlineParam struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Required    bool   `json:"required"`
	Default     any    `json:"default,omitempty"`
	Description string `json:"description"`
	Secret      bool   `json:"secret,omitempty"`
}

// outline is what the header of a text says.
type outline struct {
	Name        string            `json:"name"`
	Label       string            `json:"label"`
	Description string            `json:"description"`
	Input       string            `json:"input"`
	Output      string            `json:"output"`
	Effect      string            `json:"effect"`
	Params      []outlineParam    `json:"params"`
	Problems    []library.Problem `json:"problems"` // of the header alone
}

type outlineParams struct {
	Source string `json:"source" doc:"The text."`
	Name   string `json:"name" default:"script.js" doc:"File name for messages."`
}

// run reads a text that may be wrong: somebody is writing it.
func (p outlineParams) run(*engine.Ctx, engine.Void) (outline, error) {
	s, problems := parseHeader(p.Name, p.Source)
	out := outline{
		Name: s.Name, Label: s.Label, Description: s.Description, Input: s.Input, Output: s.Output, Effect: s.Effect.String(),
		Params: make([]outlineParam, len(s.Params)), Problems: append([]library.Problem{}, problems...),
	}
	for i, x := range s.Params {
		out.Params[i] = outlineParam{x.Name, x.Type, x.Required, x.Default, x.Doc, x.Secret}
	}
	return out, nil
}
