package upload

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/fault"
	"catena/storage/upload"
)

// There is one handler. The platform has others that upload directly to the stores of cloud
// providers; its client asks which there are before it uploads.
var handlers = engine.Op{
	Name:     "Upload.Handlers",
	Label:    "Upload Handlers",
	Category: "Upload",
	Doc:      "Returns the upload handlers.",
	Effect:   engine.Pure,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("UploadHandlers"),
	Run:      engine.On(handlersParams.run).As("void", "map"),
}

type handlersParams struct{}

func (handlersParams) run(*engine.Ctx, engine.Void) (map[string]any, error) {
	return map[string]any{"handlers": []any{map[string]any{"name": upload.Handler}}}, nil
}

var handler = engine.Op{
	Name:     "Upload.Handler",
	Label:    "Upload Handler",
	Category: "Upload",
	Doc:      "Returns an upload handler.",
	Effect:   engine.Pure,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("UploadHandler"),
	Run:      engine.On(handlerParams.run).As("void", "map"),
}

type handlerParams struct {
	Name string `json:"name" doc:"Name of the handler."`
}

func (p handlerParams) run(*engine.Ctx, engine.Void) (map[string]any, error) {
	if p.Name != upload.Handler {
		return nil, fault.NotFound.Errorf("upload handler %s", p.Name)
	}
	return map[string]any{"name": p.Name}, nil
}
