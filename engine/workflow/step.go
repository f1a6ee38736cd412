package workflow

import (
	"slices"
	"strconv"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// StepVariable is the variable of a context, and of a task, that says which step of a route is meant.
const StepVariable = "document.routing.step"

// Step is a step of a route that was started.
type Step struct {
	Doc   *storage.Doc
	Route *Instance
}

// OpenStep reads the route of a step. What is not a step in the folder of instances is none: NotFound. The transaction
// is the server's.
func OpenStep(tx *storage.Tx, ms *Models, d *storage.Doc) (*Step, error) {
	if d.HasFacet(stepFacet) && !d.IsProxy() && !d.IsVersion() {
		above, err := tx.Ancestors(d)
		if err != nil {
			return nil, err
		}
		for _, up := range above {
			i, err := OpenInstance(ms, up)
			if fault.Is(err, fault.NotFound) {
				continue
			}
			if err != nil || i.IsRoute() {
				return &Step{Doc: d, Route: i}, err
			}
		}
	}
	return nil, fault.NotFound.Errorf("document %s: is not a step of a started route", d.ID())
}

// ChainOf names what runs when a step of a type begins: what is declared for the type, or for the nearest above it;
// "" if there is none.
func (ms *Models) ChainOf(typ *schema.Type, types *schema.Registry) string {
	for ok := true; ok; typ, ok = types.Type(typ.Parent) {
		if d, declared := ms.steps[typ.Name]; declared {
			return d.value.Text
		}
	}
	return ""
}

// Asks is the task that the step says is to be given to its actors, about a document; no actors if it names none.
func (s *Step) Asks(d *storage.Doc, now time.Time) NewTask {
	def := NewTask{
		Name: s.Doc.Title(), Directive: storage.Prop[string](s.Doc, "tkst:directive"), Actors: texts(s.Doc, "tkst:actors"),
		Due: storage.Prop[time.Time](s.Doc, "tkst:dueDate"), Documents: []string{d.ID()}, Step: s.Doc.ID(),
	}
	if def.Due.IsZero() {
		def.Due = now.AddDate(0, 0, DueDays)
	}
	return def
}

// MayMove is an error unless the principal may have the step end or begin again: who may cancel the route may, and those
// for whom an open task of the step waits. The first transaction is the principal's, the second the server's.
func (s *Step) MayMove(tx, all *storage.Tx) error {
	denied := s.Route.MayManage(tx)
	if denied == nil {
		return nil
	}
	tasks, err := s.Tasks(all)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.MustBeOpen() == nil && t.MayEnd(tx.Principal()) == nil {
			return nil
		}
	}
	return denied
}

// Tasks are the tasks of the step, ended ones too. The transaction is the server's.
func (s *Step) Tasks(tx *storage.Tx) ([]*Task, error) {
	page, err := Tasks(tx, Filter{Instance: s.Route.ID(), Node: s.Doc.ID(), Ended: true}, storage.PageOptions{CountLimit: -1})
	if err != nil {
		return nil, err
	}
	out := make([]*Task, len(page.Docs))
	for n, d := range page.Docs {
		out[n] = &Task{Doc: d, Instance: s.Route}
	}
	return out, nil
}

// End has the step be done; tasks of it that are open are cancelled. The transaction is the server's.
func (s *Step) End(tx *storage.Tx) error { return s.follow(tx, toDone, Running) }

// BackToReady has the step be as if it had not begun; tasks of it that are open are cancelled. It begins again when the
// route goes on. The transaction is the server's.
func (s *Step) BackToReady(tx *storage.Tx) error { return s.follow(tx, "backToReady", Running, Done) }

// follow takes a step that is in one of some states, in a folder that runs, through a transition.
func (s *Step) follow(tx *storage.Tx, transition string, from ...string) error {
	up, err := tx.Parent(s.Doc)
	if err != nil {
		return err
	}
	for _, d := range []*storage.Doc{s.Route.Doc, up} {
		if d.State() != Running {
			return fault.Conflict.Errorf("document %s: is %s, so its steps cannot continue", d.ID(), d.State()).WithCode(fault.CodeWorkflowState)
		}
	}
	if s.Doc, err = tx.Reload(s.Doc); err != nil {
		return err
	}
	if !slices.Contains(from, s.Doc.State()) {
		return fault.Conflict.Errorf("step %s: is %s", s.Doc.ID(), s.Doc.State()).WithCode(fault.CodeWorkflowState)
	}
	if err := s.cancelTasks(tx); err != nil {
		return err
	}
	s.Doc, err = tx.Follow(s.Doc, transition)
	return err
}

func (s *Step) cancelTasks(tx *storage.Tx) error {
	tasks, err := s.Tasks(tx)
	for _, t := range tasks {
		if t.MustBeOpen() == nil {
			if err := t.Cancel(tx); err != nil {
				return err
			}
		}
	}
	return err
}

// Choose says which folder goes on after the step, by its number among what is in the conditional folder of the step,
// from 0; in another folder nothing is to be chosen. The transaction is the server's.
func (s *Step) Choose(tx *storage.Tx, branch string) error {
	up, err := tx.Parent(s.Doc)
	if err != nil || !up.HasFacet(conditionalFacet) {
		return err
	}
	children, err := steps(tx, up)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(branch)
	if err != nil || n < 0 || n >= len(children) || !children[n].HasFacet(folderFacet) {
		return fault.Invalid.Errorf("nextStepPos: there is no step folder at %q in %s", branch, up.ID()).In("nextStepPos")
	}
	if err := up.Set(chosenKey, strconv.Itoa(n)); err != nil {
		return err
	}
	_, err = tx.Save(up, storage.SaveOptions{Quiet: true})
	return err
}

// Note keeps with the step what was said about a task of it. The transaction is the server's.
func (s *Step) Note(tx *storage.Tx, t *Task) (err error) {
	if !s.Doc.HasFacet(taskFacet) {
		return nil
	}
	said := []string{}
	for _, c := range t.Comments() {
		said = append(said, c.Author+" : "+c.Text)
	}
	if err := s.Doc.Set("tkst:comments", said); err != nil {
		return err
	}
	s.Doc, err = tx.Save(s.Doc, storage.SaveOptions{Quiet: true})
	return err
}
