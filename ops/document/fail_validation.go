package document

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var failValidation = engine.Op{
	Name:     "Document.FailValidation",
	Label:    "Fail Validation",
	Category: "Document",
	Doc: "Fails with a message about the document as a whole, which front ends show in its form like those of constraints. " +
		"Listeners to aboutToCreate and beforeDocumentModification refuse a change with it.",
	Effect:  engine.Pure,
	Callers: engine.Anyone,
	Run:     engine.On(failParams.run),
}

type failParams struct {
	Message string `json:"message" doc:"Why the document is not valid: a text, or the key of a translated text of the front end."`
}

func (p failParams) run(_ *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	found := storage.Violations{{Message: p.Message}}
	return nil, fault.Invalid.Errorf("document %s: %w", d.Path(), found).WithCode(fault.CodeValidation)
}
