package ops_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"catena/chains"
	"catena/decks"
	"catena/engine"
	"catena/engine/declaration"
	"catena/engine/event"
	"catena/engine/hook"
	"catena/engine/library"
	"catena/engine/listener"
	"catena/engine/scenario"
	"catena/engine/schedule"
	"catena/engine/waiting"
	"catena/ops"
	"catena/rest"
	"catena/rest/resttest"
	"catena/scripts"
	"catena/storage"
	"catena/storage/fault"
)

var update = flag.Bool("update", false, "write what happens into the scenarios as what is expected")

// folders hold the scenarios.
var folders = []string{
	"*/testdata",
	"../chains/testdata",
	"../decks/testdata",
	"../engine/declaration/testdata",
	"../engine/hook/testdata",
	"../engine/listener/testdata",
	"../engine/schedule/testdata",
	"../engine/waiting/testdata",
	"../scripts/testdata",
}

// entry points are the ways every scenario is played through.
var entryPoints = []struct {
	name string
	open func(*resttest.Server) scenario.EntryPoint
}{
	{"engine", func(s *resttest.Server) scenario.EntryPoint { return engineEntryPoint{s} }},
	{"mcp", func(s *resttest.Server) scenario.EntryPoint { return &mcpEntryPoint{s, map[string]any{}} }},
	{"rest", func(s *resttest.Server) scenario.EntryPoint { return &restEntryPoint{s} }},
}

// engineEntryPoint calls the engines of the servers in turn.
type engineEntryPoint struct{ s *resttest.Server }

func (d engineEntryPoint) Run(ctx context.Context, user string, c scenario.Command) scenario.Outcome {
	e, err := d.s.Turn(ctx)
	if err != nil {
		return broken(err)
	}
	out := scenario.Engine(e).Run(ctx, user, c)
	if f := out.Failure; f != nil {
		if err := misnamed(e.Set(), c, f); err != nil {
			return broken(err)
		}
	}
	if err := mistyped(e.Set(), c, out); err != nil {
		return broken(err)
	}
	return out
}

// asked are the variables that operations read by themselves, and the content of a deck, which a listener checks.
var asked = []string{"conversationId", "currentDocument", "data", "document.routing.step", "taskDocument"}

// misnamed returns an error if what a failure blames is neither a parameter of the operation, nor a member of one that is an
// object, nor its input, nor a variable that it reads. REST and MCP tell callers this name.
func misnamed(set *engine.Set, c scenario.Command, f *scenario.Failure) error {
	d, ok := set.Op(cmp.Or(f.Op, c.Op))
	if !ok || f.Field == "" {
		return nil
	}
	var vars map[string]any
	if c.Vars != nil {
		if err := json.Unmarshal(c.Vars, &vars); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(c.Input, []byte("{")) {
		return nil // a member of the input
	}
	names := slices.Concat(slices.Collect(maps.Keys(vars)), asked, []string{"input"})
	for _, p := range d.Params() {
		if p.Type == "map" || p.Type == "object" || p.Type == "properties" {
			return nil // a member of it
		}
		names = append(append(names, p.Name), p.Aliases...)
	}
	for _, name := range names {
		// Behind the name may be the place within its value.
		if rest, ok := strings.CutPrefix(f.Field, name); ok && (rest == "" || strings.ContainsAny(rest[:1], "/.[")) {
			return nil
		}
	}
	return fault.Internal.Errorf("%s: the failure %q names the field %q, which is none of %s", d.Name, f.Message, f.Field, strings.Join(names, ", "))
}

// embedded are the scenarios that show numbers of changes, which are others in a store that several processes write to.
var embedded = []string{"drive.change", "drive.edit", "drive.synchronize"}

// alone are the scenarios about what a server has for itself, or at first: traces, runs that have ended but are not written, and
// that there are no others.
var alone = []string{"audit.get_trace", "service.server", "waiting.runs"}

// TestScenarios plays every scenario through every entry point, each on a fresh server. make postgres plays them on
// PostgreSQL, and make nodes on two servers that answer in turn.
func TestScenarios(t *testing.T) {
	for _, file := range scenarios(t) {
		if os.Getenv("TEST_STORE") != "" && slices.Contains(embedded, nameOf(file)) {
			continue
		}
		t.Run(nameOf(file), func(t *testing.T) {
			for _, d := range entryPoints {
				if *update && d.name != "engine" {
					continue
				}
				t.Run(d.name, func(t *testing.T) {
					t.Parallel()
					play(t, file, d.open)
				})
			}
		})
	}
}

// nameOf makes document.create of document/testdata/create.txtar.
func nameOf(file string) string {
	dir, base := filepath.Split(file)
	return filepath.Base(filepath.Dir(filepath.Clean(dir))) + "." + strings.TrimSuffix(base, ".txtar")
}

func scenarios(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

func play(t *testing.T, file string, open func(*resttest.Server) scenario.EntryPoint) {
	t.Helper()
	script, err := scenario.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	s, clock := serverOf(t, world{single: slices.Contains(alone, nameOf(file)), fired: func(name string) {
		if !event.Known(name) && !slices.Contains(ownEvents, name) {
			t.Errorf("event %s is fired, and package event does not list it", name)
		}
	}})
	w := scenario.World{
		EntryPoint: open(s), Spare: engineEntryPoint{s}, Tick: clock.Tick,
		User:  func(name string, groups ...string) error { s.User(name, groups...); return nil },
		Rerun: os.Getenv("TEST_STORE") != "",
	}
	if err := scenario.Play(context.Background(), script, w, *update); err != nil {
		t.Error(err)
	}
	if !*update {
		return
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if after := script.Text(); !slices.Equal(before, after) {
		if err := os.WriteFile(file, after, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// server is a fresh server with the users alice and bob.
func server(t *testing.T) (*resttest.Server, *scenario.Clock) {
	t.Helper()
	return serverOf(t, world{})
}

// world is what scenarios are played in.
type world struct {
	single bool                  // one server in any case
	fired  func(name string)     // is told the name of each event; nil: nobody is
	change func(*storage.Config) // nil: nothing is changed
}

// serverOf is server in a world of its own.
func serverOf(t *testing.T, in world) (*resttest.Server, *scenario.Clock) {
	t.Helper()
	command, err := worker()
	if err != nil {
		t.Fatal(err)
	}
	clock := scenario.NewClock()
	var runs *waiting.Runs
	declarations := func() *declaration.Declarations {
		types, err := declaration.New(fstest.MapFS{}, fstest.MapFS{})
		if err == nil {
			err = types.Declare()
		}
		if err != nil {
			t.Fatal(err)
		}
		return types
	}
	s := resttest.Start(t, resttest.Config{
		Single: in.single,
		Repo: func(r *storage.Repo) {
			decks.Listen(r)
			r.OnEvent(func(_ *storage.Tx, e storage.Event) error {
				if in.fired != nil {
					in.fired(e.Name)
				}
				return nil
			})
		},
		Ops: decks.Ops(),
		Deployed: func() library.Deployments {
			runner := scripts.New(scripts.Options{Worker: command, Limits: scripts.Limits{Spares: 1}})
			t.Cleanup(func() {
				if err := runner.Close(); err != nil {
					t.Error(err)
				}
			})
			runs = waiting.New()
			texts, err := ops.NewTexts(func(string) fs.FS { return fstest.MapFS{} })
			types := declarations()
			if err == nil {
				err = texts.Declare(types.Base().Types)
			}
			if err != nil {
				t.Fatal(err)
			}
			types.Beside(texts.Providers, texts.Actions, texts.Workflows)
			return library.Deployments{types, texts, runner.Modules(), runner, chains.New(), listener.New(), runs, schedule.New(), hook.New()}
		},
		Storage: func(c *storage.Config) {
			c.Clock, c.NewID, c.PasswordMemory, c.Secret, c.Declared = clock.Now, clock.NewID, 64, []byte("scenario"), declarations().Declared
			if in.change != nil {
				in.change(c)
			}
		},
		Engine: func(c *engine.Config) { c.Clock, c.NewID, c.Keeper = clock.Now, clock.NewID, runs },
		Rest:   func(c *rest.Config) { c.Limits.Rate = -1 },
	})
	s.User("alice")
	s.User("bob")
	return s, clock
}

// ownEvents are those that scenarios fire.
var ownEvents = []string{"desk_cleared", "evening"}

// TestEveryOperation checks that each operation occurs in a scenario.
func TestEveryOperation(t *testing.T) {
	played := map[string]bool{}
	s, _ := server(t)
	for _, file := range scenarios(t) {
		script, err := scenario.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range script.Ops() {
			if d, ok := s.Engine.Set().Op(name); ok {
				played[d.Name] = true
			}
		}
	}
	for _, name := range s.Engine.Set().Names() {
		if !played[name] {
			t.Errorf("%s is in no scenario", name)
		}
	}
}
