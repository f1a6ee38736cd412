package entity

import (
	"slices"

	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// among is a list of documents with what enrichers know of all of them at once.
// One question for a page instead of one for each document: 50 documents would otherwise be 50
// calls.
type among struct {
	docs    storage.Docs
	running map[string][]any // workflows by the id of a document; nil: not asked for yet
	pending map[string][]any // tasks by the id of a document; nil: not asked for yet
}

// around is the list that a document is written of, or the document alone.
func (w *writer) around(d *storage.Doc) *among {
	if w.among != nil && slices.Contains(w.among.docs, d) {
		return w.among
	}
	return &among{docs: storage.Docs{d}}
}

// withRunnable appends the workflows that the caller may start on a document.
func (w *writer) withRunnable(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	models, err := asked[workflow.ModelList](w, "WorkflowModel.List", d)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, m := range models {
		out = append(out, w.model(m))
	}
	return w.value(dst, out, level+1)
}

// withRunning appends the running workflows on a document that the caller may see.
func (w *writer) withRunning(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	a := w.around(d)
	if a.running == nil {
		list, err := asked[workflow.InstanceList](w, "Workflow.List", a.docs)
		if err != nil {
			return nil, err
		}
		a.running = map[string][]any{}
		for _, i := range list {
			file(a.running, i.Documents, w.instance(i))
		}
	}
	return w.value(dst, slices.Concat([]any{}, a.running[d.ID()]), level+1)
}

// withTasks appends the open tasks about a document that wait for the caller.
func (w *writer) withTasks(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	a := w.around(d)
	if a.pending == nil {
		page, err := asked[*workflow.TaskPage](w, "Task.List", a.docs)
		if err != nil {
			return nil, err
		}
		a.pending = map[string][]any{}
		for _, t := range page.Tasks {
			file(a.pending, t.Documents(), w.task(t))
		}
	}
	return w.value(dst, slices.Concat([]any{}, a.pending[d.ID()]), level+1)
}

// file puts a value under each of the ids, once.
func file(by map[string][]any, ids []string, v any) {
	for i, id := range ids {
		if !slices.Contains(ids[:i], id) {
			by[id] = append(by[id], v)
		}
	}
}

// asked is what an operation says of its input.
func asked[T any](w *writer, op string, in any) (T, error) {
	// By name, and as the caller: this package must not import operations, and they check what may
	// be seen.
	v, err := w.c.Call(op, in, nil)
	if err != nil {
		var none T
		return none, err
	}
	t, ok := v.(T)
	if !ok {
		return t, fault.Internal.Errorf("operation %s: returns %T", op, v)
	}
	return t, nil
}
