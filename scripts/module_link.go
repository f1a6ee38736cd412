package scripts

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	srcfile "github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"catena/storage/fault"
)

// linked is a module in a worker: a function of what it imports that returns what it exports.
type linked struct {
	name, file string
	code       *goja.Program
	text       *moduleText
}

// moduleFile is what stacks call the text of a module.
func moduleFile(name string) string { return "modules/" + name }

// parseModule reads a module into a tree. Its statements are the body of a function, which has scopes and a strictness of its
// own.
func parseModule(file, source string) (*syntax, error) {
	if err := prescan(source); err != nil {
		return nil, err
	}
	m, err := splitModule(source)
	if err != nil {
		return nil, located(err, file, lineOf(err), columnOf(err))
	}
	head := "(" + strings.Join(m.locals(), ",") + `)=>{"use strict";`
	tree, err := parser.ParseFile(nil, file, head+m.code+asyncTail, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxFault(movedBy(err, m.code, len(head)), file, source)
	}
	f, end := onlyFunction(tree)
	if f == nil || end != len(head)+len(m.code)+len(asyncTail) {
		return nil, located(fault.Invalid.New("Unexpected token }").WithCode(fault.CodeScriptSyntax), file, 1, 1)
	}
	body := f.Body.(*ast.BlockStatement)
	move := mover{by: len(head), seen: map[any]bool{}}
	move.value(reflect.ValueOf(body.List))
	move.value(reflect.ValueOf(f.DeclarationList))
	f.Start, body.LeftBrace, body.RightBrace = 1, 1, 1
	at := srcfile.NewFile(file, source, 1)
	if err := oneConst(body.List, m, at); err != nil {
		return nil, err
	}
	return &syntax{Program: &ast.Program{Body: body.List, File: at}, module: f, text: m}, nil
}

// oneConst refuses an export of several constants, of which the text was read for the first.
func oneConst(list []ast.Statement, m *moduleText, at *srcfile.File) error {
	for _, s := range list {
		d, ok := s.(*ast.LexicalDeclaration)
		if !ok || len(d.List) < 2 || d.Token != token.CONST {
			continue
		}
		id, ok := d.List[0].Target.(*ast.Identifier)
		if ok && slices.ContainsFunc(m.exports, func(e exportName) bool { return e.kind == "const" && e.local == id.Name.String() }) {
			p := at.Position(int(d.Idx0()) - 1)
			return located(fault.Invalid.New("export const: one name each").WithCode(fault.CodeScriptSyntax), at.Name(), p.Line, p.Column)
		}
	}
	return nil
}

// moduleProgram is what is compiled of a module: the function, which returns an object of what is exported.
func (s *syntax) moduleProgram() *ast.Program {
	body := s.module.Body.(*ast.BlockStatement)
	given := &ast.ObjectLiteral{LeftBrace: 1, RightBrace: 1}
	for _, e := range s.text.exports {
		given.Value = append(given.Value, &ast.PropertyKeyed{
			Key: &ast.StringLiteral{Idx: 1, Value: unistring.NewFromString(e.name)}, Kind: ast.PropertyKindValue,
			Value: &ast.Identifier{Name: unistring.NewFromString(e.local), Idx: 1},
		})
	}
	body.List = append(body.List, &ast.ReturnStatement{Return: 1, Argument: given})
	return &ast.Program{Body: []ast.Statement{&ast.ExpressionStatement{Expression: s.module}}, File: s.File}
}

// include compiles the modules that a script imports, in the order in which they run: pairs of name and text.
func (p *program) include(pairs []any) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		source, _ := pairs[i+1].(string)
		tree, one, err := compileModule(moduleFile(name), source)
		if err != nil {
			return err
		}
		p.modules = append(p.modules, &linked{name: name, file: one.file, code: one.code, text: tree.text})
		for _, n := range one.extended {
			if !slices.Contains(p.extended, n) {
				p.extended = append(p.extended, n)
			}
		}
		for pattern, of := range one.escaped {
			if p.escaped == nil {
				p.escaped = map[string]string{}
			}
			p.escaped[pattern] = of
		}
		p.roots = append(p.roots, one.roots...)
		p.size += one.size
	}
	if len(p.modules) > 0 {
		p.unused = nil // a module may catch an error, and go on
	}
	return nil
}

func compileModule(file, source string) (*syntax, *program, error) {
	tree, err := parseModule(file, source)
	if err != nil {
		return nil, nil, err
	}
	p, err := compileTree(tree, file, source, true, nil)
	return tree, p, err
}

// has reports whether a file is one of the program's own.
func (p *program) has(file string) bool {
	return file == p.file || slices.ContainsFunc(p.modules, func(l *linked) bool { return l.file == file })
}

// link runs the modules of a program, and gives the script what it imports.
func (m *machine) link(p *program) error {
	given := make(map[string]*goja.Object, len(p.modules))
	for _, l := range p.modules {
		v, err := m.vm.RunProgram(l.code)
		if err != nil {
			return err
		}
		run, ok := goja.AssertFunction(v)
		if !ok {
			return fault.Internal.Errorf("module %s: not a function", l.name)
		}
		values, err := m.imported(l.text, l.file, given)
		if err != nil {
			return err
		}
		if v, err = run(goja.Undefined(), values...); err != nil {
			return err
		}
		given[l.name] = v.ToObject(m.vm)
		if err := m.exportAgain(l, given); err != nil {
			return err
		}
	}
	values, err := m.imported(p.text, p.file, given)
	if err != nil {
		return err
	}
	for i, name := range p.text.locals() {
		if err := m.vm.GlobalObject().DefineDataProperty(name, values[i], goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			return err
		}
	}
	return nil
}

// imported are the values of what a text imports under names of its own, in their order.
func (m *machine) imported(t *moduleText, file string, given map[string]*goja.Object) (values []goja.Value, err error) {
	for _, decl := range t.imports {
		for _, n := range decl.names {
			v, err := m.taken(given[decl.from], decl.from, n, file)
			if err != nil {
				return nil, err
			}
			if n.local != "" {
				values = append(values, v)
			}
		}
	}
	return values, nil
}

// taken is what a module gives for a name.
func (m *machine) taken(from *goja.Object, module string, n importedName, file string) (goja.Value, error) {
	if from == nil {
		return nil, fault.Internal.Errorf("module %s: was not sent", module)
	}
	if n.name == "*" {
		return from, nil
	}
	if !slices.Contains(from.Keys(), n.name) {
		err := fault.Invalid.New(lacks(module, n.name, from.Keys())).WithCode(fault.CodeScriptError)
		return nil, located(err, file, n.line, n.column)
	}
	return from.Get(n.name), nil
}

func lacks(module, name string, all []string) string {
	return `module "` + module + `" does not export ` + name + fault.Perhaps(name, slices.Values(all))
}

// exportAgain adds what a module exports of others.
func (m *machine) exportAgain(l *linked, given map[string]*goja.Object) error {
	out := given[l.name]
	for _, decl := range l.text.imports {
		from := given[decl.from]
		for _, n := range decl.names {
			switch {
			case n.as == "*":
				for _, key := range from.Keys() {
					if key != "default" && !slices.Contains(out.Keys(), key) {
						_ = out.Set(key, from.Get(key))
					}
				}
			case n.as != "":
				v, err := m.taken(from, decl.from, n, l.file)
				if err != nil {
					return err
				}
				_ = out.Set(n.as, v)
			}
		}
	}
	return nil
}

// files are the names of all texts of a program.
func (p *program) files() []string {
	all := []string{p.file}
	for _, l := range p.modules {
		all = append(all, l.file)
	}
	return all
}

// clash refuses a script that declares a name that it imports.
func (s *syntax) clash(file string) error {
	if len(s.text.imports) == 0 {
		return nil
	}
	declared := map[string]bool{}
	for _, st := range s.Body {
		c := &checker{declared: declared}
		switch n := st.(type) {
		case *ast.LexicalDeclaration:
			for _, b := range n.List {
				c.declare(b)
			}
		case *ast.VariableStatement:
			for _, b := range n.List {
				c.declare(b)
			}
		case *ast.FunctionDeclaration:
			declared[n.Function.Name.Name.String()] = true
		case *ast.ClassDeclaration:
			declared[n.Class.Name.Name.String()] = true
		}
	}
	seen := map[string]bool{}
	for _, decl := range s.text.imports {
		for _, n := range decl.names {
			if declared[n.local] || seen[n.local] {
				return located(fault.Invalid.Errorf("Identifier '%s' has already been declared", n.local).WithCode(fault.CodeScriptSyntax), file, n.line, n.column)
			}
			seen[n.local] = true
		}
	}
	return nil
}
