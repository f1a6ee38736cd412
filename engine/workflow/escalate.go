package workflow

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"catena/storage"
	"catena/storage/declare"
)

// Escalation is what happens to a task that is open when it should have been ended, or is about to be due.
type Escalation struct {
	Name   string
	After  time.Duration // after the task is due; negative: before
	Every  time.Duration // again after each, as long as the task is open; 0: once
	When   declare.Name  // expression that must hold; "": always
	Remind bool          // those who have the task are told by mail
	Chain  declare.Name  // operation that runs on the documents, with the rights of the server; "": none
	Button string        // by which the server ends the task; "": it stays open
	at     declare.Position
}

// shortest is the shortest interval of an escalation.
const shortest = time.Minute

// Escalation finds a rule by its name, nil if there is none.
func (t *TaskDef) Escalation(name string) *Escalation {
	for _, e := range t.Escalations {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// escalations reads the rules of a task by name.
func (r *reader) escalations(t *TaskDef) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.Pairs(n, func(key, n *yaml.Node) {
			e := &Escalation{Name: key.Value, at: r.At(key)}
			r.Each(n, declare.Keys{
				"after": r.duration(&e.After), "every": r.duration(&e.Every), "when": r.expression(&e.When),
				"remind": r.Flag(&e.Remind), "chain": r.Word(&e.Chain), "end": r.Text(&e.Button),
			})
			t.Escalations = append(t.Escalations, e)
		})
	}
}

func (r *reader) duration(into *time.Duration) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d, err := time.ParseDuration(n.Value)
		if err != nil {
			r.Fail(r.At(n), "%q: must be a duration such as 36h, or -24h for before", n.Value)
		}
		*into = d
	}
}

// checkEscalations tells what is wrong with the rules of a task.
func (r *reader) checkEscalations(t *TaskDef, subject string) {
	for _, e := range t.Escalations {
		switch {
		case !e.Remind && e.Chain.Text == "" && e.Button == "":
			r.Fail(e.at, "%s: escalation %s: must have remind, chain or end", subject, e.Name)
		case e.Every != 0 && e.Every < shortest:
			r.Fail(e.at, "%s: escalation %s: every: must be at least %s", subject, e.Name, shortest)
		case e.Button != "" && e.Every != 0:
			r.Fail(e.at, "%s: escalation %s: must not have both end and every", subject, e.Name)
		case e.Button != "" && !slices.ContainsFunc(t.Buttons, func(b *Button) bool { return b.Name == e.Button }):
			r.Fail(e.at, "%s: escalation %s: end: no button %q", subject, e.Name, e.Button)
		}
	}
}

// escalated begins the names of the variables of a task that tell which runs of its rules were made.
const escalated = "escalated:"

// Escalated reports whether the run of a rule that was due at an instant was made, or a later one.
func (t *Task) Escalated(rule string, at time.Time) bool {
	last, err := time.Parse(time.RFC3339Nano, t.Variable(escalated+rule))
	return err == nil && !last.Before(at)
}

// NoteEscalated notes that the run of a rule is made. The transaction is the server's.
func (t *Task) NoteEscalated(tx *storage.Tx, rule string, at time.Time) error {
	list := slices.Clone(storage.Prop[[]any](t.Doc, "nt:task_variables"))
	list = slices.DeleteFunc(list, func(item any) bool {
		m, ok := item.(map[string]any)
		return ok && m["key"] == escalated+rule
	})
	err := t.Doc.Set("nt:task_variables", append(list, map[string]any{"key": escalated + rule, "value": at.UTC().Format(time.RFC3339Nano)}))
	if err == nil {
		t.Doc, err = tx.Save(t.Doc, storage.SaveOptions{Quiet: true})
	}
	return err
}
