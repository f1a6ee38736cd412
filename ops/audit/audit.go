// Package audit holds operations on what has happened: writing to the server's log and the audit log, firing events,
// searching the audit log, and traces of calls. What is recorded of itself, and who may read it, is storage's
// business.
//
// The audit log cannot be changed by operations, only added to: entries that a client writes are marked as
// such, so they cannot be taken for the server's own; so are those that administrators restore from a file.
package audit

import (
	"catena/engine"
)

// Ops are the audit operations.
var Ops = []engine.Op{
	activity,
	fire,
	getTrace,
	logEvent,
	logMessage,
	queryAudit,
	queryPage,
	restore,
	toggleRecording,
	toggleStack,
}
