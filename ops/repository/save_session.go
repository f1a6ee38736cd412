package repository

import (
	"catena/engine"
)

var saveSession = engine.Op{
	Name:     "Repository.SaveSession",
	Aliases:  []string{"Document.SaveSession"},
	Label:    "Save Session",
	Category: "Execution Flow",
	Doc: "Returns its input. Every change is immediately visible to the following steps and is stored when the call ends, " +
		"so there is nothing to flush; unsaved changes to documents remain unsaved.",
	Effect:  engine.Pure,
	Callers: engine.Anyone,
	Run:     engine.On(saveSessionParams.run),
}

type saveSessionParams struct{}

// Chains of the platform call it between steps to make changes visible; here they always are, so
// the operation has nothing to do.
func (saveSessionParams) run(*engine.Ctx, engine.Void) (engine.Void, error) {
	return engine.Void{}, nil
}
