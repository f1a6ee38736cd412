package scripts

import (
	"slices"
	"strings"

	"catena/storage/fault"
	"catena/storage/lazy"
)

// The parser knows neither import nor export. Both are read from the text here and replaced by blanks, so that every character
// that is left stands where it stood: places in errors, stacks and checks need no translation. What is imported is given to
// the code as values, see module_link.go.

// place is where something stands in a text, counted from 1.
type place struct{ line, column int }

// importDecl is one import, or one export from another module.
type importDecl struct {
	from string // name of the module
	place
	names []importedName
}

// importedName is a name that is taken from a module.
type importedName struct {
	name  string // "*" is all of the module
	local string // as the text names it; "" if it does not
	as    string // as the text exports it again; "" if it does not, "*" if all names are
	place
}

// exportName is a name that a module gives.
type exportName struct {
	name, local string
	kind        string // const, function or class; "" if that stands elsewhere in the text
	params      string // of a function, as written
}

// moduleText is a text without its imports and exports.
type moduleText struct {
	code    string
	imports []importDecl
	exports []exportName
	first   place // of the first export
}

// defaultName is the variable of a default export without a name. With "var" and "=" it is as long as "export default".
const defaultName = "$default"

// declarations reads the imports and exports of a text.
type declarations struct {
	scanner
	out []byte
	m   *moduleText
	err error
}

// splitModule reads the imports and exports of a text.
func splitModule(source string) (*moduleText, error) {
	d := &declarations{scanner: scanner{src: source, line: 1, groups: make([]group, 1, 16)}, m: &moduleText{code: source}}
	if !strings.Contains(source, "import") && !strings.Contains(source, "export") {
		return d.m, nil
	}
	d.out = []byte(source)
	for d.i < len(source) {
		if len(d.groups) == 1 && d.begins() {
			if d.word() == "import" {
				d.importing()
			} else {
				d.exporting()
			}
			d.operand = false
		} else if err := d.token(); err != nil {
			return nil, err
		}
		if d.err != nil {
			return nil, d.err
		}
	}
	d.m.code = string(d.out)
	return d.m, nil
}

// begins reports whether a statement that imports or exports is next.
func (d *declarations) begins() bool {
	rest := d.src[d.i:]
	if !strings.HasPrefix(rest, "import") && !strings.HasPrefix(rest, "export") || len(rest) > 6 && isWord(rest[6]) {
		return false
	}
	before := strings.TrimRight(d.src[:d.i], " \t")
	return before == "" || strings.IndexByte("\n;}/", before[len(before)-1]) >= 0
}

func (d *declarations) at(i int) place {
	return place{1 + strings.Count(d.src[:i], "\n"), i - strings.LastIndexByte(d.src[:i], '\n')}
}

func (d *declarations) refuse(i int, format string, args ...any) {
	if d.err == nil {
		p := d.at(min(i, len(d.src)))
		d.err = fault.Invalid.Errorf(format, args...).At(p.line, p.column).WithCode(fault.CodeScriptSyntax)
	}
}

// skip passes over blanks and comments.
func (d *declarations) skip() {
	for d.i < len(d.src) && d.blank() { //nolint:revive // blank moves on
	}
}

// word takes a name, "" if none is next.
func (d *declarations) word() string {
	d.skip()
	from := d.i
	for d.i < len(d.src) && isWord(d.src[d.i]) {
		d.i++
	}
	return d.src[from:d.i]
}

// take passes over a character if it is next.
func (d *declarations) take(c byte) bool {
	d.skip()
	if d.i < len(d.src) && d.src[d.i] == c {
		d.i++
		return true
	}
	return false
}

// erase blanks what lies between a place and here.
func (d *declarations) erase(from int) {
	for i := from; i < d.i; i++ {
		if c := d.out[i]; c != '\n' && c != '\r' {
			d.out[i] = ' '
		}
	}
}

// importing reads what follows import.
func (d *declarations) importing() {
	start := d.i - len("import")
	d.skip()
	if d.i < len(d.src) && (d.src[d.i] == '(' || d.src[d.i] == '.') {
		d.refuse(start, `import: write import { name } from "module" at the top of the text`)
		return
	}
	decl := importDecl{}
	if d.i < len(d.src) && (d.src[d.i] == '"' || d.src[d.i] == '\'') {
		d.from(start, &decl)
		return
	}
	at := d.i
	if name := d.word(); name != "" {
		decl.names = append(decl.names, importedName{name: "default", local: name, place: d.at(at)})
		if !d.take(',') {
			d.named(start, &decl)
			return
		}
	}
	at = d.i
	switch {
	case d.take('*'):
		if as := d.word(); as != "as" {
			d.refuse(at, "import: as is missing after *")
		}
		decl.names = append(decl.names, importedName{name: "*", local: d.word(), place: d.at(at)})
	case d.take('{'):
		for _, n := range d.list() {
			decl.names = append(decl.names, importedName{name: n.name, local: n.local, place: n.place})
		}
	default:
		d.refuse(at, "import: a name, *, or { is missing")
	}
	d.named(start, &decl)
}

// listed is a name of a list, and what it is called on the other side.
type listed struct {
	name, local string
	place
}

// list reads names up to a closing brace.
func (d *declarations) list() (all []listed) {
	for d.err == nil && !d.take('}') {
		at := d.i
		p := listed{name: d.word(), place: d.at(at)}
		p.local = p.name
		mark := d.scanner
		if d.word() == "as" {
			p.local = d.word()
		} else {
			d.scanner = mark
		}
		if p.name == "" || p.local == "" {
			d.refuse(at, "a name is missing between the braces")
		}
		all = append(all, p)
		if !d.take(',') && (d.i >= len(d.src) || d.src[d.i] != '}') {
			d.refuse(d.i, "the braces are not closed")
		}
	}
	return all
}

// named reads from and the name of the module.
func (d *declarations) named(start int, decl *importDecl) {
	at := d.i
	if d.word() != "from" {
		d.refuse(at, `from "module" is missing`)
		return
	}
	d.from(start, decl)
}

// from reads the name of the module and ends the declaration.
func (d *declarations) from(start int, decl *importDecl) {
	d.skip()
	at := d.i
	if at >= len(d.src) || d.src[at] != '"' && d.src[at] != '\'' {
		d.refuse(at, "the name of a module is missing, in quotes")
		return
	}
	d.text(d.src[at])
	decl.from, decl.place = strings.Trim(d.src[at:d.i], `"'`), d.at(at)
	d.erase(start)
	rest, _, _ := strings.Cut(d.src[d.i:], "\n")
	if rest = strings.TrimSpace(rest); rest != "" && rest[0] != ';' && rest[0] != '/' {
		d.refuse(d.i, "a line break or ; is missing after the name of the module")
	}
	d.m.imports = append(d.m.imports, *decl)
}

// exporting reads what follows export.
func (d *declarations) exporting() {
	start := d.i - len("export")
	if d.m.first.line == 0 {
		d.m.first = d.at(start)
	}
	switch {
	case d.take('{'):
		d.exportList(start)
		return
	case d.take('*'):
		n := importedName{name: "*", as: "*", place: d.at(start)}
		mark := d.scanner
		if d.word() == "as" {
			n.as = d.word()
		} else {
			d.scanner = mark
		}
		d.named(start, &importDecl{names: []importedName{n}})
		return
	}
	keyword := d.i
	if d.word() == "default" {
		d.exportDefault(start, keyword)
		return
	}
	d.i = keyword
	d.erase(start)
	e := d.declared()
	switch {
	case e.kind == "let" || e.kind == "var":
		d.refuse(start, "export %s: what changes later cannot be exported; export a const or a function", e.kind)
	case e.kind == "" || e.local == "":
		d.refuse(start, "export: a function, class or const with a name, default or { is missing")
	}
	e.name = e.local
	d.m.exports = append(d.m.exports, e)
}

// exportList reads names in braces, of this text or of another module.
func (d *declarations) exportList(start int) {
	list := d.list()
	mark := d.scanner
	if d.word() == "from" {
		decl := &importDecl{}
		for _, p := range list {
			decl.names = append(decl.names, importedName{name: p.name, as: p.local, place: p.place})
		}
		d.from(start, decl)
		return
	}
	d.scanner = mark
	d.erase(start)
	for _, p := range list {
		d.m.exports = append(d.m.exports, exportName{name: p.local, local: p.name})
	}
}

// exportDefault reads a declaration with a name, whose name is the local one, or an expression.
func (d *declarations) exportDefault(start, keyword int) {
	end := d.i
	mark := d.scanner
	e := d.declared()
	d.scanner = mark
	d.erase(start)
	e.name = "default"
	if e.kind == "const" || e.kind == "let" || e.kind == "var" {
		d.refuse(keyword, "export default: a value is missing, not %s", e.kind)
	}
	if e.local == "" {
		if strings.Contains(d.src[start:end], "\n") {
			d.refuse(start, "export default must be on one line")
			return
		}
		e.local = defaultName
		copy(d.out[start:], "var "+defaultName)
		d.out[end-1] = '='
	}
	d.m.exports = append(d.m.exports, e)
}

// declared reads the kind and the name of a declaration, and the parameters of a function.
func (d *declarations) declared() (e exportName) {
	mark := d.scanner
	defer func() { d.scanner = mark }() // the declaration itself is for the parser
	e.kind = d.word()
	if e.kind == "async" {
		e.kind = d.word()
	}
	switch e.kind {
	case "class", "const", "let", "var":
		e.local = d.word()
	case "function":
		d.take('*')
		e.local = d.word()
		if d.take('(') {
			if n := strings.IndexAny(d.src[d.i:], "(){}[]="); n >= 0 && d.src[d.i+n] == ')' {
				e.params = strings.TrimSpace(d.src[d.i : d.i+n])
			} else {
				e.params = "...all"
			}
		}
	default:
		e.kind = ""
	}
	if e.local == "extends" { // a class without a name
		e.local = ""
	}
	return e
}

// locals are the names by which the text knows what it imports, in order.
func (m *moduleText) locals() (names []string) {
	for _, decl := range m.imports {
		for _, n := range decl.names {
			if n.local != "" {
				names = append(names, n.local)
			}
		}
	}
	return names
}

var moduleTag = lazy.Regexp(`(?m)^[ \t]*\*?[ \t]*@module[ \t]+(\S+)`)

var moduleNames = lazy.Regexp(`^[A-Za-z][A-Za-z0-9._/-]{0,99}$`)

// moduleName reads the name of a module from the comment at the start of its text.
func moduleName(file, source string) (string, []Problem) {
	comment := ""
	if start := strings.Index(source, "/**"); start >= 0 && strings.TrimSpace(stripLineComments(source[:start])) == "" {
		comment, _, _ = strings.Cut(source[start+3:], "*/")
	}
	found := moduleTag().FindStringSubmatchIndex(comment)
	if found == nil {
		return "", []Problem{{File: file, Line: 1, Column: 1, Message: "a module must begin with a comment /** … @module name … */"}}
	}
	name := comment[found[2]:found[3]]
	if !moduleNames().MatchString(name) {
		at := strings.Index(source, "/**") + 3 + found[2]
		p := (&declarations{scanner: scanner{src: source}}).at(at)
		return "", []Problem{{File: file, Line: p.line, Column: p.column, Message: "name " + name + ": must begin with a letter and contain only letters, digits and . _ - /, at most 100"}}
	}
	return name, nil
}

// exported are the names of a list of exports, sorted.
func exported(m *moduleText) []string {
	names := make([]string, 0, len(m.exports))
	for _, e := range m.exports {
		names = append(names, e.name)
	}
	slices.Sort(names)
	return names
}
