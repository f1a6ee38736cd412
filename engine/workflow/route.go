package workflow

import (
	"strconv"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/limit"
)

// A route is a workflow made of documents, as workflows were before they were graphs: a tree of steps and of folders
// of steps. Its model is a tree in the folder of models that is validated, and an instance is a copy of that. The
// life cycle states of its documents say how far it is.

// Where models of routes are, and what their documents are.
const (
	modelRoot         = "document-route-models-root"
	folderFacet       = "StepFolder"
	conditionalFacet  = "ConditionalStepFolder"
	stepFacet         = "RouteStep"
	taskFacet         = "TaskStep"
	validated         = "validated"
	executionKey      = "stepf:execution"
	chosenKey         = "condstepf:posOfChildStepToRunNext"
	serial, parallel  = "serial", "parallel"
	graph             = "graph" // marks instances of models that are declared
	toRunning, toDone = "toRunning", "toDone"
)

// Find finds a model: one that is declared, or a route that the principal may read.
func (ms *Models) Find(tx *storage.Tx, name string) (*Model, error) {
	m, missing := ms.Model(name)
	if missing == nil {
		return m, nil
	}
	d, err := tx.Doc(storage.Ref("/" + modelRoot + "/" + name))
	switch {
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) || fault.Is(err, fault.Invalid) || err == nil && !isModel(d):
		return nil, missing
	case err != nil:
		return nil, err
	}
	return modelOf(d), nil
}

// Within are the models that are declared, and behind them the routes that the principal may read.
func (ms *Models) Within(tx *storage.Tx) ([]*Model, error) {
	all := ms.All()
	root, err := tx.Doc("/" + modelRoot)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for d, err := range tx.EachChild(root) {
		if err != nil {
			return nil, err
		}
		if isModel(d) && ms.byName[d.Name()] == nil {
			all = append(all, modelOf(d))
		}
	}
	return all, nil
}

func isModel(d *storage.Doc) bool {
	return d.Type().Name == instanceType && kept(d, modelRoot) && d.State() == validated && !d.IsTrashed()
}

func modelOf(d *storage.Doc) *Model { return &Model{Name: d.Name(), Title: d.Title(), Route: d} }

// IsRoute reports whether the instance is one of a route.
func (i *Instance) IsRoute() bool {
	how := storage.Prop[string](i.Doc, executionKey)
	return how == serial || how == parallel
}

// newRoute makes an instance of a route, whose steps are ready. The transaction is the server's.
func newRoute(tx *storage.Tx, root *storage.Doc, m *Model, s Start) (*Instance, error) {
	how := storage.Prop[string](m.Route, executionKey)
	if how != parallel {
		how = serial
	}
	copier := stepCopier{tx, limit.Of[Limits](tx.Repo().Bounds()).Steps}
	d, err := copier.copy(root, m.Route, tx.NewID(), storage.Props{
		executionKey: how, "docri:modelId": m.Name, "docri:initiator": s.Initiator, "docri:participatingDocuments": s.Documents,
	})
	if err != nil {
		return nil, err
	}
	return &Instance{
		Doc: d, ModelName: m.Name, Initiator: s.Initiator, Documents: s.Documents, Variables: map[string]any{}, nodes: map[string]*NodeState{},
	}, nil
}

// A stepCopier copies the documents of a route.
type stepCopier struct {
	tx   *storage.Tx
	left int // documents that may still be copied
}

// copy makes a copy of a document of a route, and of those below it, in the state Ready, with some properties more.
// Permissions are not copied.
func (c *stepCopier) copy(to, from *storage.Doc, name string, more storage.Props) (*storage.Doc, error) {
	if c.left--; c.left < 0 {
		return nil, fault.Limit.Errorf("workflow %s: more than %d steps", from.Path(), limit.Of[Limits](c.tx.Repo().Bounds()).Steps)
	}
	d, err := c.tx.NewDoc(from.Type().Name)
	if err != nil {
		return nil, err
	}
	for _, s := range d.Schemas() {
		for _, f := range s.Fields {
			v, err := from.Get(f.Key)
			if err == nil {
				err = d.Set(f.Key, v)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for key, v := range more {
		if err := d.Set(key, v); err != nil {
			return nil, err
		}
	}
	if err := d.Begin(Ready); err != nil {
		return nil, err
	}
	if err := c.tx.Add(to, d, name, storage.SaveOptions{}); err != nil || !d.HasFacet(folderFacet) {
		return d, err
	}
	children, err := steps(c.tx, from)
	for _, child := range children {
		if _, err := c.copy(d, child, child.Name(), nil); err != nil {
			return nil, err
		}
	}
	return d, err
}

// steps are the steps and folders of steps in a folder, in their order.
func steps(tx *storage.Tx, folder *storage.Doc) (out storage.Docs, err error) {
	for d, err := range tx.EachChild(folder) {
		if err != nil {
			return nil, err
		}
		if (d.HasFacet(folderFacet) || d.HasFacet(stepFacet)) && !d.IsTrashed() && !d.IsProxy() {
			out = append(out, d)
		}
	}
	return out, nil
}

// Walk goes through the steps of a route as far as it goes without anybody, and reports whether all have ended. Begin
// does what a step is for, which may be that somebody is to end it later. The transaction is the server's.
func (i *Instance) Walk(tx *storage.Tx, begin func(*Step) error) (over bool, err error) {
	if i.Doc.State() == Ready {
		if i.Doc, err = tx.Follow(i.Doc, toRunning); err != nil {
			return false, err
		}
	}
	return (&walk{tx, i, begin}).within(i.Doc)
}

type walk struct {
	tx    *storage.Tx
	route *Instance
	begin func(*Step) error
}

// within goes through what is in a folder.
func (w *walk) within(folder *storage.Doc) (over bool, err error) {
	children, err := steps(w.tx, folder)
	if err != nil {
		return false, err
	}
	over = true
	conditional := folder.HasFacet(conditionalFacet)
	for n, d := range children {
		if conditional && d.HasFacet(folderFacet) {
			if folder, err = w.tx.Reload(folder); err != nil { // a step may have chosen meanwhile
				return false, err
			}
			if storage.Prop[string](folder, chosenKey) != strconv.Itoa(n) {
				if err := w.route.cancel(w.tx, d); err != nil {
					return false, err
				}
				continue
			}
		}
		ended, err := w.run(d)
		if err != nil {
			return false, err
		}
		over = over && ended
		if !over && (conditional || storage.Prop[string](folder, executionKey) != parallel) {
			return false, nil
		}
	}
	return over, nil
}

// run has a step or a folder of steps begin or go on, and reports whether it has ended.
func (w *walk) run(d *storage.Doc) (over bool, err error) {
	if isOver(d) {
		return true, nil
	}
	begins := d.State() != Running
	if begins {
		if d, err = w.tx.Follow(d, toRunning); err != nil {
			return false, err
		}
	}
	if d.HasFacet(folderFacet) {
		if over, err = w.within(d); err != nil || !over {
			return false, err
		}
		_, err = w.tx.Follow(d, toDone)
		return true, err
	}
	if !begins {
		return false, nil
	}
	if err := w.begin(&Step{Doc: d, Route: w.route}); err != nil {
		return false, err
	}
	d, err = w.tx.Reload(d)
	return err == nil && isOver(d), err
}

func isOver(d *storage.Doc) bool { return d.State() == Done || d.State() == Canceled }

// CancelSteps gives up all steps of a route, and their open tasks. The transaction is the server's.
func (i *Instance) CancelSteps(tx *storage.Tx) error { return i.cancelWithin(tx, i.Doc) }

func (i *Instance) cancelWithin(tx *storage.Tx, folder *storage.Doc) error {
	children, err := steps(tx, folder)
	for _, child := range children {
		if err := i.cancel(tx, child); err != nil {
			return err
		}
	}
	return err
}

// cancel gives up a step, or a folder of steps.
func (i *Instance) cancel(tx *storage.Tx, d *storage.Doc) (err error) {
	if d.HasFacet(folderFacet) {
		err = i.cancelWithin(tx, d)
	} else {
		err = (&Step{Doc: d, Route: i}).cancelTasks(tx)
	}
	if err != nil || d.State() == Canceled {
		return err
	}
	_, err = tx.Follow(d, "toCanceled")
	return err
}

// RouteGraph draws a route: a row for each of its steps and folders, further right the deeper it is. There are no
// transitions. The transaction is one that may read it.
func RouteGraph(tx *storage.Tx, route *storage.Doc) (*Graph, error) {
	g := &Graph{Nodes: []GraphNode{}, Transitions: []GraphTransition{}}
	return g, g.add(tx, route, 0)
}

func (g *Graph) add(tx *storage.Tx, folder *storage.Doc, depth int) error {
	children, err := steps(tx, folder)
	for _, d := range children {
		g.Nodes = append(g.Nodes, GraphNode{
			X: margin + depth*columnWidth, Y: margin + len(g.Nodes)*rowHeight, ID: d.ID(), Title: d.Title(), State: d.State(),
			IsMultiTask: storage.Prop[string](d, executionKey) == parallel,
		})
		if err := g.add(tx, d, depth+1); err != nil {
			return err
		}
	}
	return err
}
