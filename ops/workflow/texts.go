package workflow

import (
	"catena/engine"
	"catena/engine/openapi"
)

func modelTexts(ms models) engine.Op {
	return engine.Op{
		Name:     "WorkflowModel.Texts",
		Label:    "Texts of workflows",
		Category: services,
		Doc:      "Returns the texts of the titles, directives and labels of workflows in a language, by key.",
		Effect:   engine.Pure,
		Callers:  engine.Anyone,
		Result:   map[string]any{"type": "object", "additionalProperties": openapi.Type("string")},
		Run: on(ms, func(p textsParams, e *env, _ engine.Void) (map[string]any, error) {
			return e.models.Texts(p.Language), nil
		}),
	}
}

type textsParams struct {
	Language string `json:"language,omitzero" doc:"The language, as in Accept-Language; English by default."`
}
