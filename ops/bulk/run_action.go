package bulk

import (
	"encoding/json"
	"maps"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/outbox"
)

var runAction = engine.Op{
	Name:     "Bulk.RunAction",
	Label:    "Run a bulk command",
	Category: "Services",
	Doc: "Runs an action on all results of a query or page provider, as the caller, after the commit, in batches; " +
		"returns the identifier of the command immediately. Actions: automation, csvExport (parameters schemas, xpaths and fileName), deletion, removeProxy, setProperties, trash.",
	Callers: engine.Anyone,
	Result:  openapi.Ref("BulkStatus"),
	Run:     engine.On(runParams.run).As("void", "bulkstatus"),
}

type runParams struct {
	Action   string         `json:"action" doc:"Name of the action."`
	Batch    int            `json:"batchSize" type:"int" default:"0" doc:"Number of documents per transaction, at most 500; 0 means 100."`
	Bucket   int            `json:"bucketSize" type:"int" default:"0" unused:"true" doc:"Accepted but ignored."`
	Named    map[string]any `json:"namedParameters,omitzero" type:"properties" doc:"Named parameters of the query."`
	Params   string         `json:"parameters,omitzero" doc:"Parameters of the action, a JSON object."`
	Provider string         `json:"providerName,omitzero" doc:"Page provider that finds the documents."`
	Query    string         `json:"query,omitzero" names:"query" doc:"Query that finds the documents."`
	Args     []string       `json:"queryParams,omitzero" doc:"Values for the question marks of the query."`
	Except   []string       `json:"excludeDocs,omitzero" doc:"Identifiers of documents to leave out, at most 1000."`
	Filters  []string       `json:"quickFilters,omitzero" doc:"Quick filters of the page provider."`
	Repo     string         `json:"repositoryName,omitzero" doc:"The repository; if given, it must be the one the request is sent to."`
}

// maxExcept is how many documents may be left out: each is looked for in the list for each document that is found.
const maxExcept = 1000

func (p runParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	switch here := c.Tx.Repo().Name(); {
	// A call has one repository, that of its address. Running the command there although another
	// one was named would change the wrong documents.
	case p.Repo != "" && p.Repo != here:
		return nil, fault.Invalid.Errorf("repositoryName: the request was sent to repository %s", here).In("repositoryName")
	case p.Query == "" && p.Provider == "":
		return nil, fault.Invalid.Errorf("query: neither query nor providerName is given").In("query")
	case p.Batch < 0 || p.Batch > maxBatch:
		return nil, fault.Invalid.Errorf("batchSize: %d is not between 0 and %d", p.Batch, maxBatch).In("batchSize")
	case len(p.Except) > maxExcept:
		return nil, fault.Limit.Errorf("excludeDocs: %d documents, limit %d", len(p.Except), maxExcept).In("excludeDocs")
	}
	cmd := &command{Action: p.Action, Batch: p.Batch, Query: query{p.Query, p.Provider, p.Args, p.Named, p.Filters, p.Except, nil}}
	if p.Params != "" {
		v, err := engine.ParseJSON([]byte(p.Params))
		params, ok := v.(map[string]any)
		if err != nil || !ok {
			return nil, fault.Invalid.Errorf("parameters: must be a JSON object").In("parameters")
		}
		cmd.Params = params
	}
	return cmd.submit(c)
}

// submit keeps a command and has it carried out after the commit. The command and its two jobs are
// written with the transaction of the call: either all exist or none does.
func (cmd *command) submit(c *engine.Ctx) (map[string]any, error) {
	a, ok := actions[cmd.Action]
	if !ok {
		return nil, fault.Missing("bulk action", cmd.Action, maps.Keys(actions)).In("action")
	}
	if err := a.check(c, cmd.Params); err != nil {
		return nil, err
	}
	if cmd.Batch == 0 {
		cmd.Batch = usual
	}
	// The id is new for each attempt of the transaction, so a client sees only that of the attempt
	// that was committed.
	cmd.ID, cmd.Actor, cmd.State, cmd.Submitted = c.NewID(), credential.ActorOf(c.As), scheduled, c.Now
	data, err := json.Marshal(order{Command: cmd.ID})
	if err != nil {
		return nil, err
	}
	forget, err := json.Marshal(order{Command: cmd.ID, Forget: true})
	if err != nil {
		return nil, err
	}
	for _, j := range []outbox.Job{{Kind: JobKind, Data: data}, {Kind: JobKind, Data: forget, Due: c.Now.Add(kept)}} {
		if err := outbox.Enqueue(c.Tx, j); err != nil {
			return nil, err
		}
	}
	return cmd.shown(""), cmd.put(c.Tx)
}
