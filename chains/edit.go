package chains

import (
	"slices"
	"strings"
	"sync"

	"catena/engine"
	"catena/engine/find"
	"catena/engine/library"
	"catena/engine/openapi"
	"catena/engine/patch"
	"catena/storage/fault"
)

// maxFound is how many steps a search returns at most.
const maxFound = 50

// editing are the operations for editors of chains. They read and write texts, and save nothing.
func (ch *Chains) editing() []engine.Op {
	op := func(verb, label, doc string, run engine.Func) engine.Op {
		return engine.Op{
			Name: "Chain." + verb, Label: label, Category: "Scripting", Doc: doc,
			Effect: engine.Reads, Callers: engine.Admins.From(engine.Direct), Run: run,
		}
	}
	return []engine.Op{
		op("Edit", "Edit the text of a chain", "Changes one value of the text of a chain and returns the new text, without saving it. Comments and formatting are kept.",
			engine.On(func(p editParams, c *engine.Ctx, _ engine.Void) (string, error) { return p.run(c) })),
		op("FindStep", "Find a step", "Finds operations, chains and kinds of steps by purpose, the best match first. Chains of the server's own workflows are left out.",
			engine.On(func(p findParams, c *engine.Ctx, _ engine.Void) ([]Found, error) { return p.run(ch, c) })),
		op("FindUses", "Find the uses of a chain", "Lists where a chain is used: in other chains, hooks, listeners, schedules, scripts and workflows.",
			engine.On(func(p usesParams, c *engine.Ctx, _ engine.Void) ([]Use, error) { return p.run(ch, c) })),
		{
			Name: "Chain.Run", Label: "Run a chain that is not saved", Category: "Scripting", SetsAny: true,
			Doc: "Runs the text of a chain with the input and parameters, and returns its result. Nothing is saved: the text is tried as it would run when it is deployed. " +
				"A chain that waits is only tried in a dry run.",
			Callers: engine.Admins.From(engine.Direct), // what is in a saved chain may do more than what clients may call
			Result:  openapi.Ref("Value"),
			Run:     engine.On(func(p runParams, c *engine.Ctx, in any) (any, error) { return p.run(ch, c, in) }),
		},
		op("Outline", "Outline a chain", "Returns the steps of the text of a chain as a tree, with places, values, variables and problems; saves nothing.",
			engine.On(func(p outlineParams, c *engine.Ctx, _ engine.Void) (*Outline, error) { return ch.outline(c, p.Source) })),
	}
}

type outlineParams struct {
	Source string `json:"source" doc:"The text."`
}

type editParams struct {
	Source string `json:"source" doc:"The text."`
	Action string `json:"action" enum:"set,remove,insert,move,duplicate,rename" doc:"What to do."`
	Path   string `json:"path" doc:"JSON Pointer of what to change, for example /steps/0/params/value."`
	To     string `json:"to,omitzero" doc:"JSON Pointer: for move, of the item to put it before, in the text as it is; for rename and for duplicate of a branch, with the new name."`
	Value  any    `json:"value,omitzero" type:"serializable" doc:"The value to set or insert."`
}

// keysAt is the order in which the keys of a chain are written, or of a step, by the path of what is edited.
func keysAt(path string) []string {
	if !strings.HasPrefix(path, "/steps/") {
		return []string{"name", "label", "description", "since", "aliases", "callers", "input", "output", "params", "variables", "steps", "onError"}
	}
	keys := []string{"op"}
	for _, b := range engine.Blocks {
		keys = append(append(keys, b.Kind), b.Keys...)
	}
	keys = append(keys, "params", "when", "as", "retry", "onError", "undo")
	for _, b := range engine.Blocks {
		keys = append(append(keys, b.Maps), b.Lists...)
	}
	return keys
}

// The text may be a chain with mistakes, as it is while somebody edits it, but it has to be YAML:
// without a tree there is no place to change.
func (p editParams) run(c *engine.Ctx) (string, error) {
	var root library.Parser
	if n := root.Root([]byte(p.Source), "chain"); n == nil || len(root.Problems) > 0 {
		at := root.Problems[0]
		return "", fault.Invalid.Errorf("source: %s", at.Message).At(at.Line, at.Column).In("source")
	}
	if err := c.Err(); err != nil {
		return "", err
	}
	e := patch.Edit{Action: p.Action, Path: p.Path, To: p.To, Value: p.Value, Order: keysAt(p.Path)}
	out, err := patch.Apply(p.Source, e)
	if err == nil && len(out) > library.MaxSource {
		err = fault.Limit.Errorf("source: %d bytes after the change, at most %d are allowed", len(out), library.MaxSource).In("source")
	}
	return out, err
}

type findParams struct {
	Query   string `json:"query,omitzero" doc:"What the step is to do, such as lock a document; without it, everything by name."`
	Limit   int    `json:"limit" default:"20" doc:"How many to return, at most 50."`
	Builtin bool   `json:"builtin,omitzero" doc:"Whether to include the chains of the server's own workflows."`
}

// Found is something that can be a step.
type Found struct {
	Kind        string   `json:"kind"` // "operation", or a kind of block
	Op          string   `json:"op,omitempty"`
	Label       string   `json:"label"`
	Description string   `json:"description"`
	Signature   []string `json:"signature"`
	Chain       bool     `json:"chain,omitempty"`
	Step        any      `json:"step"` // to insert
}

func (p findParams) run(ch *Chains, c *engine.Ctx) ([]Found, error) {
	if p.Limit < 1 || p.Limit > maxFound {
		return nil, fault.Invalid.Errorf("limit: %d is not between 1 and %d", p.Limit, maxFound).In("limit")
	}
	if ch.finder.Load() == nil {
		ch.finder.CompareAndSwap(nil, find.New(c.Engine()))
	}
	out := blocksFor(p.Query)
	set := c.Set()
	docs := ch.finder.Load().Search(p.Query, func(name string) bool {
		d, ok := set.Op(name)
		return ok && set.Allowed(name, c.As, engine.Chain) && (p.Builtin || d.Version != 0 || !builtin()[d.Name])
	})
	for _, doc := range docs {
		if err := c.Err(); err != nil {
			return nil, err
		}
		out = append(out, Found{"operation", doc.ID, doc.Label, doc.Description, doc.Signature, doc.Category == "Chain", map[string]any{"op": doc.ID}})
	}
	return out[:min(len(out), p.Limit)], nil
}

// blocksFor are the kinds of blocks that a query means: those that have all of its words.
// Words of one or two letters have to match whole: "if" must not find "iffy", nor "a" everything.
func blocksFor(query string) []Found {
	out := []Found{}
	words := strings.Fields(strings.ToLower(query))
	for _, b := range engine.Blocks {
		said := strings.FieldsFunc(strings.ToLower(b.Kind+" "+b.Label+" "+b.Doc), func(r rune) bool { return strings.ContainsRune(" ,.:", r) })
		fits := !slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, w) && (len(w) > 2 || s == w) })
		})
		if fits {
			out = append(out, Found{b.Kind, "", b.Label, b.Doc, []string{}, false, blank(b)})
		}
	}
	return out
}

// blank is a block to begin with.
func blank(b engine.BlockForm) map[string]any {
	step := map[string]any{b.Kind: nil}
	if b.Value {
		step[b.Kind] = map[string]string{engine.BlockEach: "input", engine.BlockIf: "true", engine.BlockSwitch: "input"}[b.Kind]
		if len(b.Lists) > 0 && b.Maps == "" {
			step[b.Lists[0]] = []any{}
		}
	}
	switch b.Kind {
	case engine.BlockWait:
		step[b.Kind] = map[string]any{"for": "1h"} // not the short form: an event or a task is added beside it
	case engine.BlockSwitch, engine.BlockParallel:
		step[b.Maps] = map[string]any{"first": []any{}}
	}
	return step
}

// builtin are the names of the chains that come with the server.
var builtin = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	all, _ := written() // an error has kept the server from starting
	for _, chain := range all {
		names[chain.Name] = true
	}
	return names
})
