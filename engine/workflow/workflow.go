// Package workflow holds workflows: models declared in files, the execution of a model's graph, and the documents
// that record it, an instance and its tasks. What a node does besides, its chains and its conditions, is for the host
// of a run to carry out; see Host.
//
// An instance and its tasks are documents, so permissions, queries, versions and backups apply to them
// without further code. A run goes from node to node within one transaction as far as it can, and stops where
// a task waits for a person. What continues it is the completion of a task, again one transaction.
package workflow

import (
	"cmp"
	"maps"
	"slices"

	"catena/storage"
	"catena/storage/declare"
	"catena/storage/directory"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Models are the workflows that can be started, by name, and what is declared beside them.
type Models struct {
	byName   map[string]*Model
	mappings map[string]*declared[Mapping]
	texts    map[string]*declared[map[string]string] // what a label says, by language
	steps    map[string]*declared[declare.Name]      // what runs when a step of a route begins, by its type
}

// Mapping says which properties of a document a task gets: the xpath of a document's by that of the task's.
type Mapping map[string]string

// declared is a value and where it is declared.
type declared[V any] struct {
	value V
	at    declare.Position
}

// Text returns what a label says in a language, English if it says nothing there, or the label itself. The language
// may be as in Accept-Language.
func (ms *Models) Text(language, label string) string {
	d, ok := ms.texts[label]
	if !ok {
		return label
	}
	return cmp.Or(d.value[directory.Language(language)], d.value["en"], label)
}

// Texts are what all labels say in a language.
func (ms *Models) Texts(language string) map[string]any {
	out := map[string]any{}
	for label := range ms.texts {
		out[label] = ms.Text(language, label)
	}
	return out
}

// Mapping finds a mapping.
func (ms *Models) Mapping(name string) (Mapping, error) {
	d, ok := ms.mappings[name]
	if !ok {
		return nil, fault.Missing("mapping", name, maps.Keys(ms.mappings))
	}
	return d.value, nil
}

// Targets are the xpaths that a mapping sets, in order.
func (m Mapping) Targets() []string { return slices.Sorted(maps.Keys(m)) }

// Model is a workflow as it is declared: a graph of nodes.
type Model struct {
	Name, Title   string
	Variables     []*schema.Field // of the whole workflow
	Nodes         []*Node         // as declared
	Types, Facets []declare.Name  // of documents it may be started on; none: of any
	States        []declare.Name  // life cycle states they may be in; none: any
	Route         *storage.Doc    // the steps, if they are documents; there are no nodes then
	at            declare.Position
	byID          map[string]*Node
}

// Node is a step of a workflow.
type Node struct {
	ID, Title     string
	Start, End    bool
	Merge         Merge
	Variables     []*schema.Field // of the node alone
	Input, Output declare.Name    // operations that run when the node begins and when it has ended; "": none
	Task          *TaskDef        // what people are asked for
	Sub           *SubDef         // the workflow that is gone through; a node with neither has ended at once
	Transitions   []*Transition
	at            declare.Position
}

// Merge says when a node begins that several transitions lead to.
type Merge string

// The ways to merge.
const (
	NoMerge  Merge = ""    // each time one is taken
	MergeOne Merge = "one" // once the first is taken; what the others would have waited for is cancelled
	MergeAll Merge = "all" // once all are taken
)

// TaskDef says what people are asked for at a node.
type TaskDef struct {
	Assignees    []declare.Name // names, with "user:" or "group:" in front or not, and expressions that give such
	Due          declare.Name   // expression that gives a date; "": DueDays from now
	Directive    string
	Each         bool // a task for each assignee, not one for all
	Reassignable bool
	Grants       declare.Name   // permission on the documents that those have whom the task waits for; "": none
	Asks         []declare.Name // variables of the workflow that the user who ends the task may set
	Shows        []declare.Name // variables of the workflow that the task shows besides
	Buttons      []*Button
	Escalations  []*Escalation
	Variables    map[string]declare.Name // of the task itself: texts and expressions by name
	at           declare.Position
}

// SubDef says which workflow a node goes through, on the same documents and for the same initiator. The node has ended
// once that has ended; variables of the node that are called as those of the workflow get their values then.
type SubDef struct {
	Model     declare.Name
	Variables map[string]declare.Name // first values: texts and expressions by name
}

// Button is a way to end a task.
type Button struct {
	Name, Label string
	Validate    bool         // what was filled in is to be checked by the form
	When        declare.Name // expression; "": always offered
}

// Transition leads from a node to another.
type Transition struct {
	Name, Label string
	To          declare.Name
	When        declare.Name // expression; "": always taken
	Chain       declare.Name // operation that runs when it is taken
	at          declare.Position
}

// DueDays is how long a task has whose model says nothing else, in days.
const DueDays = 5

// Model finds a model.
func (ms *Models) Model(name string) (*Model, error) {
	m, ok := ms.byName[name]
	if !ok {
		return nil, fault.Missing("workflow", name, maps.Keys(ms.byName))
	}
	return m, nil
}

// All are the models in the order of their names.
func (ms *Models) All() []*Model {
	out := make([]*Model, 0, len(ms.byName))
	for _, name := range slices.Sorted(maps.Keys(ms.byName)) {
		out = append(out, ms.byName[name])
	}
	return out
}

// First are the variables of the workflow with the values they begin with.
func (m *Model) First() map[string]any {
	values := map[string]any{}
	fill(values, m.Variables)
	return values
}

// Node finds a node by its id.
func (m *Model) Node(id string) (*Node, error) {
	n, ok := m.byID[id]
	if !ok {
		return nil, fault.Missing("workflow "+m.Name+": node", id, maps.Keys(m.byID))
	}
	return n, nil
}

// Suits reports whether the workflow may be started on a document as far as its type, facets and life cycle
// state say.
func (m *Model) Suits(d *storage.Doc, types *schema.Registry) bool {
	among := func(names []declare.Name, has func(string) bool) bool {
		return len(names) == 0 || slices.ContainsFunc(names, func(n declare.Name) bool { return has(n.Text) })
	}
	return among(m.Types, func(t string) bool { return slices.Contains(types.Under(t), d.Type().Name) }) &&
		among(m.Facets, d.HasFacet) && among(m.States, func(s string) bool { return d.State() == s })
}

// Button finds a button of a task.
func (t *TaskDef) Button(name string) (*Button, error) {
	names := make([]string, len(t.Buttons))
	for i, b := range t.Buttons {
		if names[i] = b.Name; b.Name == name {
			return b, nil
		}
	}
	return nil, fault.Invalid.Errorf("action: unknown action %q%s", name, fault.Perhaps(name, slices.Values(names))).In("action")
}

// Variable finds the declaration of a variable, nil if there is none.
func (m *Model) Variable(name string) *schema.Field { return named(m.Variables, name) }

func named(fields []*schema.Field, name string) *schema.Field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}
