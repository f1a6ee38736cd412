package repository

import (
	"catena/engine"
)

var saveSession = engine.Op{
	Name:     "Repository.SaveSession",
	Aliases:  []string{"Document.SaveSession"},
	Label:    "Save Session",
	Category: "Execution Flow",
	Doc: "Keeps its input. Here every change is visible to the steps that follow at once and stored when the call ends, " +
		"so there is nothing to flush; what was set on a document and not saved stays unsaved.",
	Effect: engine.Pure,
	Run:    engine.On(saveSessionParams.run),
}

type saveSessionParams struct{}

func (saveSessionParams) run(*engine.Ctx, engine.Void) (engine.Void, error) {
	return engine.Void{}, nil
}
