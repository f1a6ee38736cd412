package ops_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"catena/engine/scenario"
	"catena/rest/resttest"
)

// mcpEntryPoint calls operations as models do, with the tool run_operation. It sends no files.
type mcpEntryPoint struct {
	s         *resttest.Server
	described map[string]any // schemas of results by operation, as models get them; nil of what is not described
}

// mistold returns an error if a result is not what models are told that the operation returns.
func (d *mcpEntryPoint) mistold(ctx context.Context, user string, c scenario.Command, out scenario.Outcome) error {
	schema, known := d.described[c.Op]
	if !known {
		res, err := d.call(ctx, user, "describe_operation", map[string]any{"name": c.Op})
		if err != nil || res.IsError {
			return err // without one, the operation is gone now
		}
		var about struct{ Result any }
		if err := json.Unmarshal(res.StructuredContent, &about); err != nil {
			return err
		}
		schema = about.Result
		d.described[c.Op] = schema
	}
	if schema == nil || out.Failure != nil || out.Files != nil || c.DryRun {
		return nil
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("result.json", closed(schema)); err != nil {
		return err
	}
	s, err := compiler.Compile("result.json")
	if err == nil {
		err = s.Validate(out.Wire)
	}
	if err != nil {
		return fmt.Errorf("%s: the result is not what models are told: %w", c.Op, err)
	}
	return nil
}

func (d *mcpEntryPoint) Run(ctx context.Context, user string, c scenario.Command) scenario.Outcome {
	if len(c.Files) > 0 {
		return scenario.Outcome{Unsupported: true}
	}
	args := map[string]any{"operation": c.Op, "dryRun": c.DryRun, "properties": []string{"*"}}
	for name, raw := range map[string]json.RawMessage{"input": c.Input, "params": c.Params, "context": c.Vars} {
		if raw != nil {
			args[name] = raw
		}
	}
	res, err := d.call(ctx, user, "run_operation", args)
	if err != nil {
		return broken(err)
	}
	text := ""
	for _, part := range res.Content {
		text += part.Text
	}
	if res.IsError {
		return d.failure(res.Content[0].Text) // what follows is advice
	}
	v, err := plain(d.s, res.StructuredContent)
	if err != nil {
		return broken(fmt.Errorf("%w: %s", err, res.StructuredContent))
	}
	m, ok := v.(map[string]any)
	if !ok {
		return broken(fmt.Errorf("no object: %s", res.StructuredContent))
	}
	out := scenario.Outcome{Wire: m["result"], Changes: m["changes"]}
	if !c.DryRun && string(bytes.TrimSpace([]byte(text))) == "" {
		return broken(fmt.Errorf("no text beside %s", res.StructuredContent))
	}
	takeFiles(&out)
	if err := d.mistold(ctx, user, c, out); err != nil {
		return broken(err)
	}
	return out
}

// toolResult is the answer of a tool.
type toolResult struct {
	IsError bool
	Content []struct{ Text string }

	StructuredContent json.RawMessage
}

// call posts one request in the form without sessions.
func (d *mcpEntryPoint) call(ctx context.Context, user, tool string, args map[string]any) (*toolResult, error) {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.s.URL+"/mcp/automation", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(user, resttest.Password)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := d.s.Client().Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	var answer struct {
		Result *toolResult
		Error  json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", res.Status, err, body)
	}
	if answer.Result == nil {
		return nil, fmt.Errorf("%s: no result: %s", res.Status, body)
	}
	return answer.Result, nil
}

// failure reads "kind: message" or "kind (code): message".
func (d *mcpEntryPoint) failure(text string) scenario.Outcome {
	kind, message, _ := strings.Cut(text, ": ")
	kind, _, _ = strings.Cut(kind, " (")
	f := &scenario.Failure{Kinds: []string{kind}, Message: scenario.Cause(message, isOp(d.s))}
	if kind == "internal" {
		f.Message = ""
	}
	return scenario.Outcome{Failure: f}
}

// takeFiles moves files out of an answer that consists of them.
func takeFiles(out *scenario.Outcome) {
	if f, ok := fileIn(out.Wire); ok {
		out.Wire, out.Files = nil, []*scenario.File{f}
		return
	}
	list, _ := out.Wire.([]any)
	var files []*scenario.File
	for _, item := range list {
		f, ok := fileIn(item)
		if !ok {
			return
		}
		files = append(files, f)
	}
	if len(files) > 0 {
		out.Wire, out.Files, out.List = nil, files, true
	}
}

// fileIn reads a file that stands in JSON with its content.
func fileIn(v any) (*scenario.File, bool) {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	typ, _ := m["mime-type"].(string)
	if text, ok := m["data"].(string); ok && m["digest"] != nil {
		return scenario.Received(name, typ, []byte(text)), true
	}
	text, ok := m["base64"].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	return scenario.Received(name, typ, data), ok && err == nil
}
