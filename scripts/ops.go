package scripts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"catena/engine"
	"catena/engine/library"
	"catena/engine/openapi"
	"catena/storage/fault"
)

// Ops are the operations of this package: those that run a text, and those that manage
// the scripted operations.
func (r *Runner) Ops() []engine.Op {
	return append(r.kind().Ops(),
		engine.Op{
			Name: "RunInputScript", Aliases: []string{"Context.RunInputScript"}, Label: "Run Input Script", Category: "Scripting", SetsAny: true,
			Doc: "Runs the input file as JavaScript, in a separate process, and returns its result as a text file called result, or nothing if there is no result. " +
				"The script reads the file as input.",
			Callers: engine.Scripters,
			Run:     engine.On(func(p inputScriptParams, c *engine.Ctx, b *engine.Blob) (*engine.Blob, error) { return p.run(r, c, b) }),
		},
		engine.Op{
			Name: "RunScript", Aliases: []string{"Context.RunScript"}, Label: "Run Script", Category: "Scripting", SetsAny: true,
			Doc:     "Runs JavaScript, in a separate process, for its side effects, and returns the input.",
			Callers: engine.Scripters,
			Run: engine.On(func(p scriptParams, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
				return engine.Void{}, p.run(r, c)
			}),
		},
		engine.Op{
			Name: "Script.Run", Label: "Run a script that is not saved", Category: "Scripting", SetsAny: true,
			Doc: "Runs the text of a scripted operation, in a separate process, with the input and parameters, and returns its result. " +
				"Nothing is saved: the text is tried as it would run when it is deployed.",
			Callers: engine.Scripters,
			Result:  openapi.Ref("Value"),
			Run:     engine.On(func(p tryParams, c *engine.Ctx, in any) (any, error) { return p.run(r, c, in) }),
		},
		engine.Op{
			Name: "Script.Outline", Label: "Outline of a script", Category: "Scripting", Effect: engine.Pure,
			Doc: "Returns what the comment at the start of a script's text declares, without saving it: name, label, description, input, output, " +
				"effect and parameters, with what is wrong in the comment.",
			Callers: engine.Admins.From(engine.Direct),
			Run:     engine.On(outlineParams.run),
		},
		engine.Op{
			Name: "Script.Types", Label: "Script typings", Category: "Scripting", Effect: engine.Pure,
			Doc:     "Returns catena.d.ts: types and documentation of all operations, for completion and checking in editors.",
			Callers: engine.Admins.From(engine.Direct),
			Run:     engine.On(func(p typesParams, c *engine.Ctx, _ engine.Void) (*engine.Blob, error) { return p.file(r, c) }),
		},
	)
}

type noParams struct{}

type scriptParams struct {
	Script string `json:"script" doc:"The script: statements, or a function run(input, params)."`
}

func (p scriptParams) run(r *Runner, c *engine.Ctx) error {
	j := newJob("script", p.Script, false)
	_, err := r.run(c, &j, c.Input, c.ChainParameters())
	return err
}

type tryParams struct {
	Source string         `json:"source" doc:"The text."`
	Name   string         `json:"name" default:"script.js" doc:"File name for messages."`
	Params map[string]any `json:"params,omitzero" doc:"Parameters of the scripted operation."`
}

// run runs the text as a step that nothing but this call knows.
func (p tryParams) run(r *Runner, c *engine.Ctx, in any) (any, error) {
	s, err := Parse(p.Name, []byte(p.Source))
	if err != nil {
		return nil, err
	}
	op := r.opFor(s, "")
	op.Callers = engine.Scripters
	// The operation exists in this set only, so planning checks its parameters as those of a deployed one.
	set, err := c.Set().With([]engine.Op{op})
	if err != nil {
		return nil, fault.Invalid.Errorf("%w", err)
	}
	plan, err := set.Plan([]engine.Step{{Op: s.Name, Params: p.Params}}, "", engine.PlanOptions{Name: s.Name})
	if err != nil {
		return nil, err
	}
	return plan.Run(c, in)
}

type inputScriptParams struct {
	Type string `json:"type" default:"js" values:"js,javascript" doc:"Language of the file: js or javascript. The platform's mvel and groovy are refused."`
}

func (p inputScriptParams) run(r *Runner, c *engine.Ctx, b *engine.Blob) (*engine.Blob, error) {
	switch strings.ToLower(p.Type) {
	case "", "js", "javascript":
	default:
		return nil, fault.Invalid.Errorf("type: unsupported script language %s, must be js or javascript", p.Type).In("type")
	}
	source, err := b.Bytes(int64(r.limits.Source))
	if err != nil {
		return nil, fault.Wrap(err, "script").WithCode(fault.CodeScriptSource)
	}
	j := newJob(cmp.Or(b.Name, "script"), string(source), false)
	v, err := r.run(c, &j, b, c.ChainParameters())
	if err != nil || v == nil {
		return nil, err
	}
	text, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(resultText(v))
		if err != nil {
			return nil, fault.Invalid.Errorf("script: the result cannot be converted to text: %w", err).WithCode(fault.CodeScriptValue)
		}
		text = string(raw)
	}
	return engine.NewBlob("result", "text/plain", []byte(text)), nil
}

// resultText replaces documents and files of a result by what names them.
func resultText(v any) any {
	switch v := v.(type) {
	case *engine.Doc:
		return v.Path()
	case engine.Docs:
		out := make([]string, len(v))
		for i, d := range v {
			out[i] = d.Path()
		}
		return out
	case *engine.Blob:
		return v.Name
	case engine.Blobs:
		out := make([]string, len(v))
		for i, b := range v {
			out[i] = b.Name
		}
		return out
	case []any:
		for i := range v {
			v[i] = resultText(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = resultText(v[k])
		}
	}
	return v
}

type typesParams struct {
	Only string `json:"only" default:"all" enum:"all,language" doc:"What it declares: all, or language for what every script has besides operations and modules."`
}

func (p typesParams) file(r *Runner, c *engine.Ctx) (*engine.Blob, error) {
	if p.Only == "language" {
		return engine.NewBlob("catena.d.ts", "text/plain", []byte(typesHead)), nil
	}
	text, err := Types(c.Set())
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("catena.d.ts", "text/plain", append(text, r.moduleTypes()...)), nil
}

// kind is how scripted operations are kept.
func (r *Runner) kind() *library.Kind {
	r.kinds.Do(func() {
		r.library = &library.Kind{Family: "Script", Noun: "script", Ext: []string{".js"}, Check: r.check, Compile: r.compile}
	})
	return r.library
}

// check is Check in a worker, which no text that is hard to parse survives: it is refused
// like any other mistake.
func (r *Runner) check(c *engine.Ctx, file, source string) (string, []Problem, error) {
	if len(source) > r.limits.Source {
		return "", []Problem{{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("source of %d bytes, at most %d are allowed", len(source), r.limits.Source)}}, nil
	}
	found, calls, err := r.mistakes(c, file, source, false)
	if err != nil {
		return "", nil, err
	}
	s, problems := parseHeader(file, source)
	problems = append(problems, found...)
	if t, err := splitModule(source); err == nil {
		problems = append(problems, r.badImports(file, t.imports)...)
	}
	return s.Name, append(problems, s.badCalls(c, calls)...), nil
}

// mistakes are those that a worker finds in a text, with the calls of operations that it makes.
func (r *Runner) mistakes(c *engine.Ctx, file, source string, module bool) (problems []Problem, calls []any, err error) {
	j := job{file: file, source: source, strict: true, key: keyOf(file, source, true), check: true, module: module, owner: c.As.Name}
	v, err := r.run(c, &j, nil, nil)
	switch fault.Of(err) {
	// A text that ends its worker is a mistake in the text; all else is a failure of the server.
	case fault.Invalid, fault.Limit:
		return []Problem{problemOf(file, err)}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	all, _ := v.(map[string]any)
	found, _ := all["problems"].([]any)
	for _, x := range found {
		m, _ := x.(map[string]any)
		p := Problem{File: file}
		p.Message, _ = m["message"].(string)
		p.Nearest, _ = m["nearest"].(string)
		line, _ := m["line"].(int64)
		column, _ := m["column"].(int64)
		p.Line, p.Column = int(line), int(column)
		problems = append(problems, p)
	}
	calls, _ = all["calls"].([]any)
	return problems, calls, nil
}

func (r *Runner) compile(_ *engine.Set, file, source string) (engine.Op, error) {
	s, err := Parse(file, []byte(source))
	if err != nil {
		return engine.Op{}, err
	}
	return r.Op(s), nil
}

// Load deploys the scripts that are kept, at start.
func (r *Runner) Load(ctx context.Context, e *engine.Engine) error { return r.kind().Load(ctx, e) }

// Refresh follows what other processes deploy in the same store.
func (r *Runner) Refresh(ctx context.Context, e *engine.Engine) error {
	return r.kind().Refresh(ctx, e)
}

// Lacks are the deployed scripts that do not work on this server.
func (r *Runner) Lacks(e *engine.Engine) []library.Lack { return r.kind().Lacks(e) }

// Sync deploys the scripts of a folder whose text is not what is deployed, and returns the
// names of those it changed.
func (r *Runner) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	changed, err := r.kind().Sync(ctx, e, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return changed, err
}
