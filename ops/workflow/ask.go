package workflow

import (
	"slices"
	"strings"
	"time"

	"catena/engine/expr"
	"catena/engine/mail"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/limit"
)

// ask makes the tasks of a node. The order matters: actors are permitted to read the workflow before their
// tasks exist (Show), and to read its documents after (Grant), when the node lists who has a task.
func (h *host) ask(n *workflow.Node) error {
	var names []string
	for _, a := range n.Task.Assignees {
		v, err := h.value(n, a.Text)
		if err != nil {
			return fault.Wrap(err, "node %s: assignees", n.ID)
		}
		names = append(names, listed(v)...)
	}
	actors, err := h.actors(names)
	if err != nil {
		return fault.Wrap(err, "node %s", n.ID)
	}
	due := h.Now.AddDate(0, 0, workflow.DueDays)
	if n.Task.Due.Text != "" {
		v, err := h.eval(n, n.Task.Due.Text)
		if err != nil {
			return fault.Wrap(err, "node %s: due", n.ID)
		}
		// Any other value, such as a variable that nobody has filled in, leaves the default.
		if at, ok := v.(time.Time); ok {
			due = at
		}
	}
	own := map[string]string{}
	for name, text := range n.Task.Variables {
		v, err := h.value(n, text.Text)
		if err != nil {
			return fault.Wrap(err, "node %s: variable %s", n.ID, name)
		}
		own[name] = expr.Text(v)
	}
	def := workflow.NewTask{Name: n.Title, Directive: n.Task.Directive, Due: due, Documents: h.instance.Documents, Variables: own}
	if err := h.instance.Show(h.unlimited(), actors); err != nil {
		return err
	}
	// The documents are opened only after all tasks exist: Grant replaces what the node granted
	// before, so it must know everyone.
	for _, def.Actors = range shares(actors, n.Task.Each) {
		if err := h.give(n, def); err != nil {
			return err
		}
	}
	return h.instance.Grant(h.unlimited(), n, actors)
}

// shares are the actors of each task: of one for all of them, or of one for each.
func shares(actors []string, each bool) (out [][]string) {
	if !each {
		return [][]string{actors}
	}
	for _, a := range actors {
		out = append(out, []string{a})
	}
	return out
}

// value is a text of the model, or what it gives if it is an expression.
// The text comes from a declared model, never from a request, so it is evaluated without asking who
// started the workflow.
func (h *host) value(n *workflow.Node, text string) (any, error) {
	if !expr.Is(text) {
		return text, nil
	}
	return h.eval(n, text)
}

// actors are those of names who exist; none at all is an error, since a task that nobody has would never end.
// Their number is bounded by workflow.Limits.
func (h *host) actors(names []string) ([]string, error) {
	// Groups are not expanded: a group counts as one actor, and who is in it is decided when
	// somebody ends the task.
	actors, err := workflow.Actors(h.unlimited(), names)
	most := limit.Of[workflow.Limits](h.Tx.Repo().Bounds()).Actors
	switch {
	case err != nil:
		return nil, err
	case len(actors) == 0:
		return nil, fault.Invalid.Errorf("actors: must not be empty").In("actors")
	case len(actors) > most:
		return nil, fault.Limit.Errorf("actors: %d people and groups, limit %d", len(actors), most).In("actors")
	}
	return actors, nil
}

// give makes one task and tells those who are to do it.
func (h *host) give(n *workflow.Node, def workflow.NewTask) error {
	t, err := workflow.AddTask(h.unlimited(), h.instance, n, def)
	if err != nil {
		return err
	}
	st := h.Node(n.ID)
	st.Tasks = append(st.Tasks, workflow.TaskInfo{ID: t.ID(), Actors: def.Actors})
	if err := h.assigned("workflowTaskAssigned", t, def.Actors); err != nil {
		return err
	}
	return h.plan(n, t, def.Due)
}

// assigned describes people who got a task: in an event, and by mail but for who causes it.
func (h *host) assigned(event string, t *workflow.Task, actors []string) error {
	// The event comes before the mail and does not depend on it: listeners and the audit see an
	// assignment even if nobody can be mailed.
	if err := h.fire(event, t); err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(actors), func(a string) bool { return a == "user:"+h.Tx.Actor() })
	docs, err := h.subjects(t)
	if err != nil || len(others) == 0 {
		return err
	}
	// Names and titles are in English: one message goes to several people, whose languages the
	// server does not know.
	due, _ := t.Doc.Get("nt:dueDate")
	m := mail.Mail{To: others, Template: "routingTaskAssigned", Data: map[string]any{
		"user": h.Tx.Actor(), "task": h.models.Text("", t.Name()), "taskId": t.ID(), "due": expr.Text(due),
	}}
	if len(docs) > 0 {
		m.Doc = docs[0].ID()
		m.Data["title"], m.Data["path"], m.Data["id"] = docs[0].Title(), docs[0].Path(), m.Doc
	}
	_, err = mail.Send(h.unlimited(), m)
	if fault.Is(err, fault.Limit) { // a group too large for a message has the task all the same
		h.Log.Warn("task: no mail is sent", "task", t.ID(), "error", err)
		return nil
	}
	return err
}

// about is what events say of the workflow and the task. The keys are those of the platform; listeners and
// the audit depend on them.
func (h *host) about(t *workflow.Task) map[string]any {
	extra := map[string]any{}
	// A task outside of workflows has no instance.
	if i := h.instance; i != nil {
		extra[workflowID], extra["modelId"], extra["wfName"], extra["workflowInitiator"] = i.ID(), i.ModelName, i.Title(), i.Initiator
	}
	if t != nil {
		extra["taskId"], extra["taskName"], extra["actors"] = t.ID(), t.Name(), strings.Join(append(t.Actors(), t.Delegated()...), ",")
		if s := t.Variable("status"); s != "" {
			extra["action"] = s
		}
	}
	return extra
}

// fire tells what happened to the workflow, to listeners and in the audit of its documents.
func (h *host) fire(event string, t *workflow.Task) error {
	extra := h.about(t)
	docs, err := h.subjects(t)
	if err != nil {
		return err
	}
	tx := h.unlimited()
	// The documents may have been deleted since. The event is then fired without one, so that the
	// audit still shows how the workflow went on.
	if len(docs) == 0 {
		return tx.Fire(storage.Event{Name: event, Extra: extra})
	}
	for _, d := range docs {
		if err := tx.Fire(storage.Event{Name: event, Doc: d, Extra: extra}); err != nil {
			return err
		}
	}
	return nil
}
