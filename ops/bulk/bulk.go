// Package bulk holds operations on all results of a query, however many: a command is stored as a row, its documents
// are found once, and a job processes them in batches of one transaction each. A server that stops goes on with the
// batch after the last one that was committed.
//
// A command passes through the states below. Finding the documents is a step of its own: the ids are stored
// in batches, so that the action may change what the query finds. Each batch is one job in one transaction,
// together with the progress that it adds to the command. What fails for one document is undone for that document and counted, so that one that cannot be changed does not hold up the others.
package bulk

import (
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
)

// Ops are the bulk operations.
var Ops = []engine.Op{
	abort,
	act,
	get,
	load,
	result,
	runAction,
	wait,
}

// The states of a command.
const (
	scheduled = "SCHEDULED"
	scrolling = "SCROLLING_RUNNING"
	running   = "RUNNING"
	completed = "COMPLETED"
	aborted   = "ABORTED"
)

const (
	table     = "bulk"
	listTable = "bulk documents" // of a command, in batches
	maxBatch  = 500
	usual     = 100
	maxDocs   = 500_000
	kept      = 7 * 24 * time.Hour
)

// command is how a command is kept.
type command struct {
	credential.Actor

	ID, Action string
	Params     map[string]any
	Query      query
	Batch      int

	State                                                       string
	Processed, Skipped, Errors, Total, Next                     int // Next: number of the next batch
	Failure                                                     string
	Submitted, ScrollStart, ScrollEnd, WorkStart, WorkEnd, Done time.Time
	Millis                                                      int64
	Result                                                      map[string]any
	File                                                        *storage.Blob // what the command made
}

// query finds the documents of a command.
type query struct {
	Text, Provider string
	Args           []string
	Named          map[string]any
	Filters        []string
	IDs            []string // or they are given
}

func (c *command) over() bool { return c.State == completed || c.State == aborted }

// shown is the command as clients know it; base is the server's address for them.
func (c *command) shown(base string) map[string]any {
	m := map[string]any{
		"entity-type": "bulkStatus", "commandId": c.ID, "state": c.State, "processed": c.Processed, "skipCount": c.Skipped,
		"error": c.Errors > 0 || c.Failure != "", "errorCount": c.Errors, "total": c.Total, "action": c.Action, "username": c.User,
		"processingMillis": c.Millis,
	}
	if c.Failure != "" {
		m["errorMessage"] = c.Failure
	}
	switch {
	case c.File != nil:
		m["result"] = map[string]any{"url": base + "/api/v1/bulk/" + c.ID + "/result", "filename": c.File.Name, "length": c.File.Size}
	case c.Result != nil:
		m["result"] = c.Result
	default:
		m["result"] = map[string]any{}
	}
	for name, t := range map[string]time.Time{
		"submitted": c.Submitted, "scrollStart": c.ScrollStart, "scrollEnd": c.ScrollEnd,
		"processingStart": c.WorkStart, "processingEnd": c.WorkEnd, "completed": c.Done,
	} {
		if m[name] = nil; !t.IsZero() {
			m[name] = t
		}
	}
	return m
}

// find returns a command of the caller; administrators see all.
func find(tx *storage.Tx, id string) (*command, error) {
	c := &command{}
	missing := fault.NotFound.Errorf("bulk command %s", id)
	if id == "" {
		return nil, missing
	}
	ok, err := tx.Table(table).Get(id, c)
	if err != nil {
		return nil, err
	}
	as := tx.Principal()
	if !ok || !c.Is(as) && !as.Admin && !as.System {
		return nil, missing
	}
	return c, nil
}

func (c *command) put(tx *storage.Tx) error { return tx.Table(table).Put(c.ID, c) }
