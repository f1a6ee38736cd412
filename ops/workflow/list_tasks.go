package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

func listTasks(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.List",
		Label:    "Tasks",
		Category: services,
		Doc: "Returns the open tasks of the caller, the caller's groups and those delegated to the caller, oldest first; with an input, " +
			"only those on the input documents. With a user or a workflow, it returns the tasks of that user, or of all users, that the caller may read.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run: engine.Overload(
			on(ms, func(p listTasksParams, e *env, _ engine.Void) (*workflow.TaskPage, error) { return p.run(e, nil) }),
			on(ms, func(p listTasksParams, e *env, d *storage.Doc) (*workflow.TaskPage, error) {
				return p.run(e, []string{d.ID()})
			}),
			on(ms, func(p listTasksParams, e *env, docs storage.Docs) (*workflow.TaskPage, error) {
				return p.run(e, idsOf(docs))
			}),
		),
	}
}

type listTasksParams struct {
	User     string `json:"userId,omitzero" doc:"Actor of the tasks: a user, or a group with the prefix group:."`
	Instance string `json:"workflowInstanceId,omitzero" doc:"Only tasks of the workflow with this id."`
	Model    string `json:"workflowModelName,omitzero" doc:"Only tasks of workflows with this name. The result is then not paged."`
	Size     int    `json:"pageSize" default:"0" doc:"Maximum number of entries per page; 0 means the server's limit."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	Offset   int    `json:"offset" default:"0" doc:"Number of entries to skip."`
}

func (p listTasksParams) run(e *env, about []string) (*workflow.TaskPage, error) {
	f := workflow.Filter{Instance: p.Instance, Model: p.Model, Documents: about}
	switch {
	case p.User != "":
		names, err := e.namesOf(p.User)
		if err != nil {
			return nil, err
		}
		f.Actors = names
	// With a workflow and no user there is no filter by actor: the permission to read each task
	// decides alone.
	case p.Instance == "":
		f.Actors = workflow.Names(e.As)
	}
	o, err := p.options(e)
	if err != nil {
		return nil, err
	}
	page, err := workflow.Tasks(e.Tx, f, o)
	if err != nil {
		return nil, err
	}
	// The platform answers a search by model with a plain list, without the members of a page.
	return e.tasks(page, p.Model == "")
}

func idsOf(docs storage.Docs) []string {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = d.ID()
	}
	return out
}

// options are what storage is asked for: a page of bounded size.
func (p listTasksParams) options(e *env) (storage.PageOptions, error) {
	largest := e.Tx.Repo().Limits().PageSize
	o := storage.PageOptions{Limit: p.Size, Offset: p.Offset}
	if o.Limit <= 0 || o.Limit > largest {
		o.Limit = largest
	}
	from, err := engine.Offset(p.Index, o.Limit)
	switch {
	case err != nil:
		return o, err
	case p.Offset < 0:
		return o, fault.Invalid.Errorf("offset: must be at least 0").In("offset")
	case p.Offset == 0:
		o.Offset = from
	}
	return o, nil
}

// namesOf is what a user is called among the actors of tasks (the name itself and the user's groups), or a
// group. A user who does not exist has no tasks, which is not an error.
// The platform's clients pass names of groups with the prefix, and sometimes without it.
func (e *env) namesOf(who string) ([]string, error) {
	if names, err := workflow.Actors(e.unlimited(), []string{who}); err == nil && names[0] != "user:"+who {
		return names, nil
	}
	p, err := storage.PrincipalOf(e.unlimited(), who)
	if fault.Is(err, fault.NotFound) {
		return []string{"user:" + who}, nil // nobody has tasks under a name that there is not
	}
	if err != nil {
		return nil, err
	}
	return workflow.Names(p), nil
}

// tasks reads the tasks of a page.
func (e *env) tasks(page *storage.Page, paged bool) (*workflow.TaskPage, error) {
	out := &workflow.TaskPage{Tasks: []*workflow.Task{}}
	if paged {
		out.Page = page
	}
	for _, d := range page.Docs {
		t, err := e.task(d)
		if err != nil {
			return nil, err
		}
		out.Tasks = append(out.Tasks, t)
	}
	return out, nil
}
