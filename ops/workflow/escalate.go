package workflow

import (
	gocontext "context"
	"encoding/json"
	"time"

	"catena/engine"
	"catena/engine/expr"
	"catena/engine/mail"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// EscalationJob is the kind of jobs that are due when a rule of a task is.
const EscalationJob = "workflow.escalation"

// escalateTask is what such a job runs. It checks no permission: the server alone calls it.
func escalateTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.Escalate",
		Label:    "Escalate a task",
		Category: services,
		Doc:      "Carries out an escalation of a task that is still open: reminds its actors, runs a chain, or ends the task.",
		Callers:  engine.Admins.From(engine.Server),
		Run:      on(ms, escalateParams.run),
	}
}

type escalateParams struct {
	Task string    `json:"taskId" doc:"Id of the task."`
	Rule string    `json:"rule" doc:"Name of the escalation."`
	At   time.Time `json:"at" doc:"When it was due."`
}

// Escalations are the jobs of an engine that carry out escalations.
func Escalations(e *engine.Engine) outbox.Handlers {
	return outbox.Handlers{EscalationJob: {Do: func(ctx gocontext.Context, j outbox.Job) error {
		var p map[string]any
		if err := json.Unmarshal(j.Data, &p); err != nil {
			return &outbox.GaveUp{Err: err}
		}
		_, err := e.Run(ctx, engine.Call{Op: "Task.Escalate", Params: p, As: e.System(), EntryPoint: engine.Server})
		return outbox.Final(err)
	}, AtOnce: 4}}
}

// plan has the rules of a task carried out once their time has come.
func (h *host) plan(n *workflow.Node, t *workflow.Task, due time.Time) error {
	for _, rule := range n.Task.Escalations {
		if err := h.planRule(t, rule, due.Add(rule.After)); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) planRule(t *workflow.Task, rule *workflow.Escalation, at time.Time) error {
	data, err := json.Marshal(map[string]any{"taskId": t.ID(), "rule": rule.Name, "at": at})
	if err != nil {
		return err
	}
	return outbox.Enqueue(h.unlimited(), outbox.Job{Kind: EscalationJob, Due: at, Fixed: true, Data: data})
}

// run carries out a rule, unless the task has ended, its model no longer has such a rule, or it has been carried out: a job
// may come twice.
func (p escalateParams) run(e *env, _ engine.Void) (engine.Void, error) {
	none := engine.Void{}
	t, err := e.escalating(p.Task)
	if t == nil || err != nil {
		return none, err
	}
	rule := t.Node.Task.Escalation(p.Rule)
	if rule == nil || t.Escalated(p.Rule, p.At) {
		return none, nil
	}
	h := &host{env: e, instance: t.Instance, last: t}
	if err := t.NoteEscalated(h.unlimited(), p.Rule, p.At); err != nil {
		return none, err
	}
	holds, err := h.holds(t.Node, rule.When.Text)
	if err != nil {
		return none, fault.Wrap(err, "node %s: escalation %s", t.Node.ID, rule.Name)
	}
	if holds {
		if err := h.escalate(t, rule); err != nil {
			return none, err
		}
	}
	if rule.Every == 0 {
		return none, nil
	}
	// Runs that were missed while the server was down are not made up for.
	next := p.At.Add(rule.Every)
	if late := e.Now.Sub(next); late > 0 {
		next = next.Add(late - late%rule.Every + rule.Every)
	}
	return none, h.planRule(t, rule, next)
}

// escalating finds a task that is open, with its node; nil if there no longer is anything to escalate.
func (e *env) escalating(id string) (*workflow.Task, error) {
	d, err := e.unlimited().Doc(storage.Ref(id))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := e.task(d)
	if err != nil || t.MustBeOpen() != nil || t.Instance == nil || t.Node == nil || t.Node.Task == nil {
		return nil, err
	}
	return t, nil
}

// escalate does what a rule says. What the chain has ended is left alone.
func (h *host) escalate(t *workflow.Task, rule *workflow.Escalation) error {
	if err := h.fire("workflowTaskEscalated", t); err != nil {
		return err
	}
	if rule.Remind {
		if err := h.remind(t); err != nil {
			return err
		}
	}
	if rule.Chain.Text != "" {
		if err := h.runChain(t.Node, rule.Chain.Text, false); err != nil {
			return err
		}
	}
	if rule.Button == "" {
		return nil
	}
	now, err := h.escalating(t.ID())
	if now == nil || err != nil {
		return err
	}
	_, err = h.end(now, ending{action: rule.Button})
	return err
}

// remind tells those who have a task that it waits for them.
func (h *host) remind(t *workflow.Task) error {
	docs, err := h.subjects(t)
	if err != nil {
		return err
	}
	due, _ := t.Doc.Get("nt:dueDate")
	at, _ := due.(time.Time)
	m := mail.Mail{To: append(t.Actors(), t.Delegated()...), Template: "taskReminder", Data: map[string]any{
		"task": h.models.Text("", t.Name()), "taskId": t.ID(), "due": expr.Text(due), "late": h.Now.After(at),
	}}
	if len(docs) > 0 {
		m.Doc = docs[0].ID()
		m.Data["title"], m.Data["path"], m.Data["id"] = docs[0].Title(), docs[0].Path(), m.Doc
	}
	_, err = mail.Send(h.unlimited(), m)
	if fault.Is(err, fault.Limit) { // as when the task was given
		h.Log.Warn("task: no reminder is sent", "task", t.ID(), "error", err)
		return nil
	}
	return err
}
