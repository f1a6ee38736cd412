package workflow

import (
	"encoding/json"
	"path"
	"slices"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Where instances and tasks are, and what they are.
const (
	instanceRoot = "document-route-instances-root"
	instanceType = "DocumentRoute"
	taskRoot     = "task-root"
	taskType     = "TaskDoc"     // of tasks that stand alone; those of workflows are of a type below it
	routingType  = "RoutingTask" // of tasks of workflows
)

// The life cycle states of an instance.
const (
	Running  = "running"
	Done     = "done"
	Canceled = "canceled"
)

// Instance is a workflow that was started.
type Instance struct {
	Doc       *storage.Doc
	Model     *Model // nil if it is declared no longer
	ModelName string
	Initiator string
	Parent    string         // id of the instance that goes through this one, "" if there is none
	ParentAt  string         // id of the node of that instance
	Documents []string       // ids of those it is about
	Variables map[string]any // in the form schema.Field.Coerce returns; lists are never nil
	nodes     map[string]*NodeState
}

// ID identifies the instance.
func (i *Instance) ID() string { return i.Doc.ID() }

// Title is that of the model.
func (i *Instance) Title() string {
	switch {
	case i.Model != nil:
		return i.Model.Title
	case i.IsRoute():
		return i.Doc.Title()
	}
	return i.ModelName
}

// Node is where a node is; it may be changed.
func (i *Instance) Node(id string) *NodeState {
	n := i.nodes[id]
	if n == nil {
		n = &NodeState{State: Ready, Variables: map[string]any{}}
		if i.nodes[id] = n; i.Model != nil {
			if node := i.Model.byID[id]; node != nil {
				fill(n.Variables, node.Variables)
			}
		}
	}
	return n
}

// Begun reports whether the first node has begun.
func (i *Instance) Begun() bool { return len(i.nodes) > 0 }

// fill adds the variables that are not there, with their defaults.
func fill(values map[string]any, fields []*schema.Field) {
	for _, f := range fields {
		v, ok := values[f.Name]
		if !ok {
			v = f.Default
		}
		if v == nil && f.List {
			v = []any{}
		}
		values[f.Name] = v
	}
}

// assign sets the variables of values that are declared; others are ignored.
func assign(into map[string]any, fields []*schema.Field, values map[string]any) error {
	for _, f := range fields {
		given, ok := values[f.Name]
		if !ok {
			continue
		}
		v, err := f.Coerce(given)
		if err != nil {
			return fault.Wrap(err, "variables").In(f.Name)
		}
		if broken := f.Validate(v); len(broken) > 0 {
			return fault.Invalid.Errorf("variables: %s", broken[0].Message).In(f.Name)
		}
		if v == nil && f.List {
			v = []any{}
		}
		into[f.Name] = v
	}
	return nil
}

// Assign sets variables of the workflow, those that its model declares.
func (i *Instance) Assign(values map[string]any) error {
	if i.Model == nil {
		return nil
	}
	return assign(i.Variables, i.Model.Variables, values)
}

// AssignTo sets variables of a node, those that it declares.
func (i *Instance) AssignTo(n *Node, values map[string]any) error {
	return assign(i.Node(n.ID).Variables, n.Variables, values)
}

// storedNode is a node's state as it is kept.
type storedNode struct {
	*NodeState
	Values json.RawMessage `json:"variables,omitempty"`
}

// whole is the declaration of all variables together, by which they are written and read.
func whole(fields []*schema.Field) *schema.Field {
	return &schema.Field{Name: "variables", Key: "variables", Kind: schema.Complex, Fields: fields}
}

// OpenInstance reads an instance. A document of another type is NotFound.
func OpenInstance(ms *Models, d *storage.Doc) (*Instance, error) {
	if d.Type().Name != instanceType || !kept(d, instanceRoot) {
		return nil, fault.NotFound.Errorf("workflow %s", d.ID())
	}
	i := &Instance{
		Doc: d, ModelName: storage.Prop[string](d, "docri:modelId"), Initiator: storage.Prop[string](d, "docri:initiator"),
		Parent: storage.Prop[string](d, "docri:parent"), ParentAt: storage.Prop[string](d, "docri:parentNode"),
		Documents: texts(d, "docri:participatingDocuments"), Variables: map[string]any{}, nodes: map[string]*NodeState{},
	}
	i.Model = ms.byName[i.ModelName]
	return i, i.read()
}

// read takes in what the document keeps.
func (i *Instance) read() error {
	nodes := map[string]*storedNode{}
	if text := storage.Prop[string](i.Doc, "docri:nodes"); text != "" {
		if err := json.Unmarshal([]byte(text), &nodes); err != nil {
			return fault.Internal.Errorf("workflow %s: %w", i.ID(), err)
		}
	}
	var fields []*schema.Field
	if i.Model != nil {
		fields = i.Model.Variables
	}
	if err := i.values(i.Variables, fields, storage.Prop[string](i.Doc, "docri:variables")); err != nil {
		return err
	}
	for id, n := range nodes {
		n.Variables = map[string]any{}
		i.nodes[id] = n.NodeState
		if i.Model == nil || i.Model.byID[id] == nil {
			continue
		}
		if err := i.values(n.Variables, i.Model.byID[id].Variables, string(n.Values)); err != nil {
			return err
		}
	}
	return nil
}

// values reads variables, as far as they are declared now. One whose type has changed meanwhile is not set.
func (i *Instance) values(into map[string]any, fields []*schema.Field, text string) error {
	kept := map[string]json.RawMessage{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			return fault.Internal.Errorf("workflow %s: %w", i.ID(), err)
		}
	}
	for _, f := range fields {
		raw, ok := kept[f.Name]
		if !ok {
			continue
		}
		v, err := f.ParseJSON(raw)
		if err != nil {
			continue
		}
		if err := i.files(f, v, func(b *storage.Blob, at int, files []any) {
			if loaded, ok := files[at].(*storage.Blob); ok {
				*b = *loaded
			}
		}); err != nil {
			return err
		}
		into[f.Name] = v
	}
	fill(into, fields)
	return nil
}

// files calls fn for each file of a value that the document keeps, with where it is among those.
func (i *Instance) files(f *schema.Field, v any, fn func(b *storage.Blob, at int, files []any)) error {
	files, err := i.Doc.Get("docri:files")
	if err != nil {
		return err
	}
	list, _ := files.([]any)
	return f.EachBlob(v, func(_ string, b *storage.Blob) error {
		if at := slices.IndexFunc(list, func(o any) bool { have, ok := o.(*storage.Blob); return ok && have.Digest == b.Digest }); at >= 0 {
			fn(b, at, list)
		}
		return nil
	})
}

// Save keeps what changed. The transaction is the server's.
func (i *Instance) Save(tx *storage.Tx) error {
	if i.Model == nil {
		return nil // what nobody declares stays as it is
	}
	if err := i.write(i.Doc); err != nil {
		return err
	}
	_, err := tx.Save(i.Doc, storage.SaveOptions{Quiet: true})
	return err
}

// write stores variables and states of nodes as JSON text. Files in them are stored in a list of their own, in the order in which the
// text refers to them, so that the storage knows that their content is in use.
func (i *Instance) write(d *storage.Doc) error {
	var files []any
	encode := func(fields []*schema.Field, values map[string]any) ([]byte, error) {
		f := whole(fields)
		err := f.EachBlob(values, func(_ string, b *storage.Blob) error {
			files = append(files, b)
			return nil
		})
		return f.AppendJSON(nil, values, nil), err
	}
	variables, err := encode(i.Model.Variables, i.Variables)
	if err != nil {
		return err
	}
	nodes := map[string]storedNode{}
	for _, n := range i.Model.Nodes { // in their order, so that the files are
		st, ok := i.nodes[n.ID]
		if !ok {
			continue
		}
		values, err := encode(n.Variables, st.Variables)
		if err != nil {
			return err
		}
		nodes[n.ID] = storedNode{st, values}
	}
	text, err := json.Marshal(nodes)
	if err != nil {
		return err
	}
	for key, v := range map[string]any{"docri:variables": string(variables), "docri:nodes": string(text), "docri:files": files} {
		if err := d.Set(key, v); err != nil {
			return err
		}
	}
	return nil
}

// Start says what an instance begins with.
type Start struct {
	Initiator        string
	Documents        []string       // ids
	Variables        map[string]any // first values; those that the model does not declare are ignored
	Parent, ParentAt string         // id of the instance that goes through this one, and of its node
}

// NewInstance makes an instance of a model, whose nodes or steps have not begun. The transaction is the server's.
func NewInstance(tx *storage.Tx, m *Model, s Start) (*Instance, error) {
	root, err := hiddenRoot(tx, instanceRoot, "DocumentRouteInstancesRoot", "Workflow instances")
	if err != nil {
		return nil, err
	}
	build := newGraph
	if m.Route != nil {
		build = newRoute
	}
	i, err := build(tx, root, m, s)
	if err != nil {
		return nil, err
	}
	return i, i.Show(tx, []string{"user:" + i.Initiator})
}

// newGraph makes an instance of a model that is declared.
func newGraph(tx *storage.Tx, root *storage.Doc, m *Model, s Start) (*Instance, error) {
	d, err := tx.NewDoc(instanceType)
	if err != nil {
		return nil, err
	}
	i := &Instance{
		Doc: d, Model: m, ModelName: m.Name, Initiator: s.Initiator, Parent: s.Parent, ParentAt: s.ParentAt, Documents: s.Documents,
		Variables: m.First(), nodes: map[string]*NodeState{},
	}
	if err := i.Assign(s.Variables); err != nil {
		return nil, err
	}
	for key, v := range map[string]any{
		"dc:title": m.Title, "docri:modelId": m.Name, "docri:initiator": i.Initiator, "docri:participatingDocuments": i.Documents,
		"docri:parent": i.Parent, "docri:parentNode": i.ParentAt, executionKey: graph,
	} {
		if err := d.Set(key, v); err != nil {
			return nil, err
		}
	}
	if err := i.write(d); err != nil {
		return nil, err
	}
	if err := d.Begin(Running); err != nil {
		return nil, err
	}
	return i, tx.Add(root, d, tx.NewID(), storage.SaveOptions{})
}

// Show lets people read the instance, besides those who may already. The transaction is the server's.
func (i *Instance) Show(tx *storage.Tx, people []string) error {
	entries, err := listOf(tx, i.Doc, "local")
	if err != nil {
		return err
	}
	for _, e := range readers(people) {
		if !slices.ContainsFunc(entries, func(o storage.ACE) bool { return o.User == e.User }) {
			entries = append(entries, e)
		}
	}
	i.Doc, err = tx.SetACL(i.Doc, "local", entries)
	return err
}

// readers are the entries of an access list that let people and groups read.
func readers(people []string) (out []storage.ACE) {
	for _, p := range people {
		_, name := Split(p)
		if !slices.ContainsFunc(out, func(e storage.ACE) bool { return e.User == name }) {
			out = append(out, storage.ACE{User: name, Permission: "Read", Granted: true})
		}
	}
	return out
}

// Finish has the instance follow its life cycle to its end: toDone or toCanceled.
func (i *Instance) Finish(tx *storage.Tx, transition string) (err error) {
	i.Doc, err = tx.Follow(i.Doc, transition)
	return err
}

// hiddenRoot finds the folder of instances or of tasks; the first time it is made. Nobody sees what is in it but
// administrators, and those whom a document of it lets.
func hiddenRoot(tx *storage.Tx, name, typ, title string) (*storage.Doc, error) {
	root, err := tx.Root()
	if err != nil {
		return nil, err
	}
	d, err := tx.Child(root, name)
	if err == nil && d.Type().Name != typ {
		return nil, fault.Conflict.Errorf("document %s: is of type %s, not %s", d.Path(), d.Type().Name, typ).WithCode(fault.CodeWorkflowState)
	}
	if !fault.Is(err, fault.NotFound) {
		return d, err
	}
	if d, err = tx.Create(root, typ, name, storage.Props{"dc:title": title}); err != nil {
		return nil, err
	}
	return tx.SetACL(d, "local", []storage.ACE{{User: "Everyone", Permission: "Everything", Granted: false}})
}

// kept reports whether a document is in the folder of instances, or of tasks, where only the server puts any: anyone who
// makes a document of their type elsewhere has made no workflow and no task.
func kept(d *storage.Doc, root string) bool {
	return path.Dir(d.Path()) == "/"+root && !d.IsVersion() && !d.IsProxy()
}

// texts is a property that is a list of texts.
func texts(d *storage.Doc, key string) []string {
	list := storage.Prop[[]any](d, key)
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
