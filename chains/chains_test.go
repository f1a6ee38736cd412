package chains_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"catena/chains"
	"catena/engine"
	"catena/ops"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

// world is an engine with its chains on a store in memory.
type world struct {
	t      *testing.T
	engine *engine.Engine
	chains *chains.Chains
	repo   *storage.Repo
}

func newWorld(t *testing.T, limits ...engine.Limits) *world {
	t.Helper()
	repo := storagetest.Open(t, nil)
	w := &world{t: t, repo: repo, chains: chains.New()}
	set, err := engine.NewSet(append(ops.All(ops.Config{}), w.chains.Ops())...)
	must(t, err)
	c := engine.Config{Repo: repo, Set: set, Log: slog.New(slog.DiscardHandler)}
	for _, l := range limits {
		c.Limits = l
	}
	w.engine = engine.New(c)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) run(op string, in any, params map[string]any) (any, error) {
	w.t.Helper()
	r, err := w.engine.Run(context.Background(), engine.Call{Op: op, Input: in, Params: params, As: w.repo.System()})
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

func (w *world) save(source string) {
	w.t.Helper()
	_, err := w.run("Chain.Save", nil, map[string]any{"source": source})
	must(w.t, err)
}

func (w *world) title(path string) string {
	w.t.Helper()
	v, err := w.run("Repository.GetDocument", nil, map[string]any{"value": path})
	must(w.t, err)
	return v.(*storage.Doc).Title()
}

const makeFolder = `name: Test.Folder
description: Makes a folder.
input: document
output: document
params:
  - {name: called, type: string, required: true}
  - {name: title, type: string, default: Untitled}
steps:
  - op: Document.Create
    params: {type: Folder, name: "@{called}", properties: {"dc:title": "The @{title}"}}
`

func TestRun(t *testing.T) {
	w := newWorld(t)
	w.save(makeFolder)
	_, err := w.run("Test.Folder", storage.Ref("/"), map[string]any{"called": "a", "title": "Box"})
	must(t, err)
	if got := w.title("/a"); got != "The Box" {
		t.Errorf("title %q", got)
	}
	_, err = w.run("Test.Folder", storage.Ref("/"), map[string]any{"title": "Box"})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "called") {
		t.Errorf("a missing parameter: %v", err)
	}
}

func TestProblems(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ name, source, want string }{
		{"no name", "steps: []\n", "c.yaml:1:1: a chain must have a name"},
		{"unknown key", "name: A.B\nsteps: []\nstep: []\n", `c.yaml:3:1: a chain has no member "step", perhaps steps`},
		{"bad yaml", "name: [\n", "c.yaml:"},
		{"empty", "", "c.yaml:1:1: the text is empty"},
		{"unknown operation", "name: A.B\nsteps:\n  - op: Document.Creat\n", "c.yaml:3:5: step 1: Document.Creat: unknown operation, perhaps Document.Create"},
		{"unknown parameter", "name: A.B\nsteps:\n  - op: Document.Create\n    params:\n      type: File\n      nam: x\n", `c.yaml:6:7: step 1: Document.Create: unknown parameter "nam", perhaps name`},
		{"missing parameter", "name: A.B\ninput: document\nsteps:\n  - op: Document.Create\n", `c.yaml:4:5: step 1: Document.Create: parameter "type" is missing`},
		{"types do not flow", "name: A.B\ninput: blob\nsteps:\n  - op: Document.Lock\n", "c.yaml:4:5: step 1: Document.Lock: input: must be of type document or documents, not blob"},
		{"a parameter twice", "name: A.B\ninput: document\nsteps:\n  - op: Document.Create\n    params:\n      type: File\n      name: a\n      type: Note\n", `c.yaml:8:7: parameter "type" is given more than once`},
		{"a property twice", "name: A.B\ninput: document\nsteps:\n  - op: Document.Create\n    params:\n      type: File\n      properties: {dc:title: a, dc:title: b}\n", `c.yaml:7:33: "dc:title" is given more than once`},
		{"a branch twice", "name: A.B\nsteps:\n  - switch: \"1\"\n    cases:\n      a: []\n      a: []\n", `"a" more than once`},
		{"itself", "name: A.B\nsteps:\n  - op: RunOperation\n    params: {id: A.B}\n", "c.yaml:1:1: the chain calls itself: A.B → A.B"},
		{"alias", "name: A.B\nsteps:\n  - &x {op: Log, params: {level: info, message: m}}\n  - *x\n", "c.yaml:4:5: a step is not a map"},
		{"two documents", "name: A.B\nsteps: []\n---\nname: B\n", "c.yaml:3:1: only one chain per file is allowed: a second document follows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.run("Chain.Save", nil, map[string]any{"source": c.source, "name": "c.yaml"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCircle(t *testing.T) {
	w := newWorld(t)
	log := "  - op: Log\n    params: {level: info, message: m}\n"
	w.save("name: C.One\nsteps:\n" + log)
	w.save("name: C.Two\nsteps:\n  - op: C.One\n")
	w.save("name: C.Three\nsteps:\n  - op: Chain.C.Two\n")
	_, err := w.run("Chain.Save", nil, map[string]any{"source": "name: C.One\nsteps:\n  - op: C.Three\n"})
	if err == nil || !strings.Contains(err.Error(), "C.One → C.Three → C.Two → C.One") {
		t.Errorf("got %v", err)
	}
}

// TestLadder holds that chains which call the same chain are read once each: 24 levels of two chains that both call both
// below have 16 million ways down. The test would not end if each was followed.
func TestLadder(t *testing.T) {
	w := newWorld(t)
	log := "  - op: Log\n    params: {level: info, message: m}\n"
	const levels = 24
	name := func(level int, side string) string { return fmt.Sprintf("L.%s%d", side, level) }
	for level := range levels {
		for _, side := range []string{"Left", "Right"} {
			steps := log
			if level > 0 {
				steps = fmt.Sprintf("  - op: %s\n  - op: %s\n", name(level-1, "Left"), name(level-1, "Right"))
			}
			w.save("name: " + name(level, side) + "\nsteps:\n" + steps)
		}
	}
	_, err := w.run("Chain.Save", nil, map[string]any{"source": "name: L.Left0\nsteps:\n  - op: " + name(levels-1, "Right") + "\n"})
	if err == nil || !strings.Contains(err.Error(), "calls itself: L.Left0 → L.Right23 → L.Left22") || !strings.HasSuffix(err.Error(), "→ L.Left0") {
		t.Errorf("a circle below the ladder: %v", err)
	}
	above := name(levels-1, "Left")
	for i := levels; i < 32; i++ {
		w.save(fmt.Sprintf("name: L.Above%d\nsteps:\n%s  - op: %s\n", i, log, above))
		above = fmt.Sprintf("L.Above%d", i)
	}
	_, err = w.run("Chain.Save", nil, map[string]any{"source": "name: L.Top\nsteps:\n  - op: L.Left3\n  - op: " + above + "\n"})
	if err == nil || !strings.Contains(err.Error(), "nested more than 32 deep: L.Top → L.Above31") {
		t.Errorf("33 levels: %v", err)
	}
}

func TestOnError(t *testing.T) {
	w := newWorld(t)
	w.save(`name: T.Step
input: document
steps:
  - op: Document.Create
    params: {type: Folder, name: made}
  - op: Document.GetChild
    params: {name: nobody}
    onError: {continue: true}
  - op: Document.SetProperty
    params: {xpath: "dc:title", value: "@{Exception}"}
`)
	_, err := w.run("T.Step", storage.Ref("/"), nil)
	must(t, err)
	if got := w.title("/made"); !strings.Contains(got, "nobody") {
		t.Errorf("the title is not the failure: %q", got)
	}
	w.save(`name: T.Whole
input: document
onError: {result: sorry}
steps:
  - op: Document.Create
    params: {type: Folder, name: gone}
  - op: Document.GetChild
    params: {name: nobody}
`)
	got, err := w.run("T.Whole", storage.Ref("/"), nil)
	must(t, err)
	if got != "sorry" {
		t.Errorf("result %v", got)
	}
	if _, err := w.run("Repository.GetDocument", nil, map[string]any{"value": "/gone"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("what the failed chain wrote stayed: %v", err)
	}
}

func TestWhen(t *testing.T) {
	w := newWorld(t)
	w.save(`name: T.When
input: document
params: [{name: lock, type: boolean, default: false}]
steps:
  - op: Document.Create
    params: {type: Folder, name: f}
  - op: Document.Lock
    when: "expr: lock"
`)
	for _, lock := range []bool{false, true} {
		v, err := w.run("T.When", storage.Ref("/"), map[string]any{"lock": lock})
		must(t, err)
		if _, _, locked := v.(*storage.Doc).Locked(); locked != lock {
			t.Errorf("lock %v: locked %v", lock, locked)
		}
	}
}

func TestVersions(t *testing.T) {
	w := newWorld(t)
	w.save(makeFolder)
	w.save(makeFolder) // equal: no version
	changed := strings.Replace(makeFolder, "The @", "A @", 1)
	w.save(changed)
	diff, err := w.run("Chain.Diff", nil, map[string]any{"name": "Test.Folder"})
	must(t, err)
	if !strings.Contains(diff.(string), `-    params: {type: Folder, name: "@{called}", properties: {"dc:title": "The @{title}"}}`) {
		t.Errorf("diff:\n%s", diff)
	}
	_, err = w.run("Chain.Restore", nil, map[string]any{"name": "Test.Folder", "version": 1})
	must(t, err)
	_, err = w.run("Test.Folder", storage.Ref("/"), map[string]any{"called": "a"})
	must(t, err)
	if got := w.title("/a"); got != "The Untitled" {
		t.Errorf("title %q", got)
	}
	_, err = w.run("Chain.Delete", nil, map[string]any{"name": "Test.Folder"})
	must(t, err)
	if _, err = w.run("Test.Folder", storage.Ref("/"), map[string]any{"called": "b"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleted and still there: %v", err)
	}
	if _, err = w.run("Chain.Read", nil, map[string]any{"name": "Test.Folder", "version": 2}); err != nil {
		t.Errorf("versions of a deleted chain: %v", err)
	}
}

// TestLoad opens the same repository with another engine: what is kept is deployed again.
func TestLoad(t *testing.T) {
	w := newWorld(t)
	w.save(makeFolder)
	again := chains.New()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), again.Ops())...)
	must(t, err)
	e := engine.New(engine.Config{Repo: w.repo, Set: set, Log: slog.New(slog.DiscardHandler)})
	must(t, again.Load(t.Context(), e))
	if _, ok := e.Set().Op("Test.Folder"); !ok {
		t.Error("a kept chain is not there after a new start")
	}
}

// TestLoadBroken opens a repository whose one chain names an operation that is gone: it is
// reported, and the others are deployed.
func TestLoadBroken(t *testing.T) {
	w := newWorld(t)
	must(t, w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{
			Name: "Test.Gone", Doc: "Will be gone.", Effect: engine.Pure,
			Callers: engine.Anyone,
			Run:     engine.On(func(_ struct{}, _ *engine.Ctx, _ engine.Void) (engine.Void, error) { return engine.Void{}, nil }),
		}})
	}))
	w.save("name: A.Broken\nsteps:\n  - op: Test.Gone\n")
	w.save(makeFolder)
	again := chains.New()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), again.Ops())...)
	must(t, err)
	e := engine.New(engine.Config{Repo: w.repo, Set: set, Log: slog.New(slog.DiscardHandler)})
	if err := again.Load(t.Context(), e); err == nil || !strings.Contains(err.Error(), "A.Broken") {
		t.Errorf("got %v", err)
	}
	if _, ok := e.Set().Op("Test.Folder"); !ok {
		t.Error("a sound chain is not deployed")
	}
}

// TestReload saves a chain while it runs: the call goes on with the steps it began with,
// the next one has the new ones.
func TestReload(t *testing.T) {
	w := newWorld(t)
	source := func(title string) string {
		return "name: T.Reload\ninput: document\nsteps:\n  - op: Test.Pause\n  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: " + title + "}\n"
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	first := true
	must(t, w.engine.Swap(func(s *engine.Set) (*engine.Set, error) {
		return s.With([]engine.Op{{
			Name: "Test.Pause", Doc: "Waits the first time.", Effect: engine.Pure,
			Callers: engine.Anyone,
			Run: engine.On(func(_ struct{}, _ *engine.Ctx, _ engine.Void) (engine.Void, error) {
				if first {
					first = false
					close(entered)
					<-leave
				}
				return engine.Void{}, nil
			}),
		}})
	}))
	w.save(source("old"))
	_, err := w.run("Document.Create", storage.Ref("/"), map[string]any{"type": "File", "name": "x"})
	must(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := w.run("T.Reload", storage.Ref("/x"), nil)
		done <- err
	}()
	<-entered
	w.save(source("new"))
	close(leave)
	must(t, <-done)
	if got := w.title("/x"); got != "old" {
		t.Errorf("the running call: title %q", got)
	}
	_, err = w.run("T.Reload", storage.Ref("/x"), nil)
	must(t, err)
	if got := w.title("/x"); got != "new" {
		t.Errorf("the next call: title %q", got)
	}
}

// TestSteps: a chain has as many steps as the limit says, and one more is informed of in its place.
func TestSteps(t *testing.T) {
	w := newWorld(t, engine.Limits{Steps: 7})
	save := func(n int) error {
		_, err := w.run("Chain.Save", nil, map[string]any{"source": "name: Long\nsteps:\n" + strings.Repeat("  - op: Context.FetchDocument\n", n)})
		return err
	}
	if err := save(7); err != nil {
		t.Error(err)
	}
	if err := save(8); err == nil || !strings.Contains(err.Error(), "10:5: more than 7 steps") {
		t.Errorf("8 steps: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(makeFolder)
	f.Add("{\"name\":\"a\",\"steps\":[]}")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, source string) {
		chain, problems := chains.Parse("f.yaml", []byte(source))
		if chain == nil && len(problems) == 0 {
			t.Error("neither a chain nor a problem")
		}
	})
}

// TestSecretParams reads which parameters of a chain are secrets: as it says, else by their names.
func TestSecretParams(t *testing.T) {
	chain, problems := chains.Parse("a.yaml", []byte("name: Test.A\nparams:\n  - {name: pin, secret: true}\n  - {name: title}\n  - {name: password}\n  - {name: key, secret: false}\nsteps: [{op: Test.B}]\n"))
	if problems != nil {
		t.Fatal(problems)
	}
	for i, want := range []bool{true, false, true, false} {
		if p := chain.Params[i]; p.Secret != want {
			t.Errorf("%s: secret %v", p.Name, p.Secret)
		}
	}
}
