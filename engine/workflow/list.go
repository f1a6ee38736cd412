package workflow

import (
	"strings"

	"catena/storage"
	"catena/storage/search"
)

// Filter says which open tasks or running instances are meant; what is empty does not count.
type Filter struct {
	Actors    []string // of tasks: one of them, with "user:" or "group:" in front
	Initiator string   // of instances
	Instance  string   // of tasks: an id
	Model     string   // a name
	Documents []string // ids: they are about one of these
	Node      string   // of tasks: an id
	Ended     bool     // also those that have ended
}

// where is a query of the documents of a type, in the order they were made.
type where struct {
	text []string
	args []any
}

func (w *where) and(condition string, arg any) {
	w.text, w.args = append(w.text, condition), append(w.args, arg)
}

// run asks for those in a folder: others of the type are none, see kept.
func (w *where) run(tx *storage.Tx, typ, root string, o storage.PageOptions) (*storage.Page, error) {
	w.and("ecm:path STARTSWITH ?", "/"+root)
	text := "SELECT * FROM " + typ + " WHERE " + strings.Join(append(w.text, "ecm:isTrashed = 0 AND ecm:isVersion = 0 AND ecm:isProxy = 0"), " AND ")
	return search.Query(tx, text+" ORDER BY dc:created", search.Options{Args: w.args, PageOptions: o})
}

// Tasks lists tasks that the principal may read, oldest first. Tasks that are open are found by those they wait
// for, however many have ended.
func Tasks(tx *storage.Tx, f Filter, o storage.PageOptions) (*storage.Page, error) {
	var w where
	switch {
	case f.Actors != nil: // ended tasks wait for nobody
		w.and("nt:openFor IN (?)", f.Actors)
	case !f.Ended:
		w.and("ecm:currentLifeCycleState = ?", Opened)
	}
	if f.Instance != "" {
		w.and("nt:processId = ?", f.Instance)
	}
	if f.Model != "" {
		w.and("nt:processName = ?", f.Model)
	}
	if f.Documents != nil {
		w.and("nt:targetDocumentsIds IN (?)", f.Documents)
	}
	if f.Node != "" {
		w.and("nt:type = ?", f.Node)
	}
	return w.run(tx, taskType, taskRoot, o)
}

// Instances lists running instances that the principal may read, oldest first.
func Instances(tx *storage.Tx, f Filter, o storage.PageOptions) (*storage.Page, error) {
	var w where
	w.and("ecm:currentLifeCycleState = ?", Running)
	if f.Initiator != "" {
		w.and("docri:initiator = ?", f.Initiator)
	}
	if f.Model != "" {
		w.and("docri:modelId = ?", f.Model)
	}
	if f.Documents != nil {
		w.and("docri:participatingDocuments IN (?)", f.Documents)
	}
	return w.run(tx, instanceType, instanceRoot, o)
}

// TaskPage is a list of tasks.
type TaskPage struct {
	Page  *storage.Page // nil: the list has no pages
	Tasks []*Task
}

// InstanceList is a list of instances.
type InstanceList []*Instance

// ModelList is a list of models.
type ModelList []*Model
