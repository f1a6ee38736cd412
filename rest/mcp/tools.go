package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// declare describes a tool: its input is a part of the operation's parameters.
func (t *tool) declare(set *engine.Set) (*mcp.Tool, error) {
	d, ok := set.Op(t.op)
	if !ok {
		return nil, fault.NotFound.Errorf("operation %s", t.op)
	}
	hints := t.hints
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: d.Doc, Annotations: &hints,
		InputSchema: t.input(d.Schema()), OutputSchema: t.result(),
	}, nil
}

func (t *tool) input(s *jsonschema.Schema) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for name := range strings.FieldsSeq(t.params) {
		if p, ok := s.Properties.Get(name); ok {
			out.Properties.Set(name, p)
		}
		for _, required := range s.Required {
			if required == name {
				out.Required = append(out.Required, name)
			}
		}
	}
	out.Required = append(out.Required, strings.Fields(t.required)...)
	if t.waits {
		out.Properties.Set(waitParam, waitSchema())
	}
	return out
}

func (t *tool) result() *jsonschema.Schema {
	if t.items == "" {
		return object(t.output)
	}
	list := object("data:array meta:object")
	list.Properties.Set("data", &jsonschema.Schema{Type: "array", Items: object(t.items)})
	list.Properties.Set("meta", object(t.meta))
	return list
}

// object is the schema of an object with fields, all of which are there.
func object(fields string) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	for field := range strings.FieldsSeq(fields) {
		name, typ, _ := strings.Cut(field, ":")
		of := &jsonschema.Schema{Type: strings.TrimSuffix(typ, "?")}
		if of.Type != typ {
			of = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{of, {Type: "null"}}}
		}
		out.Properties.Set(name, of)
		out.Required = append(out.Required, name)
	}
	return out
}

// deckTool runs the operation of a tool.
func (c *Config) deckTool(t *tool, schema any) toolFunc {
	kinds := map[string]string{}
	if s, ok := schema.(*jsonschema.Schema); ok {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			kinds[p.Key] = p.Value.Type
		}
	}
	return func(ctx context.Context, args json.RawMessage) *result {
		params, err := arguments(args)
		if err != nil {
			return failed(err)
		}
		for name, v := range params {
			kind, known := kinds[name]
			if !known {
				return failed(fault.Invalid.Errorf("%q: %s does not have this argument, %s", name, t.name, t.takes()).WithCode(fault.CodeUnknownField))
			}
			if name != waitParam && !isA(v, kind) {
				return failed(fault.Invalid.Errorf("%s: must be of type %s", name, kind).WithCode(fault.CodeInvalidType))
			}
		}
		wait, err := waitOf(params)
		if err != nil {
			return failed(err)
		}
		if t.shaped {
			params["revision"] = "B"
		}
		base := c.Base(ctx)
		if t.shaped || t.placed {
			params["base"] = base
		}
		res, err := c.run(ctx, engine.Call{Op: t.op, Params: params, Encode: t.encode, Quotes: true})
		if err == nil && wait > 0 {
			res, err = c.await(ctx, t, res, base, wait)
		}
		if err != nil {
			return failed(err)
		}
		r := &result{texts: append([]string{string(res.Body)}, remarks(res)...), structured: res.Body}
		return t.bounded(r, res)
	}
}

// isA reports whether a value is of a type of JSON Schema; null stands for none.
func isA(v any, kind string) bool {
	switch v := v.(type) {
	case string:
		return kind != "integer" && kind != "number" && kind != "boolean"
	case bool:
		return kind != "integer" && kind != "number" && kind != "string"
	case int64:
		return kind != "string" && kind != "boolean"
	case float64:
		return kind != "string" && kind != "boolean" && (kind != "integer" || v == math.Trunc(v))
	}
	return true
}

// remarks are what a model is told besides the result.
func remarks(res *engine.Result) (out []string) {
	if removed := sanitized(res.Value); removed != "" {
		out = append(out, "Removed from the HTML as active content: "+removed)
	}
	switch e := exportOf(res); {
	case e["format"] == nil:
	case e["status"] == "pending":
		out = append(out, fmt.Sprintf("Still pending: call get_export with deck_id %v, id %v and %s %d to wait until it is finished.", e["deck_id"], e["id"], waitParam, maxWait))
	case e["status"] == "failed":
		if f, ok := e["error"].(map[string]any); ok {
			out = append(out, fmt.Sprintf("Failed, %v: %v. Create another export once that is fixed.", f["code"], f["message"]))
		}
	}
	return out
}

// takes says which arguments there are.
func (t *tool) takes() string {
	if t.params == "" {
		return "which accepts none"
	}
	if t.waits {
		return "only " + t.params + " " + waitParam
	}
	return "only " + t.params
}

func (t *tool) encode(_ *engine.Ctx, v any) ([]byte, error) {
	if m, ok := v.(map[string]any); ok && t.items == "" {
		v = m["data"]
	}
	return encode(v)
}

func encode(v any) ([]byte, error) { return entity.AppendPlain(nil, v) }

// sanitized lists what was taken out of a deck's HTML.
func sanitized(v any) string {
	m, _ := v.(map[string]any)
	meta, _ := m["meta"].(map[string]any)
	list, _ := meta["sanitized"].([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

// arguments reads the arguments of a call strictly.
func arguments(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	v, err := engine.ParseJSON(raw)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fault.Invalid.Errorf("arguments: must be an object")
	}
	return m, nil
}

// run carries out a call for the caller.
func (c *Config) run(ctx context.Context, call engine.Call) (*engine.Result, error) {
	return c.runIn(ctx, c.Engine, call)
}

// runIn is run in the repository of an engine.
func (c *Config) runIn(ctx context.Context, e *engine.Engine, call engine.Call) (*engine.Result, error) {
	call.As, call.EntryPoint = c.As(ctx), engine.MCP
	call.Remote, call.RequestID = c.From(ctx)
	return e.Run(ctx, call)
}
