package workflow

import (
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// The life cycle states of a task.
const (
	Opened    = "opened"
	Ended     = "ended"
	Cancelled = "cancelled"
)

// Task is something people are asked to do: a node of an instance waits for it, or it stands alone.
type Task struct {
	Doc      *storage.Doc
	Instance *Instance // nil: it stands alone, or its instance is gone
	Node     *Node     // nil without an instance, or if its model has no such node any longer
	Buttons  []*Button // those that are offered to the caller
}

// NewTask says what a task is to be.
type NewTask struct {
	Name, Directive, Comment string
	Actors                   []string // with "user:" or "group:" in front
	Due                      time.Time
	Documents                []string          // ids
	Variables                map[string]string // of the task itself
	Step                     string            // of a route: id of the step
}

// ID identifies the task.
func (t *Task) ID() string { return t.Doc.ID() }

// Name is the task's name.
func (t *Task) Name() string { return storage.Prop[string](t.Doc, "nt:name") }

// Actors are those who may end the task, with "user:" or "group:" in front.
func (t *Task) Actors() []string { return texts(t.Doc, "nt:actors") }

// Delegated are those whom actors have handed it on to.
func (t *Task) Delegated() []string { return texts(t.Doc, "nt:delegatedActors") }

// Documents are the ids of the documents the task is about.
func (t *Task) Documents() []string { return texts(t.Doc, "nt:targetDocumentsIds") }

// Variable is a variable of the task itself, "" if it has none of the name.
func (t *Task) Variable(name string) string {
	for _, item := range storage.Prop[[]any](t.Doc, "nt:task_variables") {
		if m, ok := item.(map[string]any); ok && m["key"] == name {
			s, _ := m["value"].(string)
			return s
		}
	}
	return ""
}

// Alone reports whether the task belongs to no workflow.
func (t *Task) Alone() bool { return storage.Prop[string](t.Doc, "nt:processId") == "" }

// Step is the id of the step of a route whose task this is, "" if it is none's.
func (t *Task) Step() string { return t.Variable(StepVariable) }

// IsAnswered reports whether the task is one that is ended by accept or reject, as those of no node are.
func (t *Task) IsAnswered() bool { return t.Alone() || t.Step() != "" }

// Comment is what somebody said about a task.
type Comment struct {
	Author, Text string
	Date         time.Time
}

// Comments are what was said about the task, the first first.
func (t *Task) Comments() []Comment {
	list := storage.Prop[[]any](t.Doc, "nt:taskComments")
	out := make([]Comment, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			c := Comment{}
			c.Author, _ = m["author"].(string)
			c.Text, _ = m["text"].(string)
			c.Date, _ = m["creationDate"].(time.Time)
			out = append(out, c)
		}
	}
	return out
}

// Variables are those of the task's node together with those of the workflow that the task asks for or shows.
func (t *Task) Variables() map[string]any {
	out := map[string]any{}
	if t.Instance == nil || t.Node == nil {
		return out
	}
	st := t.Instance.Node(t.Node.ID)
	values := st.Variables
	if t.Node.Task != nil && t.Node.Task.Each { // what the others said is not for this one
		values = map[string]any{}
		fill(values, t.Node.Variables)
		for _, info := range st.Tasks {
			if info.ID == t.ID() && info.Ended && info.Comment != "" && named(t.Node.Variables, "comment") != nil {
				values["comment"] = info.Comment
			}
		}
	}
	for _, f := range t.Node.Variables {
		out[f.Name] = values[f.Name]
	}
	if def := t.Node.Task; def != nil {
		for _, n := range slices.Concat(def.Asks, def.Shows) {
			out[n.Text] = t.Instance.Variables[n.Text]
		}
	}
	return out
}

// IsTask reports whether a document is a task.
func IsTask(d *storage.Doc) bool {
	return (d.Type().Name == taskType || d.Type().Name == routingType) && kept(d, taskRoot)
}

// Ahead tells that the tasks of a list are about to be read by OpenTask, and other documents then.
func Ahead(tx *storage.Tx, tasks storage.Docs, others ...storage.Ref) error {
	refs := slices.Clone(storage.Refs(others))
	for _, d := range tasks {
		if id := storage.Prop[string](d, "nt:processId"); id != "" {
			refs = append(refs, storage.Ref(id))
		}
	}
	return storage.Ahead(tx, refs)
}

// OpenTask reads a task and its instance. A document of another type is NotFound. The transaction is the server's:
// who may read a task may know its workflow.
func OpenTask(tx *storage.Tx, ms *Models, d *storage.Doc) (*Task, error) {
	if !IsTask(d) {
		return nil, fault.NotFound.Errorf("task %s", d.ID())
	}
	t := &Task{Doc: d}
	id := storage.Prop[string](d, "nt:processId")
	if id == "" {
		return t, nil
	}
	doc, err := tx.Doc(storage.Ref(id))
	if fault.Is(err, fault.NotFound) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if t.Instance, err = OpenInstance(ms, doc); err != nil {
		return nil, err
	}
	if m := t.Instance.Model; m != nil {
		t.Node = m.byID[t.Variable("nodeId")]
	}
	return t, nil
}

// AddTask makes a task of a node, one of a step of a route, which is no node's, or one that stands alone if there is no
// instance. That its actors may read the instance is for Show. The transaction is the server's.
func AddTask(tx *storage.Tx, i *Instance, n *Node, def NewTask) (*Task, error) {
	root, err := hiddenRoot(tx, taskRoot, "TaskRoot", "Tasks")
	if err != nil {
		return nil, err
	}
	typ, initiator := taskType, tx.Actor()
	props := storage.Props{
		"dc:title": def.Name, "nt:name": def.Name, "nt:directive": def.Directive, "nt:actors": def.Actors, "nt:openFor": def.Actors,
		"nt:targetDocumentsIds": def.Documents, "nt:dueDate": def.Due,
	}
	if len(def.Documents) > 0 {
		props["nt:targetDocumentId"] = def.Documents[0]
	}
	variables := []any{}
	add := func(key, value string) { variables = append(variables, map[string]any{"key": key, "value": value}) }
	if i != nil {
		typ, props["nt:processId"], props["nt:processName"] = routingType, i.ID(), i.ModelName
	}
	switch {
	case def.Step != "":
		props["nt:type"] = def.Step
		add(StepVariable, def.Step)
	case i != nil:
		initiator, props["nt:type"] = i.Initiator, n.ID
		add("nodeId", n.ID)
	}
	for _, key := range sorted(def.Variables) {
		add(key, def.Variables[key])
	}
	props["nt:initiator"], props["nt:task_variables"] = initiator, variables
	if def.Comment != "" {
		props["nt:taskComments"] = []any{map[string]any{"author": tx.Actor(), "text": def.Comment, "creationDate": tx.Now()}}
	}
	d, err := tx.Create(root, typ, tx.NewID(), props)
	if err != nil {
		return nil, err
	}
	t := &Task{Doc: d, Instance: i, Node: n}
	return t, t.show(tx)
}

func sorted(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// show lets those read the task whom it concerns.
func (t *Task) show(tx *storage.Tx) (err error) {
	people := append([]string{"user:" + storage.Prop[string](t.Doc, "nt:initiator")}, t.Actors()...)
	t.Doc, err = tx.SetACL(t.Doc, "local", readers(append(people, t.Delegated()...)))
	return err
}

// MayEnd is an error unless the principal is one of those who may end the task.
func (t *Task) MayEnd(p *storage.Principal) error {
	if p.Admin || slices.ContainsFunc(Names(p), func(name string) bool {
		return slices.Contains(t.Actors(), name) || slices.Contains(t.Delegated(), name)
	}) {
		return nil
	}
	return fault.Denied.Errorf("task %s: %s is not one of its actors", t.ID(), p.Name)
}

// MayHandOn is an error unless the principal may let others do the task: those may who may end it, and its initiator.
func (t *Task) MayHandOn(p *storage.Principal) error {
	if storage.Prop[string](t.Doc, "nt:initiator") == p.Name {
		return nil
	}
	return t.MayEnd(p)
}

// MayReassign is an error unless the principal may give the task to others instead.
func (t *Task) MayReassign(p *storage.Principal) error {
	if t.Node == nil || t.Node.Task == nil || !t.Node.Task.Reassignable {
		return fault.Conflict.Errorf("task %s: cannot be reassigned", t.ID()).WithCode(fault.CodeWorkflowState)
	}
	return t.MayHandOn(p)
}

// Reassign gives the task to others. The transaction is the server's.
func (t *Task) Reassign(tx *storage.Tx, actors []string, comment string) error {
	return t.hand(tx, actors, nil, comment)
}

// Delegate lets others do the task too. The transaction is the server's.
func (t *Task) Delegate(tx *storage.Tx, others []string, comment string) error {
	delegated := t.Delegated()
	for _, o := range others {
		if !slices.Contains(delegated, o) {
			delegated = append(delegated, o)
		}
	}
	return t.hand(tx, t.Actors(), delegated, comment)
}

func (t *Task) hand(tx *storage.Tx, actors, delegated []string, comment string) error {
	if err := t.comment(tx, tx.Actor(), comment); err != nil {
		return err
	}
	all := slices.Concat(actors, delegated)
	for key, people := range map[string][]string{"nt:actors": actors, "nt:delegatedActors": delegated, "nt:openFor": all} {
		if err := t.Doc.Set(key, people); err != nil {
			return err
		}
	}
	var err error
	if t.Doc, err = tx.Save(t.Doc, storage.SaveOptions{Quiet: true}); err != nil {
		return err
	}
	if i := t.Instance; i != nil {
		if err := i.handed(tx, t, actors); err != nil {
			return err
		}
		if err := i.Show(tx, all); err != nil {
			return err
		}
	}
	return t.show(tx)
}

// MustBeOpen is an error of kind Conflict if the task has ended.
func (t *Task) MustBeOpen() error {
	if s := t.Doc.State(); s != Opened {
		return fault.Conflict.Errorf("task %s: is %s", t.ID(), s).WithCode(fault.CodeWorkflowState)
	}
	return nil
}

// comment adds what somebody says about the task.
func (t *Task) comment(tx *storage.Tx, who, text string) error {
	if text == "" {
		return nil
	}
	list := slices.Clone(storage.Prop[[]any](t.Doc, "nt:taskComments"))
	return t.Doc.Set("nt:taskComments", append(list, map[string]any{"author": who, "text": text, "creationDate": tx.Now()}))
}

// End ends the task: who ended it how is kept. The transaction is the server's.
func (t *Task) End(tx *storage.Tx, status, comment string) error {
	who := tx.Actor()
	if err := t.comment(tx, who, comment); err != nil {
		return err
	}
	variables := append(slices.Clone(storage.Prop[[]any](t.Doc, "nt:task_variables")), map[string]any{"key": "status", "value": status})
	if err := t.Doc.Set("nt:task_variables", variables); err != nil {
		return err
	}
	if err := t.Doc.Set("nt:executors", []any{who}); err != nil {
		return err
	}
	return t.close(tx, "end")
}

// Cancel ends the task without anybody having done it. The transaction is the server's.
func (t *Task) Cancel(tx *storage.Tx) error { return t.close(tx, "cancel") }

func (t *Task) close(tx *storage.Tx, transition string) error {
	err := t.Doc.Set("nt:openFor", nil)
	if err != nil {
		return err
	}
	if t.Doc, err = tx.Save(t.Doc, storage.SaveOptions{Quiet: true}); err != nil {
		return err
	}
	t.Doc, err = tx.Follow(t.Doc, transition)
	return err
}

// Names are what the principal is called among the actors of tasks: the user and the groups.
func Names(p *storage.Principal) []string {
	out := []string{"user:" + p.Name}
	for _, g := range p.Groups {
		out = append(out, "group:"+g)
	}
	return out
}

// Split takes a name apart: "user", "group" or "", and the name itself.
func Split(name string) (kind, rest string) {
	for _, kind := range []string{"user", "group"} {
		if rest, ok := strings.CutPrefix(name, kind+":"); ok {
			return kind, rest
		}
	}
	return "", name
}

// Actors puts "user:" or "group:" in front of names that have neither, and leaves out what stands twice. A name that
// nobody has is an error of kind Invalid.
func Actors(tx *storage.Tx, names []string) ([]string, error) {
	var out []string
	for _, given := range names {
		kind, name := Split(given)
		found := ""
		if gone(name) {
			kind, name = Split(administrators)
		}
		if kind != "group" {
			if _, err := people.Lookup(tx, name); err == nil {
				found = "user:" + name
			} else if !fault.Is(err, fault.NotFound) {
				return nil, err
			}
		}
		if kind != "user" && found == "" {
			if _, err := people.LookupGroup(tx, name); err == nil {
				found = "group:" + name
			} else if !fault.Is(err, fault.NotFound) {
				return nil, err
			}
		}
		if found == "" {
			return nil, fault.Invalid.Errorf("actors: unknown user or group %q", given).In("actors")
		}
		if !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out, nil
}
