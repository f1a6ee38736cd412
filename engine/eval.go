package engine

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/search"
)

// parseExpr compiles an expression of a chain, whose functions there have to be.
func parseExpr(text string, bare bool) (*expr.Program, error) {
	p, err := expr.Parse(text, bare)
	if err != nil {
		return nil, err
	}
	for _, name := range p.Helpers {
		if slices.Contains(helpers(), name) {
			continue
		}
		return nil, fault.Invalid.Errorf("expression: unknown function %s", noHelper(name)).WithCode(fault.CodeExpression)
	}
	return p, nil
}

// CheckExpression tells what is wrong with an expression that stands in a file: with the text itself if bare, else
// with one that is marked as an expression or a template.
func CheckExpression(text string, bare bool) error {
	if !bare && !expr.Is(text) {
		return nil
	}
	_, err := parseExpr(text, bare)
	return err
}

// ExpressionCheck returns CheckExpression that also reports variables that an expression reads and nobody sets: those
// of vars, and what every context offers.
func ExpressionCheck(types *schema.Registry, vars ...string) func(text string, bare bool) error {
	return func(text string, bare bool) error {
		if !bare && !expr.Is(text) || text == "" {
			return nil
		}
		p, err := parseExpr(text, bare)
		if err != nil {
			return err
		}
		b := planner{o: PlanOptions{Types: types}, scope: newScope()}
		b.scope.add(vars...)
		b.readable(&Step{}, 0, "", p)
		if len(b.errs) == 0 {
			return nil
		}
		var first *fault.Error
		if errors.As(b.errs[0], &first) && first.Err != nil {
			return first.Err
		}
		return b.errs[0]
	}
}

// helpers are the names of the functions of Fn.
var helpers = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(new(Ctx).functions())) })

// noHelper names a function of Fn that there is not, and the one that was probably meant.
func noHelper(name string) string {
	if near := fault.PerhapsIn("Fn.", name, slices.Values(helpers())); near != "" {
		return "Fn." + name + near
	}
	return "Fn." + name + "; those of Fn are " + strings.Join(helpers(), ", ")
}

// Eval evaluates an expression of a stored chain, with or without "expr:" in front. It is
// never to be given text that a client has sent.
func (c *Ctx) Eval(expression string) (any, error) {
	p, err := expr.Parse(expression, true)
	if err != nil {
		return nil, err
	}
	return c.eval(p)
}

// eval evaluates a program once; what it returns is a value like any other.
func (c *Ctx) eval(p *expr.Program) (any, error) {
	env, err := c.env(p)
	if err != nil {
		return nil, err
	}
	t := computation{c: c}
	defer t.end()
	most, steps := c.templateLimits().Steps, 0
	return p.Eval(env, expr.NewMeter(func(size int) error {
		before := steps >> 10
		if steps += 1 + size>>6; steps > most {
			return fault.Limit.Errorf("expression: takes more than %d steps", most).WithCode(fault.CodeExpression)
		}
		if steps>>10 == before {
			return nil
		}
		return t.goOn(steps)
	}))
}

// env is what a program reads: the variables by name, and what the context offers.
func (c *Ctx) env(p *expr.Program) (map[string]any, error) {
	env := make(map[string]any, len(p.Names))
	for _, name := range p.Names {
		v, offered, err := c.offered(p, name)
		if err == nil && !offered {
			v = c.Vars[name]
			if v == nil {
				v = c.params[name]
			}
			v, err = c.viewAs(p, name, v)
		}
		if err != nil {
			return nil, err
		}
		env[name] = v
	}
	return env, nil
}

// offered returns what a reserved name stands for.
func (c *Ctx) offered(p *expr.Program, name string) (v any, ok bool, err error) {
	switch name {
	case "This", "input":
		v, err = c.viewAs(p, name, c.Input)
	case "Document", "currentDocument":
		switch in := c.Input.(type) {
		case *storage.Doc:
			v, err = c.viewAs(p, name, in)
		case storage.Docs:
			if len(in) > 0 {
				v, err = c.viewAs(p, name, in[0])
			}
		default:
			return nil, false, nil
		}
	case "Documents":
		v, err = c.view(p, c.Input, 0)
	case "Context", "ctx":
		all := make(map[string]any, len(c.Vars))
		for name, item := range c.Vars {
			if all[name], err = c.view(p, item, 0); err != nil {
				return nil, true, err
			}
		}
		v = all
	case "ChainParameters":
		v, err = c.view(p, c.params, 0)
	case "CurrentUser", "currentUser":
		v, err = c.userView()
	case "CurrentDate":
		v = expr.Date(c.Now)
	case "Fn":
		v = c.functions()
	case "Session", "Env":
		v = map[string]any{}
	default:
		return nil, false, nil
	}
	return v, true, err
}

// maxFileText is how many bytes a file may have whose text an expression reads.
const maxFileText = 1 << 20

// viewAs is the view of a value that is the variable of a name: a document of which members are read by their names alone has no
// others.
func (c *Ctx) viewAs(p *expr.Program, name string, v any) (any, error) {
	if d, ok := v.(*storage.Doc); ok && !p.Whole(name) {
		return docView(p, d, false), c.Check()
	}
	return c.view(p, v, 0)
}

// view is the plain form of a value: documents become maps that only hold what the program
// looks at.
func (c *Ctx) view(p *expr.Program, v any, depth int) (any, error) {
	if depth > 8 {
		return nil, nil
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *storage.Doc:
		return docView(p, v, true), nil
	case storage.Docs:
		return c.viewList(p, List(v), depth-1)
	case *storage.Page:
		return c.view(p, v.Docs, depth)
	case *storage.Blob:
		return blobView(v), nil
	case storage.Blobs:
		return c.viewList(p, List(v), depth)
	case []any:
		return c.viewList(p, v, depth)
	case []string:
		return List(v), nil
	case map[string]any:
		return c.viewMap(p, v, depth)
	case storage.Props:
		return c.viewMap(p, v, depth)
	case Value:
		return c.view(p, v.V, depth)
	case storage.Ref:
		return string(v), nil
	case *search.Rows:
		return v.Entries, nil
	}
	return handled(v), nil
}

// handled is the view of a value that expressions cannot look into, unless it is a plain one.
func handled(v any) any {
	if _, ok := asText(v); ok || v == nil {
		return v
	}
	return map[string]any{expr.Handle: v}
}

func blobView(b *storage.Blob) map[string]any {
	return map[string]any{
		expr.Handle: b, "name": b.Name, "filename": b.Name, "type": b.Type, "mimeType": b.Type,
		"length": b.Size, "digest": b.Digest, "encoding": b.Encoding,
		"getString": func(...any) (any, error) {
			text, err := b.Bytes(maxFileText)
			return string(text), err
		},
	}
}

func (c *Ctx) viewMap(p *expr.Program, m map[string]any, depth int) (any, error) {
	out := make(map[string]any, len(m))
	for name, item := range m {
		var err error
		if out[name], err = c.view(p, item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Ctx) viewList(p *expr.Program, list []any, depth int) (any, error) {
	out := make([]any, len(list))
	for i, item := range list {
		var err error
		if out[i], err = c.view(p, item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// docMembers are the members of a document as expressions see it, its properties excepted.
var docMembers = map[string]func(d *storage.Doc) any{
	"id": docID, "uid": docID, "ref": docID,
	"path":                  func(d *storage.Doc) any { return d.Path() },
	"name":                  func(d *storage.Doc) any { return d.Name() },
	"title":                 func(d *storage.Doc) any { return d.Title() },
	"type":                  func(d *storage.Doc) any { return d.Type().Name },
	"state":                 docState,
	"lifeCycle":             docState,
	"currentLifeCycleState": docState,
	"description":           func(d *storage.Doc) any { return property(d, "dc:description") },
	"facets":                func(d *storage.Doc) any { return List(d.Facets()) },
	"schemas":               func(d *storage.Doc) any { return schemaNames(d) },
	"parentRef":             func(d *storage.Doc) any { return d.ParentID() },
	"versionLabel":          func(d *storage.Doc) any { return d.VersionLabel() },
	"repository":            func(d *storage.Doc) any { return d.Repository() },
	"changeToken":           func(d *storage.Doc) any { return d.ChangeToken() },
	"isLocked":              func(d *storage.Doc) any { _, _, locked := d.Locked(); return locked },
	"lockOwner":             func(d *storage.Doc) any { owner, _, _ := d.Locked(); return owner },
	"lockCreated":           lockCreated,
	"isFolder":              func(d *storage.Doc) any { return d.IsFolder() },
	"isProxy":               func(d *storage.Doc) any { return d.IsProxy() },
	"isVersion":             func(d *storage.Doc) any { return d.IsVersion() },
	"isTrashed":             func(d *storage.Doc) any { return d.IsTrashed() },
	"hasFacet":              func(d *storage.Doc) any { return has(func() []any { return List(d.Facets()) }) },
	"hasSchema":             func(d *storage.Doc) any { return has(func() []any { return schemaNames(d) }) },
	"getProperty":           getProperty,
}

func docID(d *storage.Doc) any    { return d.ID() }
func docState(d *storage.Doc) any { return d.State() }

func lockCreated(d *storage.Doc) any {
	if _, since, locked := d.Locked(); locked {
		return since
	}
	return nil
}

func schemaNames(d *storage.Doc) []any {
	schemas := d.Schemas()
	names := make([]any, len(schemas))
	for i, s := range schemas {
		names[i] = s.Name
	}
	return names
}

// has is a function that tells whether a list has a value.
func has(list func() []any) expr.Func {
	return func(args ...any) (any, error) { return len(args) == 1 && slices.Contains(list(), args[0]), nil }
}

// property returns a property; an xpath that is not there reads as nil.
func property(d *storage.Doc, xpath string) any {
	v, err := d.Get(xpath)
	if err != nil {
		return nil
	}
	return v
}

func getProperty(d *storage.Doc) any {
	return func(args ...any) (any, error) {
		if len(args) != 1 {
			return nil, fault.Invalid.Errorf("getProperty: requires one argument")
		}
		return property(d, expr.Text(args[0])), nil
	}
}

// docMemberNames are the names of docMembers.
var docMemberNames = slices.Sorted(maps.Keys(docMembers))

// docView is a document as expressions see it: with all members, or, if a program looks at nothing else, with those that it names.
func docView(p *expr.Program, d *storage.Doc, all bool) map[string]any {
	size := 4 + 2*len(p.Keys)
	if all {
		size += len(docMembers)
	}
	m := make(map[string]any, size)
	m[expr.Handle], m[expr.Lookup] = d, func(name string) any { return known(d, name) }
	if all {
		for name, member := range docMembers {
			m[name] = member(d)
		}
	} else {
		m[expr.Members] = docMemberNames
	}
	get := func(xpath string) any { return property(d, xpath) }
	for _, key := range p.Keys {
		if member := docMembers[key]; member != nil && !all {
			m[key] = member(d)
		}
		addKey(m, key, get)
	}
	if p.Open {
		for _, s := range d.Schemas() {
			for _, f := range s.Fields {
				addKey(m, f.Key, get)
			}
		}
	}
	return m
}

// known is what else a name stands for: an xpath, or a schema or its prefix, whose fields it gives.
func known(d *storage.Doc, name string) any {
	view := func(xpath string) any {
		v, err := d.Get(xpath)
		if err != nil {
			return nil
		}
		v, _ = (&Ctx{}).view(&expr.Program{}, v, 0) // a property is no document, of which alone more is asked
		return v
	}
	if strings.ContainsAny(name, ":/") {
		return view(name)
	}
	for _, s := range d.Schemas() {
		if name != s.Name && name != s.Space() {
			continue
		}
		fields := map[string]any{}
		for _, f := range s.Fields {
			fields[f.Name] = view(f.Key)
		}
		return fields
	}
	return nil
}

// addKey puts a property into the view of a document, as ["dc:title"] and as .dc.title.
func addKey(m map[string]any, key string, get func(string) any) {
	prefix, name, ok := strings.Cut(key, ":")
	if !ok {
		return
	}
	v := get(key)
	m[key] = v
	switch within := m[prefix].(type) {
	case nil:
		m[prefix] = map[string]any{name: v}
	case map[string]any:
		within[name] = v
	}
}

// functions are the helpers of expressions: all that they can call.
func (c *Ctx) functions() map[string]any {
	fn := expr.Fn()
	fn["documentExists"] = func(args ...any) (any, error) {
		if len(args) == 0 || c.Tx == nil {
			return nil, fault.Invalid.Errorf("Fn.documentExists: requires a reference")
		}
		_, err := c.doc(ref(expr.Text(args[len(args)-1])))
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
			return false, nil
		}
		return err == nil, err
	}
	fn["getNextId"] = func(args ...any) (any, error) {
		if len(args) == 0 || c.Tx == nil || !c.Tx.Writable() {
			return nil, fault.Invalid.Errorf("Fn.getNextId: requires a key and a chain that writes")
		}
		n, err := c.Tx.Next("fn/" + cut(expr.Text(args[0]), 200))
		return n, err
	}
	c.people(fn)
	return fn
}

// Helper calls a function of the helpers by name: Fn.name(args).
func (c *Ctx) Helper(name string, args []any) (any, error) {
	f, ok := c.functions()[name].(expr.Func)
	if !ok {
		return nil, fault.NotFound.Errorf("unknown function %s", noHelper(name))
	}
	v, err := f(args...)
	if m, ok := v.(map[string]any); ok && err == nil {
		if of, ok := m[expr.Handle]; ok {
			return of, nil
		}
	}
	return v, err
}

// longSteps is how many steps an evaluation has before it counts as long: some milliseconds.
const longSteps = 100_000

// computation is the evaluation of an expression or a template. A long one takes one of the slots of the user on whose
// behalf the call runs.
type computation struct {
	c    *Ctx
	user string
	slot bool // taken
}

// goOn returns why a computation that has taken some steps must end: the call has ended, or no slot is free for it.
func (p *computation) goOn(steps int) error {
	c := p.c
	if c.Context == nil {
		return nil
	}
	if steps < longSteps || p.slot || c.Engine() == nil {
		return c.Err()
	}
	p.user = storage.OwnedBy(c.As).Owner
	if err := c.Engine().computing.Acquire(c, p.user); err != nil {
		if c.Err() != nil {
			return err
		}
		return fault.Unavailable.Errorf("computation: %w", err).WithCode(fault.CodeComputationBusy)
	}
	p.slot = true
	return c.Err()
}

// end gives the slot back.
func (p *computation) end() {
	if p.slot {
		p.c.Engine().computing.Release(p.user)
	}
}
