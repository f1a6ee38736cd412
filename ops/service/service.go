// Package service holds small operations beside the content: the actions that a user interface may offer for a
// document, the server's counters, log
// level and state, and parameters stored on a document that apply to everything below it. Actions are declared in YAML, built-in ones and those of a server.
//
// Actions are a list of what a user interface may show for a document; each has conditions, which are
// evaluated for the caller. Whether an action succeeds is decided by the operation it names, not here.
package service

import (
	"encoding/json"
	"log/slog"

	"catena/engine"
	"catena/storage"
)

// Config is what the operations know of the server.
type Config struct {
	Actions func() Actions // nil: the built-in ones
	Level   *slog.LevelVar // of the server's log; nil: there is no log
	Server  *Server        // nil: nothing is known of it
}

// Ops returns the service operations of a server.
func Ops(c Config) []engine.Op {
	actions, level := c.Actions, c.Level
	if actions == nil {
		actions = builtin
	}
	// A level that nobody looks at, so that the operation exists with the same answer on every
	// server.
	if level == nil {
		level = &slog.LevelVar{}
	}
	server := c.Server
	if server == nil {
		server = &Server{}
	}
	return append(serverOps(server),
		getActions(actions),
		getCounters,
		logLevel(level),
		putParameter,
		putParameters,
		setParameterAsVar,
	)
}

// jsonFile is an answer in JSON, as a file.
func jsonFile(name string, v any) (*storage.Blob, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob(name, "application/json", data), nil
}
