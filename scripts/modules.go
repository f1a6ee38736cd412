package scripts

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/library"
	"catena/storage/fault"
)

// maxModules bounds how many modules one script imports, itself and by way of others.
const maxModules = 50

// module is one that is deployed.
type module struct {
	library.Version
	text *moduleText
}

// Modules are the texts that scripts import from, deployed beside them.
type Modules struct{ r *Runner }

// Modules returns the modules of the scripts. They are deployed before the scripts, which are checked against them.
func (r *Runner) Modules() *Modules { return &Modules{r} }

// Ops are the operations that manage modules.
func (m *Modules) Ops() []engine.Op {
	return append(m.r.moduleKind().Ops(), engine.Op{
		Name: "Module.Outline", Label: "Outline of the modules", Category: "Scripting", Effect: engine.Reads,
		Doc:     "Returns the deployed modules with what each exports, and the scripts and modules that import from it.",
		Callers: engine.Admins.From(engine.Direct),
		Run:     engine.On(func(_ noParams, c *engine.Ctx, _ engine.Void) ([]moduleShown, error) { return m.r.outlineModules(c) }),
	})
}

// Load deploys the modules that are kept, at start.
func (m *Modules) Load(ctx context.Context, e *engine.Engine) error {
	return m.r.moduleKind().Load(ctx, e)
}

// Refresh follows what other processes deploy in the same store.
func (m *Modules) Refresh(ctx context.Context, e *engine.Engine) error {
	return m.r.moduleKind().Refresh(ctx, e)
}

// Sync deploys the modules of a folder whose text is not what is deployed, and returns the names of those it changed.
func (m *Modules) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	changed, err := m.r.moduleKind().Sync(ctx, e, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return changed, err
}

// moduleKind is how modules are kept.
func (r *Runner) moduleKind() *library.Kind {
	r.moduleKinds.Do(func() {
		r.moduleLibrary = &library.Kind{Family: "Module", Noun: "module", Ext: []string{".js"}, Check: r.checkModule, Put: r.putModules}
	})
	return r.moduleLibrary
}

// putModules takes what is deployed from now on. Runs that have begun keep the texts they began with.
func (r *Runner) putModules(all []library.Version) error {
	next := make(map[string]*module, len(all))
	var errs []error
	for _, v := range all {
		t, err := splitModule(v.Source)
		if err != nil {
			errs = append(errs, fault.Wrap(err, "module %s", v.Name))
			continue
		}
		next[v.Name] = &module{v, t}
	}
	r.modules.Store(&next)
	return errors.Join(errs...)
}

// deployedModules are the modules by name.
func (r *Runner) deployedModules() map[string]*module {
	if all := r.modules.Load(); all != nil {
		return *all
	}
	return nil
}

// noModule is the message of an import of a module that there is not.
func noModule(name string, all map[string]*module) (message, nearest string) {
	return `unknown module "` + name + `"`, fault.Nearest(name, maps.Keys(all))
}

// link finds the modules that a job imports, in the versions that are deployed now.
func (r *Runner) link(j job) (job, error) {
	if len(j.imports) == 0 {
		return j, nil
	}
	l := linker{all: r.deployedModules(), state: map[string]int{}}
	if err := l.add(j.file, j.imports); err != nil {
		return j, err
	}
	j.modules = l.order
	h := sha256.New()
	h.Write(j.key[:])
	for _, m := range l.order {
		fmt.Fprintf(h, "%q %q", m.Name, m.Source)
	}
	h.Sum(j.key[:0])
	return j, nil
}

// linker puts modules in the order in which they run: each behind those that it imports.
type linker struct {
	all   map[string]*module
	state map[string]int // 1: being added; 2: added
	order []*module
}

func (l *linker) add(file string, imports []importDecl) error {
	for _, decl := range imports {
		m := l.all[decl.from]
		switch {
		case m == nil:
			message, near := noModule(decl.from, l.all)
			if near != "" {
				message += ", perhaps " + near
			}
			return located(fault.NotFound.New(message).WithCode(fault.CodeScriptError), file, decl.line, decl.column)
		case l.state[decl.from] == 2:
			continue
		case l.state[decl.from] == 1:
			return located(fault.Invalid.New(`module "`+decl.from+`" imports itself`).WithCode(fault.CodeScriptError), file, decl.line, decl.column)
		case len(l.state) >= maxModules:
			return located(breach(fault.CodeScriptSource, "script: more than %d modules", maxModules), file, decl.line, decl.column)
		}
		l.state[decl.from] = 1
		if err := l.add(moduleFile(decl.from), m.text.imports); err != nil {
			return err
		}
		l.state[decl.from] = 2
		l.order = append(l.order, m)
	}
	return nil
}

// printVersions notes in the run which versions of modules it uses.
func (j *job) printVersions(c *engine.Ctx) {
	for _, m := range j.modules {
		c.Printed(fmt.Sprintf("imports module %s, version %d", m.Name, m.Version.Version))
	}
}

// names are all that a module exports, those of others included. A module that is not deployed, or exports itself again, adds none.
func (m *moduleText) names(all map[string]*module, depth int) []string {
	names := exported(m)
	for _, decl := range m.imports {
		for _, n := range decl.names {
			of := all[decl.from]
			switch {
			case n.as == "*" && of != nil && depth < maxModules:
				names = append(names, slices.DeleteFunc(of.text.names(all, depth+1), func(s string) bool { return s == "default" })...)
			case n.as != "" && n.as != "*":
				names = append(names, n.as)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// badImports reports imports of modules and names that there are not.
func (r *Runner) badImports(file string, imports []importDecl) (problems []Problem) {
	all := r.deployedModules()
	for _, decl := range imports {
		m := all[decl.from]
		if m == nil {
			message, near := noModule(decl.from, all)
			problems = append(problems, Problem{File: file, Line: decl.line, Column: decl.column, Message: message, Nearest: near})
			continue
		}
		names := m.text.names(all, 0)
		for _, n := range decl.names {
			if n.name != "*" && !slices.Contains(names, n.name) {
				problems = append(problems, Problem{
					File: file, Line: n.line, Column: n.column, Message: `module "` + decl.from + `" does not export ` + n.name,
					Nearest: fault.Nearest(n.name, slices.Values(names)),
				})
			}
		}
	}
	return problems
}

// checkModule is check for modules.
func (r *Runner) checkModule(c *engine.Ctx, file, source string) (string, []Problem, error) {
	name, problems := moduleName(file, source)
	found, calls, err := r.mistakes(c, file, source, true)
	if err != nil {
		return "", nil, err
	}
	problems = append(problems, found...)
	s := &Script{File: file, Source: source}
	problems = append(problems, s.badCalls(c, calls)...)
	t, err := splitModule(source)
	if err != nil || name == "" {
		return name, problems, nil //nolint:nilerr // it is among the problems
	}
	problems = append(problems, r.badImports(file, t.imports)...)
	with := maps.Clone(r.deployedModules())
	if with == nil {
		with = map[string]*module{}
	}
	with[name] = &module{library.Version{Name: name}, t}
	l := linker{all: with, state: map[string]int{name: 1}}
	if err := l.add(file, t.imports); err != nil && len(problems) == 0 {
		p := problemOf(file, err)
		p.Line, p.Column = t.imports[0].line, t.imports[0].column
		problems = append(problems, p)
	}
	missed, err := r.missed(c, file, name, t)
	return name, append(problems, missed...), err
}

// missed are the names that deployed scripts and modules import and that the next text of a module does not export.
func (r *Runner) missed(c *engine.Ctx, file, name string, next *moduleText) (problems []Problem, err error) {
	names := next.names(r.deployedModules(), 0)
	for _, noun := range []string{"module", "script"} {
		users, err := library.Deployed(c, noun)
		if err != nil {
			return nil, err
		}
		for _, v := range users {
			if !strings.Contains(v.Source, name) || noun == "module" && v.Name == name {
				continue
			}
			t, err := splitModule(v.Source)
			if err != nil {
				continue
			}
			for _, decl := range t.imports {
				for _, n := range decl.names {
					if decl.from == name && n.name != "*" && !slices.Contains(names, n.name) {
						problems = append(problems, Problem{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("export %s is missing: %s %s imports it", n.name, noun, v.Name)})
					}
				}
			}
		}
	}
	return problems, nil
}

// moduleTypes declares the modules for editors.
func (r *Runner) moduleTypes() string {
	var b strings.Builder
	all := r.deployedModules()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "\ndeclare module %q {\n", name)
		kinds := map[string]exportName{}
		for _, e := range all[name].text.exports {
			kinds[e.name] = e
		}
		for _, export := range all[name].text.names(all, 0) {
			writeType(&b, export, kinds[export])
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func writeType(b *strings.Builder, name string, e exportName) {
	switch {
	case name == "default" && e.kind == "function":
		fmt.Fprintf(b, "  export default function (%s): any;\n", typedParams(e.params))
	case name == "default":
		b.WriteString("  const value: any;\n  export default value;\n")
	case e.kind == "function":
		fmt.Fprintf(b, "  export function %s(%s): any;\n", name, typedParams(e.params))
	case e.kind == "class":
		fmt.Fprintf(b, "  export class %s {\n    constructor(...all: any[]);\n    static [name: string]: any;\n    [name: string]: any;\n  }\n", name)
	default:
		fmt.Fprintf(b, "  export const %s: any;\n", name)
	}
}

// typedParams are the parameters of a function as a declaration has them: as many as it takes at most.
func typedParams(params string) string {
	var typed []string
	for _, p := range strings.Split(params, ",") {
		switch p = strings.TrimSpace(p); {
		case strings.HasPrefix(p, "..."):
			typed = append(typed, p+": any[]")
		case p != "":
			typed = append(typed, p+"?: any")
		}
	}
	return strings.Join(typed, ", ")
}
