package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
	"catena/storage/jsontext"
)

const (
	maxFound = 50
	maxFile  = 1 << 20 // bytes of a file whose content is shown
)

// addAutomation adds the tools that reach every operation.
func (c *Config) addAutomation(s *server) {
	hints := reading()
	reads := &hints
	s.add(&mcp.Tool{
		Name: "describe_operation", Title: "Describe operation", Annotations: reads,
		Description: "Returns the documentation of an operation with the JSON Schemas of its parameters and its result.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Name of the operation, for example Document.Create."}},"required":["name"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{
			"name":{"type":"string"},"aliases":{"type":"array","items":{"type":"string"}},"label":{"type":"string"},"category":{"type":"string"},
			"description":{"type":"string"},"signature":{"type":"array","items":{"type":"string"},"description":"Types of input and output in turn."},
			"effect":{"type":"string"},"params":{"type":"object","description":"JSON Schema of the parameters."},
			"result":{"type":"object","description":"JSON Schema of the result; left out of documents, files, any value, chains and scripts."}
		},"required":["name","description","signature","effect","params"]}`),
	}, false, c.describe)
	s.add(&mcp.Tool{
		Name: "run_operation", Title: "Run operation", Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes},
		Description: "Runs an operation or chain in one transaction and returns its result, or with repeats makes a recorded run again. Pages have 20 entries unless pageSize says otherwise.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"operation":{"type":"string","description":"Name of the operation or chain. Required unless repeats is given."},
			"input":{"description":"The input: a document's path or id, a list of them, an entity, or nothing."},
			"params":{"type":"object","description":"Parameters by name."},
			"context":{"type":"object","description":"Context variables by name."},
			"properties":{"type":"array","items":{"type":"string"},"default":[],"description":"Properties of documents in the result, by xpath, for example dc:description. Without them, documents have uid, path, type, title and state; with *, everything."},
			"maxTokens":{"type":"integer","minimum":500,"maximum":200000,"default":8000,"description":"About how many tokens the result may have. Of longer ones, only the first entries or the beginning of a text is shown."},
			"dryRun":{"type":"boolean","default":false,"description":"Whether to undo everything at the end and list what would have changed."},
			"repository":{"type":"string","default":"default","description":"Name of the repository it runs in."},
			"repeats":{"type":"string","description":"Id of a run that has ended, as Run.List gives it: what it asked is asked again. Given params replace those of the same name, null removes one; a given input replaces the input."},
			"version":{"type":"string","enum":["same","latest"],"default":"latest","description":"With repeats: which version of the chain or script runs."}
		},"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{
			"result":{"description":"The result: an entity, a list, a value, or null."},
			"omitted":{"type":"string","description":"What was left out of a long result, and how to get it."},
			"changes":{"type":"array","items":{"type":"object"},"description":"What a dry run would have changed."},
			"dryRun":{"type":"boolean"}
		},"required":["result"]}`),
	}, true, c.runOperation)
	s.add(&mcp.Tool{
		Name: "search_operations", Title: "Search operations", Annotations: reads,
		Description: "Finds operations and chains by purpose: by words of their name, label and documentation, or synonyms, best match first.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"query":{"type":"string","default":"","description":"Words to search for; without words, all operations by name."},
			"limit":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"Maximum number of operations returned."}
		},"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{
			"operations":{"type":"array","items":{"type":"object","properties":{
				"name":{"type":"string"},"label":{"type":"string"},"category":{"type":"string"},"description":{"type":"string"},
				"signature":{"type":"array","items":{"type":"string"}},"effect":{"type":"string"}
			},"required":["name","label","description","signature","effect"]}},
			"total":{"type":"integer","description":"How many match."}
		},"required":["operations","total"]}`),
	}, false, c.search)
}

// strictly reads arguments into a struct that has a field for each.
func strictly(raw json.RawMessage, into any) error {
	v := reflect.ValueOf(into).Elem()
	known := argumentsOf(v.Type())
	var unknown []string
	simple := true
	s := jsontext.Scanner{Data: raw}
	if s.Peek() != '{' {
		return unread(raw, into)
	}
	err := s.Members(func(name []byte) error {
		i := slices.Index(known, string(name))
		if i < 0 {
			unknown = append(unknown, string(name))
		}
		value, err := s.Skip(1)
		if err == nil && i >= 0 {
			simple = simple && setSimple(v.Field(i).Addr().Interface(), value)
		}
		return err
	})
	if err != nil || s.End() != nil {
		return unread(raw, into)
	}
	if len(unknown) > 0 {
		name := slices.Min(unknown)
		return fault.Invalid.Errorf("arguments: unknown argument %q, must be %s", name, strings.Join(known, ", ")).In(name)
	}
	if simple {
		return nil
	}
	return decodeArguments(raw, into)
}

// setSimple sets a field to a value that needs no decoding, and reports whether it has.
func setSimple(field any, value []byte) bool {
	switch field := field.(type) {
	case *json.RawMessage:
		*field = value
		return true
	case *string:
		s := jsontext.Scanner{Data: value}
		if s.Peek() != '"' {
			return false
		}
		text, err := s.Text()
		*field = string(text)
		return err == nil
	}
	return false
}

// unread reads arguments that are no object, of which null and nothing are none; of others it says what is wrong with them.
func unread(raw json.RawMessage, into any) error {
	if _, err := arguments(raw); err != nil || len(raw) == 0 {
		return err
	}
	return decodeArguments(raw, into)
}

func decodeArguments(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fault.Invalid.Errorf("arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// argumentNames are the names of arguments by the types of the structs that hold them.
var argumentNames sync.Map

// argumentsOf are the names of the arguments that a struct holds, in the order of its fields.
func argumentsOf(t reflect.Type) []string {
	if names, ok := argumentNames.Load(t); ok {
		return names.([]string)
	}
	var names []string
	for f := range t.Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	argumentNames.Store(t, names)
	return names
}

// structured is a result that is shown as JSON and as text.
func structured(v any) *result {
	body, err := encode(v)
	if err != nil {
		return failed(err)
	}
	return &result{texts: []string{string(body)}, summary: inStructured, structured: body}
}

const inStructured = "The result is in the structured content."

// found is an operation as searches list it.
type found struct {
	Name      string   `json:"name"`
	Label     string   `json:"label"`
	Category  string   `json:"category,omitempty"`
	Doc       string   `json:"description"`
	Signature []string `json:"signature"`
	Effect    string   `json:"effect"`
}

func (c *Config) search(ctx context.Context, raw json.RawMessage) *result {
	args := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: 10}
	if err := strictly(raw, &args); err != nil {
		return failed(err)
	}
	if args.Limit < 1 || args.Limit > maxFound {
		return failed(fault.Invalid.Errorf("limit: %d is not between 1 and %d", args.Limit, maxFound))
	}
	set, as := c.Engine.Set(), c.As(ctx)
	docs := c.find.Search(args.Query, func(name string) bool { return set.Allowed(name, as, engine.MCP) })
	all := make([]found, 0, min(args.Limit, len(docs)))
	for _, doc := range docs[:min(args.Limit, len(docs))] {
		all = append(all, found{
			Name: doc.ID, Label: doc.Label, Category: doc.Category, Doc: engine.Sentence(doc.Description), Signature: doc.Signature, Effect: doc.Effect.String(),
		})
	}
	return structured(map[string]any{"operations": all, "total": len(docs)})
}

func (c *Config) describe(ctx context.Context, raw json.RawMessage) *result {
	var args struct {
		Name string `json:"name"`
	}
	if err := strictly(raw, &args); err != nil {
		return failed(err)
	}
	set := c.Engine.Set()
	d, ok := set.Op(args.Name)
	// One answer for both, so that a caller does not learn the names of operations that are not for
	// them.
	if !ok || !set.Allowed(args.Name, c.As(ctx), engine.MCP) {
		r := failed(c.unknown(ctx, args.Name))
		r.texts = append(r.texts, c.similar(ctx, args.Name))
		return r
	}
	out := map[string]any{
		"name": d.Name, "aliases": append([]string{}, d.Aliases...), "label": d.Label, "category": d.Category, "description": d.Doc,
		"signature": d.Signature(), "effect": d.Effect.String(), "params": d.Schema(),
	}
	if result := resultOf(d); result != nil {
		out["result"] = result
	}
	return structured(out)
}

func (c *Config) unknown(ctx context.Context, name string) error {
	return c.Engine.Set().Missing(name, c.As(ctx), engine.MCP)
}

// checkParams refuses parameters that an operation does not have: a model believes that what it
// gave was taken.
func (c *Config) checkParams(op string, raw json.RawMessage) error {
	given, err := arguments(raw)
	if err != nil {
		return err
	}
	d, ok := c.Engine.Set().Op(op)
	if !ok {
		return nil
	}
	return d.CheckNames(given)
}

// runArgs are the arguments of run_operation.
type runArgs struct {
	Operation string                     `json:"operation"`
	Input     json.RawMessage            `json:"input"`
	Params    json.RawMessage            `json:"params"`
	Context   map[string]json.RawMessage `json:"context"`
	DryRun    bool                       `json:"dryRun"`
	Show      []string                   `json:"properties"`
	Tokens    int                        `json:"maxTokens"`
	Repo      string                     `json:"repository"`
	Repeats   string                     `json:"repeats"`
	Version   string                     `json:"version"`
}

// asking are the arguments, and the version that runs; 0 is the latest.
type asking struct {
	runArgs

	version int64
}

// readRun reads the arguments of run_operation, and how many bytes its result may have.
func (c *Config) readRun(ctx context.Context, raw json.RawMessage) (args asking, most int, err error) {
	if err := strictly(raw, &args.runArgs); err != nil {
		return args, 0, err
	}
	if err := c.repeated(ctx, &args); err != nil {
		return args, 0, err
	}
	if !c.Engine.Set().Allowed(args.Operation, c.As(ctx), engine.MCP) {
		return args, 0, c.unknown(ctx, args.Operation)
	}
	if err := c.checkParams(args.Operation, args.Params); err != nil {
		return args, 0, err
	}
	args.Params = c.paged(args.Operation, args.Params)
	most, err = size(args.Tokens)
	return args, most, err
}

// repeated fills in what a run asked that is to be made again.
func (c *Config) repeated(ctx context.Context, args *asking) error {
	if args.Repeats == "" {
		if args.Operation == "" {
			return fault.Invalid.Errorf("operation: is missing; find operations with search_operations").In("operation")
		}
		if args.Version != "" {
			return fault.Invalid.Errorf("version: is only for repeats; a chain or script runs in its latest version").In("version")
		}
		return nil
	}
	if args.Version != "" && args.Version != "same" && args.Version != "latest" {
		return fault.Invalid.Errorf("version %q: must be same or latest", args.Version).In("version")
	}
	given := &engine.Repeated{Input: args.Input, Params: args.Params}
	again, err := c.Engine.Repeat(ctx, c.As(ctx), args.Repeats, given, true)
	if err != nil {
		return err
	}
	if args.Operation != "" && args.Operation != again.Op {
		return fault.Invalid.Errorf("operation: the run %s is one of %s; leave operation out to make it again", args.Repeats, again.Op).In("operation")
	}
	args.Operation, args.Repo, args.Input, args.Params = again.Op, again.Repository, again.Input, again.Params
	if args.Version == "same" {
		args.version = again.Version
	}
	if len(again.Context) > 0 && args.Context == nil {
		return json.Unmarshal(again.Context, &args.Context)
	}
	return nil
}

func (c *Config) runOperation(ctx context.Context, raw json.RawMessage) *result {
	args, most, err := c.readRun(ctx, raw)
	if err != nil {
		return c.failedAs(ctx, args.Operation, err)
	}
	e := c.Engine
	if args.Repo != "" && args.Repo != e.Repo().Name() {
		if e = e.Named(args.Repo); e == nil {
			return c.failedAs(ctx, args.Operation, fault.NotFound.Errorf("repository %s", args.Repo).In("repository"))
		}
	}
	call := engine.Call{
		Op: args.Operation, Version: args.version, DryRun: args.DryRun, Vars: map[string]any{}, Encode: c.encoder(ctx, e, args.Show),
		Asked: &engine.Asked{Repeats: args.Repeats},
	}
	if len(args.Params) > 0 && string(args.Params) != "null" {
		call.RawParams = args.Params
	}
	if len(args.Input) > 0 && string(args.Input) != "null" {
		call.Asked.Input = args.Input
		if call.Input, err = entity.Given(args.Input); err != nil {
			return c.failedAs(ctx, args.Operation, err)
		}
	}
	for name, raw := range args.Context {
		if call.Vars[name], err = entity.Given(raw); err != nil {
			return c.failedAs(ctx, args.Operation, err)
		}
	}
	if len(args.Context) > 0 {
		if call.Asked.Context, err = json.Marshal(args.Context); err != nil {
			return c.failedAs(ctx, args.Operation, err)
		}
	}
	return during(ctx, args.Operation+" runs", func() *result {
		res, err := c.runIn(ctx, e, call)
		if err != nil {
			return c.failedAs(ctx, args.Operation, err)
		}
		res.Body = shortenDocs(res.Body, args.Show, most) // the transaction has ended
		return ran(res, args.DryRun, most)
	})
}

// What results show: all properties, and of documents who locks them.
var (
	allProperties = []string{"*"}
	fetchedLock   = map[string][]string{"document": {"lock"}}
)

// encoder writes results as the platform does, small files with their content.
func (c *Config) encoder(ctx context.Context, e *engine.Engine, properties []string) func(*engine.Ctx, any) ([]byte, error) {
	o := &entity.Options{Base: c.Base(ctx) + c.Context, Repo: e.Repo().Name(), Properties: allProperties, Fetch: fetchedLock}
	return func(ec *engine.Ctx, v any) ([]byte, error) {
		options := o
		switch v := v.(type) {
		case nil:
			return []byte("null"), nil
		case *engine.Blob:
			return encode(fileOf(v))
		case engine.Blobs:
			files := make([]any, len(v))
			for i, b := range v {
				files[i] = fileOf(b)
			}
			return encode(files)
		case *engine.Doc, engine.Docs, *engine.Page:
			short := *o
			short.Properties = entity.SchemasOf(e.Repo().Types(), properties)
			options = &short
		}
		return entity.Append(nil, ec, v, options)
	}
}

// fileOf shows a file: its content too if that is small.
func fileOf(b *engine.Blob) map[string]any {
	out := map[string]any{"name": b.Name, "mime-type": b.Type, "length": b.Size, "digest": b.Digest}
	data, err := b.Bytes(maxFile)
	switch {
	case err != nil:
	case strings.HasPrefix(b.Type, "text/") || strings.HasSuffix(b.Type, "json") || strings.HasSuffix(b.Type, "xml"):
		out["data"] = string(data)
	default:
		out["base64"] = base64.StdEncoding.EncodeToString(data)
	}
	return out
}

// failedAs is failed with the kind of error in front, as traces name it, and its code if it has one, "kind (code): message", and
// behind it what to do next. asked is the operation.
func (c *Config) failedAs(ctx context.Context, asked string, err error) *result {
	message := err.Error()
	if !fault.Shown(err) {
		message = "the server failed"
	}
	kind := fault.Of(err).String()
	if code := fault.CodeOf(err); code != 0 {
		kind += " (" + code.String() + ")"
	}
	texts := []string{kind + ": " + message}
	if then := c.nextOf(ctx, asked, err); then != "" && fault.Shown(err) {
		texts = append(texts, then)
	}
	return &result{failed: true, texts: texts}
}
