package engine

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/schema"
)

// offeredNames are what expressions read besides parameters and variables: see Ctx.offered, and what a handler of an
// error, the chain of a listener and that of a workflow find.
var offeredNames = []string{
	"This", "input", "Document", "currentDocument", "Documents", "Context", "ctx", "ChainParameters", "CurrentUser", "currentUser",
	"CurrentDate", "Fn", "Session", "Env", "Event", "Exception", "exceptionName", "exceptionOperation",
	"NodeVariables", "WorkflowVariables",
}

// Offered are what every expression may read, with the functions and properties of what is offered.
func Offered() []string {
	out := slices.Clone(offeredNames)
	for _, of := range []string{"CurrentDate", "Document"} {
		for _, name := range methodsOf(of) {
			out = append(out, of+"."+name)
		}
	}
	for _, name := range helpers() {
		out = append(out, "Fn."+name)
	}
	slices.Sort(out)
	return out
}

// scope is what the expressions of a step may read.
type scope struct {
	names map[string]bool
	open  bool           // something before the step may have set any variable
	kept  map[string]int // variables that the author named for a result or an item, with the number of the step
}

func newScope() scope { return scope{names: map[string]bool{}, kept: map[string]int{}} }

// branch is what a branch reads that sets variables of its own.
func (s *scope) branch() scope { return scope{maps.Clone(s.names), s.open, maps.Clone(s.kept)} }

// keep notes the variable that a step names for what it gives.
func (s *scope) keep(name string, step int) {
	if name != "" {
		s.names[name], s.kept[name] = true, step
	}
}

func (s *scope) add(names ...string) {
	for _, name := range names {
		s.names[name] = true
	}
}

// all are the names that an expression may have meant.
func (s *scope) all() []string { return append(slices.Sorted(maps.Keys(s.names)), offeredNames...) }

// readable reports what an expression reads that there is not: a variable, a method of what the context offers, a
// property. Where texts are only compiled again, nothing of that counts: they were accepted under rules of before.
func (b *planner) readable(st *Step, n int, path string, p *expr.Program) {
	if b.o.Types == nil || p == nil {
		return
	}
	fail := func(name string, format string, args ...any) {
		err := fault.Invalid.Errorf("expression: "+format, args...).WithCode(fault.CodeExpression)
		b.failAt(st, n, path, p.At(name)+prefix(st, path), err)
	}
	for _, name := range p.Names {
		if b.scope.names[name] || slices.Contains(offeredNames, name) {
			continue
		}
		switch {
		case name == "now":
			fail(name, "now: use CurrentDate")
		case slices.Contains(p.Functions, name):
			fail(name, "unknown function %s%s", name, fault.Perhaps(name, slices.Values(expr.Builtins())))
		case !b.scope.open:
			fail(name, "unknown variable %q%s", name, fault.Perhaps(name, slices.Values(b.scope.all())))
		}
	}
	for _, method := range p.Methods {
		of, name, _ := strings.Cut(method, ".")
		if known := methodsOf(of); known != nil && !slices.Contains(known, name) {
			fail(of, "unknown function %s%s", method, fault.PerhapsIn(of+".", name, slices.Values(known)))
		}
	}
	for _, xpath := range p.Xpaths {
		if err := b.xpath(xpath); err != nil {
			fail("Document", "%w", err)
		}
	}
}

// prefix is how many characters stand before the source of an expression.
func prefix(st *Step, path string) int {
	if text, ok := st.text(path); ok && strings.HasPrefix(text, "expr:") {
		return len("expr:")
	}
	return 0
}

// methodsOf are the functions of what the context offers under a name; nil for values whose functions are not known.
func methodsOf(name string) []string {
	switch name {
	case "CurrentDate":
		return functionsIn(expr.Date(time.Time{}))
	case "CurrentUser", "currentUser":
		return []string{"toString"}
	case "Document", "currentDocument":
		return []string{"getProperty", "hasFacet", "hasSchema"}
	}
	return nil
}

func functionsIn(m map[string]any) (names []string) {
	for name, v := range m {
		if _, ok := v.(expr.Func); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// constant tells what is wrong with a fixed value of a parameter: a name that nothing of its kind has, a query that
// does not parse, a number out of bounds.
func (b *planner) constant(st *step, f *field, given string, v any) {
	if b.o.Types == nil {
		return
	}
	tell := func(path string, err error) {
		if err == nil {
			return
		}
		offset := 0
		var at *fault.Error
		if errors.As(err, &at) && at.Line == 1 && at.Column > 0 {
			offset = at.Column - 1
		}
		b.failAt(&st.Step, st.n, path, offset, paramError(f.Name, err))
	}
	check := st.d.Constants[f.Name]
	if check == nil {
		check = func(text string) error { return b.named(f.Names, text) }
	}
	tell(given, b.bounds(f, v))
	switch v := v.(type) {
	case string:
		names := []string{v}
		if f.kind == kStrings { // a list in one text
			names = strings.Split(v, ",")
		}
		for _, name := range names {
			tell(given, check(strings.TrimSpace(name)))
		}
	case []any:
		for i, item := range v {
			if text, ok := item.(string); ok && !expr.Is(text) {
				tell(given+"/"+strconv.Itoa(i), check(text))
			}
		}
	}
}

// asNumber returns a value as a number, if it is one or is written like one.
func asNumber(v any) (float64, bool) {
	text, _ := asText(v)
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// bounds compares a number with those of its parameter.
func (b *planner) bounds(f *field, v any) error {
	n, ok := asNumber(v)
	switch {
	case f.Min == nil && f.Max == nil || !ok:
		return nil
	case f.Min != nil && n < *f.Min:
		return fault.Invalid.Errorf("must be at least %v, not %v", *f.Min, n)
	case f.Max != nil && n > *f.Max:
		return fault.Invalid.Errorf("must be at most %v, not %v", *f.Max, n)
	}
	return nil
}

// The kinds of names that a parameter may hold, for the tag names.
const (
	NamesFacet      = "facet"
	NamesOperation  = "operation"
	NamesPermission = "permission"
	NamesQuery      = "query"
	NamesSchema     = "schema"
	NamesState      = "state"
	NamesTransition = "transition"
	NamesType       = "type"
	NamesVariable   = "variable" // which the operation sets
	NamesXpath      = "xpath"
)

// CheckName is nil for a name that something of a kind has.
func CheckName(set *Set, types *schema.Registry, kind, name string) error {
	b := planner{set: set, o: PlanOptions{Types: types}}
	return b.named(kind, name)
}

// named is nil for a name that something of a kind has.
func (b *planner) named(kind, name string) error {
	types := b.o.Types
	switch kind {
	case NamesFacet:
		return among("facet", name, slices.Collect(types.FacetNames()))
	case NamesOperation:
		if _, ok := b.set.Op(name); !ok && name != b.o.Name { // whether texts call themselves is for their kind
			return fault.Wrap(b.unknown(name), "%s", name)
		}
	case NamesPermission:
		return among("permission", name, storage.PermissionNames())
	case NamesQuery:
		q, err := query.Parse(name)
		if err == nil {
			err = q.Check(types)
		}
		return err
	case NamesSchema:
		return among("schema", name, append(slices.Collect(types.SchemaNames()), spaces(types)...))
	case NamesState:
		return among("life-cycle state", name, slices.Collect(types.States()))
	case NamesTransition:
		return among("transition", name, append(transitions(types), "delete", "undelete"))
	case NamesType:
		return among("document type", name, slices.Collect(types.TypeNames()))
	case NamesXpath:
		return b.xpath(name)
	}
	return nil
}

func among(kind, name string, known []string) error {
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	return fault.Invalid.Errorf("unknown %s %q%s", kind, name, fault.Perhaps(name, slices.Values(known)))
}

func spaces(types *schema.Registry) (out []string) {
	for _, s := range types.Schemas() {
		out = append(out, s.Space())
	}
	return out
}

// transitions are those of all life cycles.
func transitions(types *schema.Registry) (out []string) {
	for _, t := range types.Types() {
		if t.LifeCycle == nil {
			continue
		}
		for _, tr := range t.LifeCycle.Transitions {
			out = append(out, tr.Name)
		}
	}
	return out
}

// xpath is nil for a property of some schema.
func (b *planner) xpath(xpath string) error {
	_, err := b.field(xpath, b.o.Types.Schemas())
	return err
}

// field finds a property in schemas; nil for one that holds no field, such as those of the document itself.
func (b *planner) field(xpath string, schemas []*schema.Schema) (*schema.Field, error) {
	if xpath == "" || strings.HasPrefix(xpath, "ecm:") || strings.HasPrefix(xpath, "blobholder:") {
		return nil, nil
	}
	p, err := schema.ParsePath(xpath)
	if err != nil {
		return nil, err
	}
	if p.Prefix() == "" { // which of several it is depends on the document
		for _, s := range schemas {
			if f := s.Field(p.Steps()[0].Name); f != nil {
				return nil, nil
			}
		}
	}
	f, rest, err := schema.Find(schemas, p)
	if err != nil || rest.Empty() {
		return f, err
	}
	return f.Leaf(rest)
}

// properties tells what is wrong with the fixed xpaths of properties, and with their fixed values.
func (b *planner) properties(st *step, f *field, given any) {
	if b.o.Types == nil || f.Names != NamesXpath {
		return
	}
	props, ok := given.(map[string]any)
	if !ok {
		return
	}
	schemas := b.o.Types.Schemas()
	if name, ok := st.Params["type"].(string); ok && !expr.Is(name) {
		if t, ok := b.o.Types.Type(name); ok {
			schemas = t.Schemas
		}
	}
	for _, xpath := range slices.Sorted(maps.Keys(props)) {
		path := f.Name + "/" + xpath
		field, err := b.field(xpath, schemas)
		if v := props[xpath]; err == nil && field != nil && fixed(v) && v != "" && field.Kind.Scalar() {
			_, err = field.Coerce(v)
		}
		if err != nil {
			b.failAt(&st.Step, st.n, path, 0, paramError(f.Name, err))
		}
	}
}

// value reports a fixed value that the property of a fixed xpath beside it cannot have.
func (b *planner) value(st *step) {
	xpath, ok := st.Params["xpath"].(string)
	i, _ := st.d.table.find([]byte("xpath"))
	v := st.Params["value"]
	if b.o.Types == nil || !ok || i < 0 || st.d.table.fields[i].Names != NamesXpath || expr.Is(xpath) || v == nil || v == "" || !fixed(v) {
		return
	}
	f, err := b.field(xpath, b.o.Types.Schemas())
	if err != nil || f == nil || f.List || !f.Kind.Scalar() {
		return
	}
	if _, err := f.Coerce(v); err != nil {
		b.failAt(&st.Step, st.n, "value", 0, paramError("value", err))
	}
}

// innerInput reports an operation that a parameter names and that does not take the input of the step, which it runs on.
func (b *planner) innerInput(st *step, given kindSet) error {
	if b.o.Types == nil {
		return nil
	}
	for i := range st.d.table.fields {
		f := &st.d.table.fields[i]
		name, ok := st.Params[f.Name].(string)
		if f.Names != NamesOperation || !ok || expr.Is(name) {
			continue
		}
		d, ok := b.set.Op(name)
		for k := range given.each() {
			if ok && k != kAny && d.by[k] == nil {
				return fault.Invalid.Errorf("parameter %q: operation %s takes %s, not %s", f.Name, name, d.inputs(), words[k]).In(f.Name)
			}
		}
	}
	return nil
}

// fixed reports whether nothing in a value is evaluated.
func fixed(v any) bool {
	switch v := v.(type) {
	case Unknown:
		return false
	case string:
		return !expr.Is(v)
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !fixed(item) })
	case map[string]any:
		for _, item := range v {
			if !fixed(item) {
				return false
			}
		}
	}
	return true
}

// value is the value that a step gives a parameter, or its default.
func (st *step) value(f *field) (v any, given bool) {
	if v, given = st.Params[f.Name]; given {
		return v, true
	}
	for _, alias := range f.Aliases {
		if v, given = st.Params[alias]; given {
			return v, true
		}
	}
	return f.Default, false
}

// sets notes the variables that a step sets for those behind it.
func (b *planner) sets(st *step) {
	b.scope.keep(st.As, st.n)
	d := st.d
	if d == nil {
		return
	}
	b.scope.add(d.Sets...)
	b.scope.open = b.scope.open || d.SetsAny
	for i := range d.table.fields {
		f := &d.table.fields[i]
		if f.Names != NamesVariable && f.Names != NamesOperation {
			continue
		}
		v, given := st.value(f)
		name, text := v.(string)
		switch {
		case !given && v == nil:
		case !text || expr.Is(name):
			b.scope.open = true
		case f.Names == NamesVariable:
			b.scope.add(name)
		default:
			if inner, ok := b.set.Op(name); ok {
				b.scope.add(inner.Sets...)
				b.scope.open = b.scope.open || inner.SetsAny
			}
		}
	}
}

// Unknown stands for a value, or a part of one, that is known only when a script runs.
type Unknown struct{}

// CallStep is a call of an operation as the text of a script writes it.
type CallStep struct {
	Step       // the operation, its parameters, and where they stand
	Input any  // Unknown unless it is written in the text
	More  bool // it may give parameters that are not among those of the step
}

// CheckCall reports, joined, what is wrong with a call that a script makes: parameters that the operation does not have or
// that are missing, an input that it does not take, and values written in the text that cannot be right.
func (s *Set) CheckCall(call *CallStep, o PlanOptions) error {
	d, ok := s.Op(call.Op)
	if !ok {
		return nil
	}
	b := planner{set: s, o: o, scope: newScope(), call: call}
	for _, p := range o.Params {
		b.scope.add(p.Name)
	}
	switch call.Input.(type) {
	case nil, string, bool, int64, float64:
		if _, err := d.choose(call.Input); err != nil {
			b.fail(&call.Step, 0, "", err)
		}
	}
	b.params(&step{Step: call.Step, d: d})
	return errors.Join(b.errs...)
}
