package chains_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"catena/chains"
	"catena/engine"
	"catena/ops"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

// generator writes chains of all kinds of steps, of the operations of a registry, with values that are right and wrong.
type generator struct {
	r    *rand.Rand
	set  *engine.Set
	ops  []string
	vars []string // that steps before have named
}

func pickOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// unsafeOps are left out: what they do takes long, goes elsewhere, or is about other chains.
var unsafeOps = []string{"Bulk.", "Business.", "CSV.", "Chain.", "Conversion.", "Deck.", "Hook.", "Http.", "Listener.", "Mail.", "Module.", "NuxeoDrive.", "PlatformDrive.", "Run", "Schedule.", "Script.", "Traces.", "WorkManager.", "Blob.CreateFromURL", "Blob.ExportToFS", "Blob.PostToURL", "Job.", "Repository.Verify", "Server.", "User.", "Group.", "Auth.", "Services."}

func newGenerator(seed uint64, set *engine.Set, only ...string) *generator {
	g := &generator{r: rand.New(rand.NewPCG(20, seed)), set: set, ops: only}
	for _, name := range set.Names() {
		d, ok := set.Op(name)
		if len(only) > 0 || !ok || d.Name != name || slices.ContainsFunc(unsafeOps, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		g.ops = append(g.ops, name)
	}
	return g
}

// inputs are what made-up chains are given, by the type that they declare.
var inputs = map[string]any{
	"blob": engine.NewBlob("a.txt", "text/plain", []byte("a")), "document": storage.Ref("/made"), "documents": storage.Refs{"/made", "/made/note"},
	"list": []any{"a", int64(1)}, "map": map[string]any{"a": "b"}, "string": "text", "void": nil,
}

// chain writes a chain, and returns the type of its input.
func (g *generator) chain() (source []byte, in string) {
	g.vars = nil
	in = pickOf(g.r, "document", "document", "document", "documents", "void", "blob", "string", "list", "map")
	source, err := json.Marshal(map[string]any{
		"name": "P.Chain", "input": in, "steps": g.steps(1+g.r.IntN(4), 0),
		"params": []any{
			map[string]any{"name": "title", "default": "T"},
			map[string]any{"name": "n", "type": "integer", "default": 3},
			map[string]any{"name": "flag", "type": "boolean", "default": true},
			map[string]any{"name": "names", "type": "stringlist", "default": []any{"a", "b"}},
			map[string]any{"name": "row", "type": "map", "default": map[string]any{"a": "x"}},
		},
	})
	if err != nil {
		panic(err)
	}
	return source, in
}

func (g *generator) steps(n, depth int) []any {
	out := []any{}
	for range n {
		out = append(out, g.step(depth))
	}
	return out
}

func (g *generator) step(depth int) map[string]any {
	r := g.r
	var s map[string]any
	few := func() []any { return g.steps(1+r.IntN(2), depth+1) }
	condition := func() string {
		return pickOf(r, "flag", "flag", "n > 2", "title == 'T'", "row.a == 'x'", "flgg", "len(names) > 1", "Document != nil", "Fn.padLeft(n, 3) != ''", "Fn.padLef(n, 3) != ''")
	}
	kind := r.IntN(20)
	if depth >= 2 {
		kind = 19
	}
	switch kind {
	case 0, 1:
		s = map[string]any{"if": condition(), "then": few()}
		if r.IntN(2) == 0 {
			s["else"] = few()
		}
	case 2:
		s = map[string]any{"switch": pickOf(r, "title", "n", "titl"), "cases": map[string]any{"T": few(), "3": few()}}
	case 3, 4:
		s = map[string]any{"each": pickOf(r, "input", "names", "nmes", "[1, 2]"), "steps": few()}
	case 5:
		s = map[string]any{"parallel": map[string]any{"a": few(), "b": few()}}
	case 6:
		s = map[string]any{"return": pickOf[any](r, "@{title}", "expr:n", nil, "@{titl}", map[string]any{"a": "@{row.a}"})}
	case 7:
		s = map[string]any{"wait": pickOf[any](r, "1h", "soon", map[string]any{"event": "documentModified", "for": "1d"})}
	default:
		s = g.call()
	}
	if r.IntN(8) == 0 && s["return"] == nil {
		s["as"] = "v1"
		g.vars = append(g.vars, "v1")
	}
	if r.IntN(10) == 0 {
		s["when"] = condition()
	}
	if r.IntN(12) == 0 {
		s["onError"] = pickOf[any](r, map[string]any{"continue": true}, map[string]any{"result": "@{Exception}"}, map[string]any{"chain": "Document.GetTitl"})
	}
	if r.IntN(15) == 0 {
		s["retry"] = map[string]any{"times": 2}
	}
	return s
}

// call writes a step that runs an operation.
func (g *generator) call() map[string]any {
	d, _ := g.set.Op(g.ops[g.r.IntN(len(g.ops))])
	s := map[string]any{"op": d.Name}
	if params := g.params(d); len(params) > 0 {
		s["params"] = params
	}
	if g.r.IntN(15) == 0 {
		other, _ := g.set.Op(g.ops[g.r.IntN(len(g.ops))])
		s["undo"] = map[string]any{"op": other.Name, "params": g.params(other)}
	}
	return s
}

func (g *generator) params(d *engine.Def) map[string]any {
	params := map[string]any{}
	for _, p := range d.Params() {
		if p.Required && g.r.IntN(20) > 0 || g.r.IntN(6) == 0 {
			params[p.Name] = g.value(p)
		}
	}
	if g.r.IntN(40) == 0 {
		params["nme"] = "x"
	}
	return params
}

// value is one for a parameter, mostly a right one.
func (g *generator) value(p engine.Param) any {
	r := g.r
	if r.IntN(12) == 0 { // of any type
		return pickOf[any](r, "text", 7, 1.5, true, []any{"a"}, map[string]any{"a": 1}, "@{title}", "expr:n", "expr:row", "@{titl}", "expr:names", "@{row.b ?? ''}")
	}
	if len(p.Values) > 0 && r.IntN(8) > 0 {
		return pickOf(r, p.Values...)
	}
	if by, ok := named[p.Names]; ok && p.Type == "string" {
		return pickOf(r, by...)
	}
	switch p.Type {
	case "boolean":
		return pickOf[any](r, true, false, "true", "@{flag}")
	case "integer", "long":
		return pickOf[any](r, 1, 3, "2", "@{n}", "expr:n + 1", -1)
	case "float":
		return pickOf[any](r, 1.5, 2, "@{n}")
	case "date":
		return pickOf[any](r, "2026-01-01", "expr:CurrentDate", "@{CurrentDate.days(1)}")
	case "stringlist", "list":
		return pickOf[any](r, []any{"a"}, "a,b", "expr:names")
	case "document":
		return pickOf[any](r, "/made", "/", "/nowhere")
	case "documents":
		return pickOf[any](r, "/made", []any{"/made", "/made/note"})
	case "map", "object", "properties":
		return pickOf[any](r, map[string]any{"dc:title": "x"}, map[string]any{"dc:titel": "x"}, "dc:title=x", map[string]any{"dc:issued": "next week"})
	}
	if len(g.vars) > 0 && r.IntN(6) == 0 {
		return "@{v1}"
	}
	return pickOf[any](r, "a", "/made", "@{title}", "@{n}", "")
}

// named are right and wrong names by their kind.
var named = map[string][]string{
	engine.NamesFacet: {"Folderish", "Folderich"}, engine.NamesOperation: {"Document.GetTitle", "Document.GetTitl"}, engine.NamesPermission: {"Read", "Reed"},
	engine.NamesQuery: {"SELECT * FROM Note", "SELECT * FORM Note", "SELECT * FROM Note WHERE dc:titel = 'a'"}, engine.NamesSchema: {"dublincore", "dublincor"},
	engine.NamesState: {"project", "projct"}, engine.NamesTransition: {"approve", "aprove"}, engine.NamesType: {"File", "Folder", "Fiel"},
	engine.NamesVariable: {"v2", "title"}, engine.NamesXpath: {"dc:title", "dc:issued", "dc:contributors", "dc:titel"},
}

// known are what an error says that the check could have known, of chains whose values are all fixed where computed is false.
var known = []struct {
	text     string
	computed bool
}{
	{"unknown operation", true},
	{"unknown function", true},
	{"unknown parameter", true},
	{"unknown variable", true},
	{"\" is missing", false},
	{"no such property", false},
	{"unknown document type", false},
	{"unknown facet", false},
	{"unknown schema", false},
	{"unknown transition", false},
	{"unknown field", false},
	{"query: line", false},
	{"must be of type", false},
	{"input: must be", false},
	{"must be one of", false},
}

// unforeseen reports an input that is known only when the chain runs: a document without a file has none, a map may be a document, a
// file may be no PDF, and a script may return anything.
func unforeseen(message string) bool {
	for _, of := range []string{"input: is missing", "input: must be PDF files", "InputFromScript: must be of type"} {
		if strings.Contains(message, of) {
			return true
		}
	}
	return strings.HasSuffix(message, "not map") || strings.HasSuffix(message, "not object") || strings.HasSuffix(message, "not list")
}

// find makes chains, and returns those that the check accepts and that fail for a reason that it could have known.
func find(t *testing.T, seed uint64, n int, add []engine.Op, only ...string) (accepted, failed int, found []string) {
	t.Helper()
	repo := storagetest.Open(t, nil)
	kept := chains.New()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), kept.Ops(), add)...)
	must(t, err)
	e := engine.New(engine.Config{Repo: repo, Set: set, Log: slog.New(slog.DiscardHandler)})
	run := func(call engine.Call) error {
		call.As = repo.System()
		_, err := e.Run(context.Background(), call)
		return err
	}
	must(t, run(engine.Call{Op: "Document.Create", Input: storage.Ref("/"), Params: map[string]any{"type": "Folder", "name": "made"}}))
	must(t, run(engine.Call{Op: "Document.Create", Input: storage.Ref("/made"), Params: map[string]any{"type": "Note", "name": "note"}}))
	g := newGenerator(seed, set, only...)
	for range n {
		source, in := g.chain()
		if err := run(engine.Call{Op: "Chain.Save", Params: map[string]any{"source": string(source)}}); err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%v\n%s", err, source)
			}
			continue
		}
		accepted++
		err := run(engine.Call{Op: "P.Chain", Input: inputs[in], DryRun: true})
		if err == nil {
			continue
		}
		failed++
		// What a map or a list holds, and what an expression gives, is known only when the chain runs.
		computed := strings.Contains(string(source), "@{") || strings.Contains(string(source), "expr:") || strings.Contains(string(source), `"each":"[`) ||
			in == "map" || in == "list"
		for _, k := range known {
			if strings.Contains(err.Error(), k.text) && (k.computed || !computed && !unforeseen(err.Error())) {
				found = append(found, fmt.Sprintf("%v\n%s", err, source))
				break
			}
		}
	}
	return accepted, failed, found
}

// TestAcceptedOfRegistry makes chains of every operation and kind of step: none that is accepted fails for a reason that the check
// could have known. CATENA_CHAINS sets how many.
func TestAcceptedOfRegistry(t *testing.T) {
	accepted, failed, found := find(t, 1, count(t, 2000), nil)
	for i, f := range found {
		if i < 10 {
			t.Error(f)
		}
	}
	t.Logf("accepted %d, of which %d failed for reasons of the content and %d for ones that could have been known", accepted, failed-len(found), len(found))
	if accepted < 200 || failed < 20 {
		t.Error("too few to tell")
	}
}

// TestAcceptedFinds plants faults of three kinds: operations that do not say what the check would have to know.
func TestAcceptedFinds(t *testing.T) {
	type hidden struct {
		Name string `json:"name" doc:"An xpath, which the operation does not say."`
	}
	type number struct {
		N string `json:"n" doc:"A number, which the operation does not say."`
	}
	for name, op := range map[string]engine.Op{
		"a property": {Doc: "Reads a property.", Effect: engine.Reads, Run: engine.On(func(p hidden, _ *engine.Ctx, d *storage.Doc) (any, error) {
			return d.Get(p.Name + ":nothing")
		})},
		"a type": {Doc: "Needs a number.", Effect: engine.Pure, Run: engine.On(func(p number, _ *engine.Ctx, _ any) (any, error) {
			if strings.Trim(p.N, "0123456789") != "" {
				return nil, fault.Invalid.Errorf("n: must be of type integer")
			}
			return p.N, nil
		})},
		"an input": {Doc: "Needs a list.", Effect: engine.Pure, Run: engine.On(func(_ engine.Void, _ *engine.Ctx, in any) (any, error) {
			if _, ok := in.([]any); !ok {
				return nil, errors.New("input: must be a list")
			}
			return in, nil
		})},
	} {
		op.Name, op.Callers = "Planted.Op", engine.Anyone
		if _, _, found := find(t, 2, 300, []engine.Op{op}, "Planted.Op"); len(found) == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}

// count is a number that the environment sets.
func count(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("CATENA_CHAINS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}
