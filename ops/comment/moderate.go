package comment

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

var moderate = engine.Op{
	Name:     "Comment.Moderate",
	Label:    "Follow publish or reject transition",
	Category: "Document",
	Doc:      "Publishes or rejects the comment that the moderation task in the context variable taskDocument names in its variable commentId, and returns the input.",
	Callers:  engine.Anyone,
	Run:      engine.Each(moderateParams.run),
}

type moderateParams struct {
	Accept bool `json:"accept" doc:"True publishes, false rejects."`
}

func (p moderateParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	task, ok := c.Vars["taskDocument"].(*storage.Doc)
	if !ok || !workflow.IsTask(task) {
		return nil, fault.Invalid.Errorf("variable taskDocument: does not hold a task").In("taskDocument")
	}
	// A script may have changed the document in memory: what counts is what is stored.
	task, err := c.Tx.Reload(task)
	if err != nil {
		return nil, err
	}
	t := &workflow.Task{Doc: task}
	id := t.Variable("commentId")
	if id == "" || t.Step() != "" { // what those of steps say is not the server's alone
		return nil, fault.Invalid.Errorf("task %s: does not name a comment", task.ID()).In("taskDocument")
	}
	if err := p.mayDecide(c, t); err != nil {
		return nil, err
	}
	tx := unlimited(c)
	found, err := tx.Doc(storage.Ref(id))
	if err != nil {
		return nil, err
	}
	if t := found.Type().Name; t != typeName && t != noteType {
		return nil, fault.Invalid.Errorf("document %s: not a comment", id)
	}
	transition := "moderation_reject"
	if p.Accept {
		transition = "moderation_publish"
	}
	if _, err := tx.Follow(found, transition); err != nil {
		return nil, err
	}
	return d, nil
}

// mayDecide refuses unless the caller may end the task. Once it has ended, what it was ended with may also be carried
// out by its initiator, whom the chains of a task act as.
func (p moderateParams) mayDecide(c *engine.Ctx, t *workflow.Task) error {
	status := "reject"
	if p.Accept {
		status = "accept"
	}
	if t.MustBeOpen() != nil && t.Variable("status") == status {
		return t.MayHandOn(c.As)
	}
	return t.MayEnd(c.As)
}
