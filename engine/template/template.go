// Package template renders text from templates. There are two languages: FTL, that of FreeMarker, which has
// an evaluator of its own here, and templates whose expressions are those of chains, marked with @. Both see
// the same variables: plain values, and views of documents that only read. What a template may use is what
// its text says; a part of a language that is not known here is an error of the template, with its line and
// column, and never text.
//
// Parse turns text into a tree of nodes once; Render walks the tree for one set of variables. Read
// template.go first, then for FTL lexer.go (tokens of a tag), grammar.go (expressions), parse.go and
// directive.go (tags), node.go and expression.go (what each does), and builtin*.go (what stands behind a
// question mark). mvel.go is the other language: it has a parser of its own and hands expressions to package
// expr, but produces the same kinds of nodes.
//
// The evaluator works on the tree of the template; it is neither compiled nor cached. Everything that takes
// time counts steps before it is done (step), so that a template cannot run for long, and everything that
// makes text is bounded (grown). A template is written by anyone who may write templates but is rendered with
// the rights of the caller: it sees views that only read, and there is no way from a value to the methods of
// a Go type. A new node or built-in has to keep both: count in proportion to the work, before
// allocating, and take and return only values that this package knows.
//
// Values are nil, bool, int64, float64, string, time, []any, hash, view, markup and functions. Nil is
// FreeMarker's missing value: using it is an error, unless the template says what is to stand in its place.
package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"catena/engine/expr"
	"catena/storage/fault"
)

// Limits bound one template.
type Limits struct {
	Source int `setting:"limit-template-source" unit:"bytes" default:"256 KiB" doc:"size of a template"`
	Depth  int `setting:"limit-template-depth" default:"64" doc:"levels of nesting in a template, and of macros that call macros"`
	Steps  int `setting:"limit-template-steps" default:"5000000" doc:"steps of one rendering of a template"`
	Output int `setting:"limit-template-output" unit:"bytes" default:"10 MiB" doc:"size of the output of a template"`
}

// Template is a parsed template. It may be rendered several times at once.
type Template struct {
	Name  string
	Reads expr.Program // the variables it reads, and what of them

	source string          // the text, to find lines in
	noted  map[string]bool // what Reads has
	body   []node
	macros map[string]*macro
}

// Parse reads a template of a language: ftl, ftlh, which is FTL that escapes values for HTML, or mvel. Its name is for errors, which are of kind Invalid, or Limit, and
// say the line and the column.
func Parse(language, name, source string, l Limits) (*Template, error) {
	t := &Template{Name: name, source: source, noted: map[string]bool{}, macros: map[string]*macro{}}
	if len(source) > l.Source {
		return nil, fault.Limit.Errorf("template %s: longer than %d bytes", name, l.Source).WithCode(fault.CodeExpression)
	}
	var err error
	switch language {
	case "mvel":
		err = parseMarked(t, source, l)
	case "ftlh":
		err = parseTags(t, source, "html", l)
	default:
		err = parseTags(t, source, "", l)
	}
	if err != nil {
		return nil, t.located(err)
	}
	return t, nil
}

// Render makes the text of the variables, which it does not change. It asks goOn each 1,024 steps or so, and
// ends early with its error; steps is the number since the beginning of the rendering. Templates have no
// output before the end: a template that fails renders nothing.
func (t *Template) Render(variables map[string]any, l Limits, goOn func(steps int) error) (string, error) {
	// Cloned, since loops over expressions of chains put their variable among those that were given.
	r := &run{goOn: goOn, limits: l, data: maps.Clone(variables), own: map[string]any{}, macros: t.macros}
	if r.data == nil { // none were given
		r.data = map[string]any{}
	}
	err := r.all(t.body)
	// A break or return that no directive has caught.
	if s := (*signal)(nil); errors.As(err, &s) {
		err = s.at.fail("%s is outside a matching directive", s)
	}
	if err != nil {
		return "", t.located(err)
	}
	return r.out.String(), nil
}

// pos is a position in a template: so many bytes of its text stand before it. Lines and columns are counted only for
// errors, since finding them takes time.
type pos int

// at returns the line and the column of a position, from 1.
func (t *Template) at(p pos) (line, column int) {
	before := t.source[:min(int(p), len(t.source))]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// mistake is what is wrong at a position. Only Parse and Render, which know the text, make a fault of it
// (located): nodes know their position, but neither the name of the template nor its lines.
type mistake struct {
	at   pos
	kind fault.Kind
	text string
}

func (m *mistake) Error() string { return m.text }

func (p pos) fail(format string, args ...any) error {
	return &mistake{p, fault.Invalid, fmt.Sprintf(format, args...)}
}

func (p pos) exceed(format string, args ...any) error {
	return &mistake{p, fault.Limit, fmt.Sprintf(format, args...)}
}

// located names the template and the position; other errors stay what they are. A missing value is reported
// with the two ways out that the language has.
func (t *Template) located(err error) error {
	var lacks *missing
	if errors.As(err, &lacks) {
		err = lacks.at.fail("%s is missing: give it a default with !, or test it with ??", lacks.what)
	}
	var m *mistake
	if !errors.As(err, &m) {
		return err
	}
	line, column := t.at(m.at)
	text := fmt.Sprintf("template %s:%d:%d: %s", t.Name, line, column, m.text)
	if m.kind == fault.Limit {
		return fault.Limit.New(text).WithCode(fault.CodeExpression).At(line, column)
	}
	return fault.Invalid.New(text).WithCode(fault.CodeExpression).At(line, column)
}

// add notes a variable that is read.
func (t *Template) add(name string) { t.note(&t.Reads.Names, "variable ", name) }

// join notes what an expression of chains reads.
func (t *Template) join(p *expr.Program) {
	for _, name := range p.Names {
		t.add(name)
	}
	for _, key := range p.Keys {
		t.note(&t.Reads.Keys, "key ", key)
	}
	for _, name := range p.Helpers {
		t.note(&t.Reads.Helpers, "helper ", name)
	}
	t.Reads.Open = t.Reads.Open || p.Open
}

// note adds a name to a list that it is not in yet.
func (t *Template) note(list *[]string, kind, name string) {
	if !t.noted[kind+name] {
		t.noted[kind+name] = true
		*list = append(*list, name)
	}
}

// node is a part of a template.
type node interface{ exec(r *run) error }

// expression is what has a value; nil is one that is missing. Callers use run.eval, which counts the step, or
// run.need, which also rejects nil, and not eval itself.
type expression interface {
	eval(r *run) (any, error)
	position() pos
}

// run is one rendering. It belongs to one goroutine.
type run struct {
	goOn   func(steps int) error
	limits Limits
	data   map[string]any // the variables given
	own    map[string]any // what the template assigned
	locals []map[string]any
	macros map[string]*macro
	nested []nesting
	out    strings.Builder
	// steps were counted so far; they are never taken back, not even if a branch failed and was replaced by a
	// default.
	steps                                 int
	depth                                 int
	number, date, time, datetime, boolean string // settings
}

// What things cost in bytes, of which 64 take about as long as a step.
const (
	itemSize  = 16   // an item of a list that is made or gone through
	entrySize = 256  // an entry of a hash that is made, or sorted
	scopeSize = 32   // a scope in which a variable is looked for
	callSize  = 2048 // a call of a function that is given, which may read the store
)

// step counts a step, and the bytes it works on. Whatever takes time counts before it is done: an expression
// is a step, and so is what is written. It is called with the size of what is about to be read, copied or
// allocated, never afterwards: a single step may not take longer than it was charged for.
func (r *run) step(at pos, size int) error {
	// goOn looks at the clock and at the context of the call, which costs more than a step, so it is asked
	// every 1,024 steps.
	before := r.steps >> 10
	r.steps += 1 + size>>6
	if r.steps > r.limits.Steps {
		return at.exceed("takes more than %d steps", r.limits.Steps)
	}
	if r.steps>>10 != before {
		return r.goOn(r.steps)
	}
	return nil
}

// made bounds a text that is made, and counts it.
func (r *run) made(at pos, size int) error { return r.grown(at, size, size) }

// grown bounds a text that is being made, and counts what was added to it. A text that grows in a loop passes
// only the addition as added: counting the whole each time would charge the square of its length.
func (r *run) grown(at pos, size, added int) error {
	if size > r.limits.Output {
		return at.exceed("produces more than %d bytes", r.limits.Output)
	}
	return r.step(at, added)
}

// It is how all output is produced, so Limits.Output holds for the rendering as a whole and for what is
// captured.
func (r *run) write(at pos, s string) error {
	if r.out.Len()+len(s) > r.limits.Output {
		return at.exceed("produces more than %d bytes", r.limits.Output)
	}
	if err := r.step(at, len(s)); err != nil {
		return err
	}
	r.out.WriteString(s)
	return nil
}

func (r *run) all(nodes []node) error {
	for _, n := range nodes {
		if err := n.exec(r); err != nil {
			return err
		}
	}
	return nil
}

// captured is what nodes write, apart from the rest.
func (r *run) captured(nodes []node) (string, error) {
	// The output is put aside, not copied: nodes write into whatever out is.
	whole := r.out
	r.out = strings.Builder{}
	err := r.all(nodes)
	text := r.out.String()
	r.out = whole
	return text, err
}

// enter begins a macro, a function or a deep place; leave ends it. The limit keeps the Go stack small: a
// macro that calls itself recurses in the evaluator, too.
func (r *run) enter(at pos) error {
	if r.depth++; r.depth > r.limits.Depth {
		return at.exceed("is nested more than %d deep", r.limits.Depth)
	}
	return nil
}

func (r *run) leave() { r.depth-- }

// lookup finds a variable: of loops and macros, then what was assigned, then what was given.
func (r *run) lookup(at pos, name string) (any, error) {
	if err := r.step(at, len(r.locals)*scopeSize); err != nil {
		return nil, err
	}
	// The innermost scope wins. The search is counted, as scopes can be nested as deep as the template wants.
	for _, scope := range slices.Backward(r.locals) {
		if v, ok := scope[name]; ok {
			return v, nil
		}
		if _, bottom := scope[bottomOfMacro]; bottom {
			break
		}
	}
	if v, ok := r.own[name]; ok {
		return v, nil
	}
	if m, ok := r.macros[name]; ok {
		return m, nil
	}
	return r.normal(at, r.data[name])
}

// bottomOfMacro marks the scope of a macro, which does not see those of its callers.
const bottomOfMacro = "\x00bottom"
