package workflow

import (
	"strings"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
)

func getTaskNames(ms models) engine.Op {
	return engine.Op{
		Name:     "Context.GetTaskNames",
		Label:    "Get Task Translated Names",
		Category: context,
		Doc: "Returns one task for each distinct name among the open workflow tasks that the caller may complete. Their titles contain, in the language, the " +
			"names of the workflow and the task.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run:     on(ms, getTaskNamesParams.run),
	}
}

type getTaskNamesParams struct {
	Language string `json:"lang,omitzero" doc:"Language of the titles; English by default."`
	Limit    int    `json:"limit" default:"-1" type:"int" doc:"Maximum number of names; less than 1 means no limit."`
	Search   string `json:"searchTerm,omitzero" doc:"Prefix of the name, in the language; case-sensitive."`
	Value    string `json:"value,omitzero" doc:"The exact name in the workflow; overrides searchTerm."`
	Xpath    string `json:"xpath,omitzero" unused:"true" doc:"Accepted but ignored."`
}

func (p getTaskNamesParams) run(e *env, _ engine.Void) (storage.Docs, error) {
	// One page of the oldest tasks is searched; names that only occur behind it are not found.
	page, err := workflow.Tasks(e.Tx, workflow.Filter{Actors: workflow.Names(e.As)}, storage.PageOptions{CountLimit: -1})
	if err != nil {
		return nil, err
	}
	if err := workflow.Ahead(e.Tx, page.Docs); err != nil {
		return nil, err
	}
	out, seen := storage.Docs{}, map[string]bool{}
	for _, d := range page.Docs {
		t, err := workflow.OpenTask(e.unlimited(), e.models, d)
		if err != nil {
			return nil, err
		}
		label := e.models.Text(p.Language, t.Name())
		switch {
		// Tasks outside of workflows have no model whose texts could name them.
		case t.Instance == nil || seen[t.Name()],
			p.Value != "" && t.Name() != p.Value,
			p.Value == "" && !strings.HasPrefix(label, p.Search):
			continue
		}
		seen[t.Name()] = true
		// The title changes only in memory, as in the platform. A chain that saves the document
		// would store it.
		if err := d.Set("dc:title", "["+e.models.Text(p.Language, t.Instance.Title())+"] "+label); err != nil {
			return nil, err
		}
		if out = append(out, d); p.Value != "" || len(out) == p.Limit {
			break
		}
	}
	return out, nil
}
