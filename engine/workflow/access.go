package workflow

import (
	"maps"
	"slices"

	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
)

// manage is the permission on documents that starting and cancelling workflows about them needs.
const manage = "ManageWorkflows"

// MayStart is an error unless the principal may start the workflow on a document.
func (m *Model) MayStart(tx *storage.Tx, d *storage.Doc) error {
	switch {
	case !tx.Can(d, manage):
		return fault.Denied.Errorf("Privilege '%s' is not granted to '%s'", manage, tx.Principal().Name)
	case !m.Suits(d, storage.TypesOf(tx)):
		return fault.Invalid.Errorf("workflow %s: cannot be started on document %s", m.Name, d.ID())
	}
	return nil
}

// MayManage is an error unless the principal may cancel the instance.
func (i *Instance) MayManage(tx *storage.Tx) error {
	p := tx.Principal()
	if p.Admin || p.Name == i.Initiator {
		return nil
	}
	all := tx.As(tx.Repo().System()) // tells documents that are gone from those that may not be read
	for _, id := range i.Documents {
		d, err := all.Doc(storage.Ref(id))
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil || !tx.Can(d, manage) {
			return fault.Denied.Errorf("workflow %s: %s did not start it and may not manage its documents", i.ID(), p.Name)
		}
	}
	if len(i.Documents) == 0 {
		return fault.Denied.Errorf("workflow %s: %s did not start it", i.ID(), p.Name)
	}
	return nil
}

// Fill sets what the user who ends a task of a node has filled in: variables of the node, and those of the workflow that
// the task asks for. Others are ignored.
func (i *Instance) Fill(n *Node, own, workflow map[string]any) error {
	if err := i.AssignTo(n, own); err != nil {
		return err
	}
	asked := map[string]any{}
	for name, v := range workflow {
		if slices.ContainsFunc(n.Task.Asks, func(a declare.Name) bool { return a.Text == name }) {
			asked[name] = v
		}
	}
	return i.Assign(asked)
}

// WaitsFor are those whom the open tasks of a node wait for; none if no task is open. The transaction is the server's.
func (i *Instance) WaitsFor(tx *storage.Tx, node string) (people []string, err error) {
	err = i.eachOpen(tx, node, func(t *Task) error {
		people = append(append(people, t.Actors()...), t.Delegated()...)
		return nil
	})
	return people, err
}

// CancelTasksOf cancels the open tasks of a node. The transaction is the server's.
func (i *Instance) CancelTasksOf(tx *storage.Tx, node string) error {
	if err := i.eachOpen(tx, node, func(t *Task) error { return t.Cancel(tx) }); err != nil || i.Model == nil {
		return err
	}
	return i.Grant(tx, i.Model.byID[node], nil)
}

// EachWaiting calls fn for the nodes that wait for something, by id, and has them wait for nothing any longer.
func (i *Instance) EachWaiting(fn func(node string) error) error {
	for _, id := range slices.Sorted(maps.Keys(i.nodes)) {
		if i.nodes[id].State == Suspended {
			if err := fn(id); err != nil {
				return err
			}
		}
		i.nodes[id].State, i.nodes[id].Arrived = Ready, nil
	}
	return nil
}

// eachOpen calls fn for each open task of a node. One that somebody has deleted is not open.
func (i *Instance) eachOpen(tx *storage.Tx, node string, fn func(*Task) error) error {
	for _, info := range i.Node(node).Tasks {
		if info.Ended {
			continue
		}
		d, err := tx.Doc(storage.Ref(info.ID))
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if d.State() == Opened {
			if err := fn(&Task{Doc: d, Instance: i}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Note remembers how a task of the node ended.
func (s *NodeState) Note(task, actor, status, comment string) {
	for k := range s.Tasks {
		if t := &s.Tasks[k]; t.ID == task {
			t.Ended, t.Actor, t.Status, t.Comment = true, actor, status, comment
		}
	}
}

// handed remembers that a task has other actors now.
func (i *Instance) handed(tx *storage.Tx, t *Task, actors []string) error {
	if t.Node == nil {
		return nil
	}
	st := i.Node(t.Node.ID)
	for k := range st.Tasks {
		if st.Tasks[k].ID == t.ID() {
			st.Tasks[k].Actors = actors
		}
	}
	people, err := i.WaitsFor(tx, t.Node.ID)
	if err != nil {
		return err
	}
	if err := i.Grant(tx, t.Node, people); err != nil {
		return err
	}
	return i.Save(tx)
}
