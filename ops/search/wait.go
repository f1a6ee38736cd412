package search

import "catena/engine"

var wait = engine.Op{
	Name:     "Elasticsearch.WaitForIndexing",
	Label:    "Wait for Indexing",
	Category: category,
	Doc: "Returns true. Clients call it before searching on servers whose index lags behind; on this server a search " +
		"finds everything committed before it starts.",
	Effect:  engine.Pure,
	Callers: engine.Anyone,
	Run:     engine.On(waitParams.run),
}

type waitParams struct {
	Timeout int64 `json:"timeoutSecond" default:"300" unused:"true" doc:"Accepted but ignored: there is nothing to wait for."`
	Refresh bool  `json:"refresh" default:"false" unused:"true" doc:"Accepted but ignored."`
	Audit   bool  `json:"waitForAudit" default:"false" unused:"true" doc:"Accepted but ignored."`
	Bulk    bool  `json:"waitForBulkService" default:"false" unused:"true" doc:"Accepted but ignored."`
}

// The index is written by the transaction of the document, so there is no delay to wait for.
func (waitParams) run(*engine.Ctx, engine.Void) (bool, error) { return true, nil }
