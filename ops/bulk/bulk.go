// Package bulk holds operations on all results of a query, however many: a command is stored as a row, its documents
// are found once, and a job processes them in batches of one transaction each. A server that stops goes on with the
// batch after the last one that was committed.
//
// A command passes through the states below. Finding the documents is a step of its own: the ids are stored
// in batches, so that the action may change what the query finds. Each batch is one job in one transaction,
// together with the progress that it adds to the command. What fails for one document is undone for that document and counted, so that one that cannot be changed does not hold up the others.
package bulk

import (
	"slices"
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
	csvLog,
	csvResult,
	csvStatus,
	get,
	importCSV,
	load,
	result,
	runAction,
	wait,
}

// The states of a command. They are the platform's, and clients poll until one of the last two. A
// command that failed as a whole is ABORTED with a message; one of which single documents failed is
// COMPLETED with a number of errors.
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
	// Documents in one transaction: at most, and by default. A larger batch holds more locks for
	// longer, conflicts more often, and is then done again from its start.
	maxBatch = 500
	usual    = 100
	// The ids are in memory as a whole while they are found, at some 100 bytes each.
	maxDocs = 500_000
	// Counted from the last change of the command, so that one that works for longer is not forgotten meanwhile.
	kept = 7 * 24 * time.Hour
)

// command is how a command is kept. Its JSON is a format on disk: a server must be able to go on with
// the commands of the version before it. Actor is the caller, whose rights are read again for each
// batch; the password or key that signed the caller in must still stand.
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
	Changed                                                     time.Time `json:",omitzero"` // when a worker wrote it last
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
	Except         []string `json:",omitempty"` // identifiers of those that are left out
	IDs            []string // or they are given
}

// last is when the command changed last.
func (c *command) last() time.Time {
	return slices.MaxFunc([]time.Time{c.Submitted, c.Changed, c.Done}, time.Time.Compare)
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

// find returns a command of the caller; administrators see all. A command of somebody else is answered
// as if it did not exist, so that ids cannot be tried out. The system is let through for the worker,
// which reads commands in transactions of the server.
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
