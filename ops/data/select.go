package data

import (
	"encoding/json"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/jsonpath"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
)

var selects = engine.Op{
	Name: "Data.Select", Label: "Select parts of a value", Category: "Data", Effect: engine.Reads, Callers: engine.Anyone,
	Doc: "Returns the list of all parts of a value that a JSONPath query (RFC 9535) selects, such as $.lines[?@.price > 100].title. " +
		"The value is a list or map, as Data.Read and Http.Request return it, or a file or text of JSON.",
	Result: openapi.Ref("Value"),
	Run: engine.Overload(
		engine.On(func(p selectParams, c *engine.Ctx, text string) (any, error) { return p.parse(c, []byte(text)) }),
		engine.On(func(p selectParams, c *engine.Ctx, b *storage.Blob) (any, error) {
			text, err := b.Bytes(maxFile)
			if err != nil {
				return nil, err
			}
			return p.parse(c, text)
		}),
		engine.On(func(p selectParams, c *engine.Ctx, v any) (any, error) {
			// Values of the engine, such as documents, are selected from as JSON shows them.
			text, err := entity.AppendPlain(nil, v)
			if err != nil {
				return nil, err
			}
			return p.parse(c, text)
		}),
	),
}

type selectParams struct {
	Path  string `json:"path" doc:"The query; $ is the value."`
	First bool   `json:"first,omitzero" doc:"Returns the first part in place of the list, or nothing if there is none."`
}

func (p selectParams) parse(c *engine.Ctx, text []byte) (any, error) {
	q, err := jsonpath.Parse(p.Path)
	if err != nil {
		return nil, fault.Wrap(err, "path").In("path")
	}
	if len(text) > maxFile {
		return nil, fault.Limit.Errorf("more than %d bytes", maxFile)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fault.Invalid.Errorf("JSON: %w", err)
	}
	out, err := q.Select(v, c.Check)
	if err != nil {
		return nil, fault.Wrap(err, "path").In("path")
	}
	switch {
	case !p.First:
		return append([]any{}, out...), nil
	case len(out) == 0:
		return nil, nil
	}
	return out[0], nil
}
