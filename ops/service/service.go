// Package service holds the small operations beside the content: the actions that a user
// interface may offer for a document, the counters of the server and the level of its log, and parameters kept on
// documents that hold for what is below them. Actions are declared in YAML, built-in ones and those
// of a server.
package service

import (
	"encoding/json"
	"log/slog"

	"catena/engine"
	"catena/storage"
)

// Ops are the service operations with the built-in actions, and the level of no log.
var Ops = OpsWith(builtin(), &slog.LevelVar{})

// OpsWith returns the service operations with the actions given and the level of the server's log.
func OpsWith(actions Actions, level *slog.LevelVar) []engine.Op {
	return []engine.Op{
		getActions(actions),
		getCounters,
		logLevel(level),
		putParameter,
		putParameters,
		setParameterAsVar,
	}
}

// jsonFile is an answer in JSON, as a file.
func jsonFile(name string, v any) (*storage.Blob, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob(name, "application/json", data), nil
}
