package workflow

import (
	"cmp"
	"embed"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/storage"
	"catena/storage/declare"
	"catena/storage/schema"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Parse compiles an expression, or tells what is wrong with it; a text that is not an expression has nothing to describe
// unless bare.
type Parse func(text string, bare bool) error

// Build returns the built-in models and those of texts. A model replaces the built-in one of the same name. It also tells everything
// that is wrong with the texts.
func Build(types *schema.Registry, parse Parse, sources []declare.Source) (*Models, []declare.Mistake, error) {
	r := &reader{models: &Models{
		byName: map[string]*Model{}, mappings: map[string]*declared[Mapping]{}, texts: map[string]*declared[map[string]string]{},
		steps: map[string]*declared[declare.Name]{},
	}, types: types, parse: parse}
	if err := r.Files(r.file, declare.Folder(defaults, "defaults")); err != nil {
		return nil, nil, err
	}
	for _, s := range sources {
		r.Source(1, s, r.file)
	}
	for _, m := range r.models.All() {
		r.nested(m, m, nil)
	}
	return r.models, r.Mistakes(), nil
}

func (r *reader) file(root *yaml.Node) {
	r.Each(root, declare.Keys{
		"workflows": func(n *yaml.Node) { r.Pairs(n, r.model) },
		"mappings":  func(n *yaml.Node) { r.Pairs(n, r.mapping) },
		"steps":     func(n *yaml.Node) { r.Pairs(n, r.step) },
		"texts": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				d := &declared[map[string]string]{at: r.At(key)}
				r.ByName(&d.value)(n)
				declare.Put(&r.Reader, r.models.texts, key, func(d *declared[map[string]string]) declare.Position { return d.at }, d)
			})
		},
	})
}

// Variables are those that chains and expressions of nodes read, besides what every context offers.
var Variables = []string{
	"WorkflowVariables", "NodeVariables", "workflowInstanceId", "workflowInitiator", "workflowStartTime", "workflowParent",
	"workflowParentNode", "workflowDocuments", "documents", "nodeId", "nodeState", "state", "nodeStartTime", "nodeEndTime",
	"nodeLastActor", "comment", "taskDocument",
}

// Checks are how Check finds out what the engine knows.
type Checks struct {
	Runs       func(name string) error // an operation that exists
	TakesDocs  func(name string) error // and that takes documents
	Expression Parse                   // an expression that reads Variables
}

// Check tells why workflows cannot run: of chains and operations that nodes and transitions name and
// that there are not, or that take no documents, and of expressions that read variables nobody sets.
func (ms *Models) Check(c Checks) []declare.Mistake {
	var r declare.Reader
	tell := func(subject string, n declare.Name, err error) {
		if err != nil {
			r.Fail(n.At, "%s: %v", subject, err)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(ms.steps)) {
		name := ms.steps[typ].value
		tell("steps: "+typ, name, c.Runs(name.Text))
	}
	for _, m := range ms.All() {
		for _, n := range m.Nodes {
			subject := "workflow " + m.Name + ": node " + n.ID
			for _, name := range n.chains() {
				tell(subject, name, c.TakesDocs(name.Text))
			}
			for _, text := range n.expressions() {
				tell(subject, text.Name, c.Expression(text.Text, text.bare))
			}
		}
	}
	return r.Mistakes()
}

// Lost tells which models, and nodes of models, next no longer has although instances run or tasks wait there.
func Lost(t *storage.Tx, ms, next *Models) (lost []string, err error) {
	in := func(what string, page *storage.Page, failed error) {
		if err = cmp.Or(err, failed); err == nil && len(page.Docs) > 0 {
			lost = append(lost, fmt.Sprintf("%s: %s", what, page.Docs[0].Path()))
		}
	}
	one := storage.PageOptions{Limit: 1, CountLimit: -1}
	for _, m := range ms.All() {
		after := next.byName[m.Name]
		if after == nil {
			page, failed := Instances(t, Filter{Model: m.Name}, one)
			in("workflow "+m.Name+" is removed, but runs", page, failed)
			continue
		}
		for _, n := range m.Nodes {
			if n.Task != nil && after.byID[n.ID] == nil {
				page, failed := Tasks(t, Filter{Model: m.Name, Node: n.ID}, one)
				in("node "+n.ID+" of workflow "+m.Name+" is removed, but a task waits there", page, failed)
			}
		}
	}
	return lost, err
}

// Uses calls f for every node that names an operation.
func (ms *Models) Uses(operation string, f func(model, node string)) {
	for _, m := range ms.All() {
		for _, n := range m.Nodes {
			if slices.ContainsFunc(n.chains(), func(name declare.Name) bool { return strings.TrimPrefix(name.Text, "Chain.") == operation }) {
				f(m.Name, n.ID)
			}
		}
	}
}

// chains are the operations that a node names.
func (n *Node) chains() []declare.Name {
	names := []declare.Name{n.Input, n.Output}
	for _, t := range n.Transitions {
		names = append(names, t.Chain)
	}
	if n.Task != nil {
		for _, e := range n.Task.Escalations {
			names = append(names, e.Chain)
		}
	}
	return slices.DeleteFunc(names, func(n declare.Name) bool { return n.Text == "" })
}

// expression is a text that may be one, or is one if bare.
type expression struct {
	declare.Name
	bare bool
}

// expressions are the texts of a node that are evaluated, as far as there are any.
func (n *Node) expressions() (all []expression) {
	add := func(bare bool, names ...declare.Name) {
		for _, name := range names {
			if name.Text != "" {
				all = append(all, expression{name, bare})
			}
		}
	}
	for _, t := range n.Transitions {
		add(true, t.When)
	}
	if t := n.Task; t != nil {
		add(true, t.Due)
		add(false, t.Assignees...)
		add(false, slices.Collect(maps.Values(t.Variables))...)
		for _, b := range t.Buttons {
			add(true, b.When)
		}
		for _, e := range t.Escalations {
			add(true, e.When)
		}
	}
	if n.Sub != nil {
		add(false, slices.Collect(maps.Values(n.Sub.Variables))...)
	}
	return all
}

// reader reads declarations of models.
type reader struct {
	declare.Reader
	models *Models
	types  *schema.Registry
	parse  Parse
}

func (r *reader) model(key, n *yaml.Node) {
	m := &Model{Name: key.Value, Title: key.Value, at: r.At(key), byID: map[string]*Node{}}
	r.Each(n, declare.Keys{
		"title": r.Text(&m.Title),
		"startOn": func(n *yaml.Node) {
			r.Each(n, declare.Keys{"types": r.Words(&m.Types), "facets": r.Words(&m.Facets), "states": r.Words(&m.States)})
		},
		"variables": func(n *yaml.Node) { m.Variables = schema.ReadFields(&r.Reader, n, "") },
		"nodes":     func(n *yaml.Node) { r.Pairs(n, func(key, n *yaml.Node) { r.node(m, key, n) }) },
	})
	r.check(m)
	declare.Put(&r.Reader, r.models.byName, key, func(m *Model) declare.Position { return m.at }, m)
}

func (r *reader) node(m *Model, key, n *yaml.Node) {
	node := &Node{ID: key.Value, Title: key.Value, at: r.At(key)}
	var merge string
	r.Each(n, declare.Keys{
		"title": r.Text(&node.Title), "start": r.Flag(&node.Start), "end": r.Flag(&node.End), "merge": r.Text(&merge),
		"input": r.Word(&node.Input), "output": r.Word(&node.Output),
		"variables": func(n *yaml.Node) { node.Variables = schema.ReadFields(&r.Reader, n, "") },
		"task":      func(n *yaml.Node) { node.Task = r.task(n) },
		"workflow": func(n *yaml.Node) {
			node.Sub = &SubDef{}
			r.Each(n, declare.Keys{"name": r.Word(&node.Sub.Model), "variables": r.values(&node.Sub.Variables)})
		},
		"transitions": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				t := &Transition{Name: key.Value, Label: key.Value, at: r.At(key)}
				r.Each(n, declare.Keys{"to": r.Word(&t.To), "when": r.expression(&t.When), "label": r.Text(&t.Label), "chain": r.Word(&t.Chain)})
				node.Transitions = append(node.Transitions, t)
			})
		},
	})
	if node.Merge = Merge(merge); !slices.Contains([]Merge{NoMerge, MergeOne, MergeAll}, node.Merge) {
		r.Fail(node.at, "node %s: merge: must be one or all", node.ID)
	}
	m.Nodes = append(m.Nodes, node)
	m.byID[node.ID] = node
}

func (r *reader) task(n *yaml.Node) *TaskDef {
	t := &TaskDef{at: r.At(n)}
	r.Each(n, declare.Keys{
		"assignees": func(n *yaml.Node) {
			r.Words(&t.Assignees)(n)
			for _, a := range t.Assignees {
				r.parses(a, false)
			}
		},
		"due": r.expression(&t.Due), "escalations": r.escalations(t), "directive": r.Text(&t.Directive), "each": r.Flag(&t.Each),
		"reassignable": r.Flag(&t.Reassignable), "grants": r.Word(&t.Grants), "asks": r.Words(&t.Asks), "shows": r.Words(&t.Shows),
		"variables": r.values(&t.Variables),
		"buttons": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				b := &Button{Name: key.Value, Label: key.Value, Validate: true}
				r.Each(n, declare.Keys{"label": r.Text(&b.Label), "validate": r.Flag(&b.Validate), "when": r.expression(&b.When)})
				t.Buttons = append(t.Buttons, b)
			})
		},
	})
	return t
}

// mapping reads xpaths of tasks with those of documents.
func (r *reader) mapping(key, n *yaml.Node) {
	d := &declared[Mapping]{at: r.At(key), value: Mapping{}}
	task, _ := r.types.Type(routingType)
	r.Pairs(n, func(to, n *yaml.Node) {
		var from declare.Name
		r.Word(&from)(n)
		for _, x := range []struct {
			xpath   declare.Name
			schemas []*schema.Schema
		}{{declare.Name{Text: to.Value, At: r.At(to)}, task.Schemas}, {from, r.types.Schemas()}} {
			if err := known(x.xpath.Text, x.schemas); err != nil {
				r.Fail(x.xpath.At, "mapping %s: %v", key.Value, err)
			}
		}
		d.value[to.Value] = from.Text
	})
	declare.Put(&r.Reader, r.models.mappings, key, func(d *declared[Mapping]) declare.Position { return d.at }, d)
}

func known(xpath string, schemas []*schema.Schema) error {
	p, err := schema.ParsePath(xpath)
	if err == nil {
		_, _, err = schema.Find(schemas, p)
	}
	return err
}

// step reads what runs when a step of a type begins.
func (r *reader) step(key, n *yaml.Node) {
	d := &declared[declare.Name]{at: r.At(key)}
	r.Word(&d.value)(n)
	r.among("steps", "type", []declare.Name{{Text: key.Value, At: d.at}}, slices.Collect(r.types.TypeNames()))
	declare.Put(&r.Reader, r.models.steps, key, func(d *declared[declare.Name]) declare.Position { return d.at }, d)
}

// values reads texts and expressions by name.
func (r *reader) values(into *map[string]declare.Name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*into = map[string]declare.Name{}
		r.Pairs(n, func(key, n *yaml.Node) {
			var v declare.Name
			r.Word(&v)(n)
			r.parses(v, false)
			(*into)[key.Value] = v
		})
	}
}

// expression reads an expression and its place.
func (r *reader) expression(into *declare.Name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.Word(into)(n)
		r.parses(*into, true)
	}
}

func (r *reader) parses(text declare.Name, bare bool) {
	if err := r.parse(text.Text, bare); err != nil {
		r.Fail(text.At, "%v", err)
	}
}

// check tells what is wrong with a model as a whole.
func (r *reader) check(m *Model) {
	starts, ends := 0, 0
	for _, n := range m.Nodes {
		if n.Start {
			starts++
		}
		if n.End {
			ends++
		}
		r.checkNode(m, n)
	}
	if starts != 1 {
		r.Fail(m.at, "workflow %s: must have exactly 1 start node, not %d", m.Name, starts)
	}
	if ends == 0 {
		r.Fail(m.at, "workflow %s: has no end node", m.Name)
	}
	for _, n := range m.Nodes {
		if starts == 1 && !m.reaches(n) {
			r.Fail(n.at, "workflow %s: no transition leads to node %s", m.Name, n.ID)
		}
	}
	for _, named := range []struct {
		kind  string
		names []declare.Name
		known iter.Seq[string]
	}{{"type", m.Types, r.types.TypeNames()}, {"facet", m.Facets, r.types.FacetNames()}, {"state", m.States, r.types.States()}} {
		r.among("workflow "+m.Name, named.kind, named.names, slices.Collect(named.known))
	}
}

func (r *reader) among(subject, kind string, names []declare.Name, known []string) {
	for _, n := range names {
		if !slices.Contains(known, n.Text) {
			r.Unknown(subject, kind, n, slices.Values(known))
		}
	}
}

func (r *reader) checkNode(m *Model, n *Node) {
	subject := "workflow " + m.Name + ": node " + n.ID
	switch {
	case n.End && (n.Task != nil || n.Sub != nil || len(n.Transitions) > 0):
		r.Fail(n.at, "%s: an end node must have neither a task nor transitions", subject)
	case n.Task != nil && n.Sub != nil:
		r.Fail(n.at, "%s: must not have both a task and a workflow", subject)
	case !n.End && len(n.Transitions) == 0:
		r.Fail(n.at, "%s: must have transitions or end", subject)
	}
	ids := slices.Collect(maps.Keys(m.byID))
	for _, t := range n.Transitions {
		if t.To.Text == "" {
			r.Fail(t.at, "%s: transition %s: to is missing", subject, t.Name)
			continue
		}
		r.among(subject, "node", []declare.Name{t.To}, ids)
	}
	for _, f := range n.Variables {
		if m.Variable(f.Name) != nil {
			r.Fail(n.at, "%s: variable %s is also declared for the workflow", subject, f.Name)
		}
	}
	if n.Task != nil {
		r.checkTask(m, n.Task, subject)
	}
}

func (r *reader) checkTask(m *Model, t *TaskDef, subject string) {
	if t.Grants.Text != "" {
		r.among(subject, "permission", []declare.Name{t.Grants}, storage.PermissionNames())
	}
	if len(t.Assignees) == 0 || len(t.Buttons) == 0 {
		r.Fail(t.at, "%s: a task must have assignees and buttons", subject)
	}
	r.checkEscalations(t, subject)
	variables := make([]string, len(m.Variables))
	for i, f := range m.Variables {
		variables[i] = f.Name
	}
	r.among(subject, "variable", append(slices.Clone(t.Asks), t.Shows...), variables)
}

// nested reports workflows that nodes of one go through: those there are not, and a circle back to the first.
func (r *reader) nested(first, m *Model, above []*Model) {
	for _, n := range m.Nodes {
		if n.Sub == nil {
			continue
		}
		name := n.Sub.Model
		inner := r.models.byName[name.Text]
		switch {
		case inner == nil && m == first:
			r.Unknown("workflow "+m.Name+": node "+n.ID, "workflow", name, maps.Keys(r.models.byName))
		case inner == first:
			r.Fail(first.at, "workflow %s: contains itself, through node %s of %s", first.Name, n.ID, m.Name)
		case inner != nil && !slices.Contains(above, inner):
			r.nested(first, inner, append(above, inner))
		}
	}
}

// reaches reports whether a walk from the start may come to a node.
func (m *Model) reaches(to *Node) bool {
	seen := map[string]bool{}
	next := []*Node{m.start()}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		if n == nil || seen[n.ID] {
			continue
		}
		seen[n.ID] = true
		for _, t := range n.Transitions {
			next = append(next, m.byID[t.To.Text])
		}
	}
	return seen[to.ID]
}

// start is the node a walk begins with.
func (m *Model) start() *Node {
	for _, n := range m.Nodes {
		if n.Start {
			return n
		}
	}
	return nil
}
