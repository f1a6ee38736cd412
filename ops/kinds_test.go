package ops_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"catena/chains"
	"catena/engine"
)

// stepForms are what a step can be and have, beside the kinds of blocks that the engine lists.
var stepForms = []string{
	"as", "each batch", "onError chain", "onError continue", "onError result", "retry", "sub-chain with defaults", "undo",
	"wait event", "wait for", "wait task", "wait until", "when",
}

// runs is a command of a scenario that runs a chain: by its file with an input, or by its name.
var runs = regexp.MustCompile(`(?m)^(?:dry )?(?:chain (\S+) \S.*|run (\S+).*)\n=`)

// TestStepKinds: every kind of step, and all that a step can have, is in a chain that a scenario runs and that does not fail.
// Each scenario is played through the engine, REST and MCP.
func TestStepKinds(t *testing.T) {
	want := slices.Clone(stepForms)
	for _, b := range engine.Blocks {
		want = append(want, b.Kind)
	}
	found := map[string][]string{}
	for _, file := range scenarios(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range formsOf(txtar.Parse(data)) {
			found[form] = append(found[form], nameOf(file))
		}
	}
	for _, form := range want {
		if len(found[form]) == 0 {
			t.Errorf("no scenario runs a chain with %s", form)
		}
	}
}

// formsOf are the forms of the steps of the chains that a scenario runs, and of the chains that these call.
func formsOf(a *txtar.Archive) (all []string) {
	byName, names := map[string]*chains.Chain{}, map[string]string{}
	for _, f := range a.Files {
		if chain, problems := chains.Parse(f.Name, f.Data); len(problems) == 0 {
			byName[chain.Name], names[f.Name] = chain, chain.Name
		}
	}
	seen := map[string]bool{}
	var visit func(name string)
	var steps func(list []engine.Step)
	steps = func(list []engine.Step) {
		for i := range list {
			s := &list[i]
			all = append(all, ownForms(s)...)
			if inner := byName[s.Op]; inner != nil {
				if slices.ContainsFunc(inner.Params, func(p engine.Param) bool { return p.Default != nil && s.Params[p.Name] == nil }) {
					all = append(all, "sub-chain with defaults")
				}
				visit(inner.Name)
			}
			if s.Block != nil {
				for _, b := range s.Block.Branches {
					steps(b.Steps)
				}
			}
		}
	}
	visit = func(name string) {
		if chain := byName[name]; chain != nil && !seen[name] {
			seen[name] = true
			steps(chain.Steps)
		}
	}
	for _, m := range runs.FindAllStringSubmatch(string(a.Comment), -1) {
		if m[1] != "" {
			visit(names[m[1]])
		} else {
			visit(m[2])
		}
	}
	return all
}

// ownForms are those of a step without the steps within it.
func ownForms(s *engine.Step) (all []string) {
	given := map[string]bool{"as": s.As != "", "when": s.When != "", "retry": s.Retry != nil, "undo": s.Undo != nil}
	if h := s.OnError; h != nil {
		given["onError chain"], given["onError continue"], given["onError result"] = h.Chain != "", h.Continue, h.Chain == "" && !h.Continue
	}
	if b := s.Block; b != nil {
		given[b.Kind], given["each batch"] = true, b.Batch > 0
		for key := range b.Wait {
			given["wait "+key] = true
		}
	}
	for form, is := range given {
		if is {
			all = append(all, form)
		}
	}
	return all
}

// TestStepKindsFinds holds that a chain that is not run, or fails, shows nothing.
func TestStepKindsFinds(t *testing.T) {
	const files = "-- a.yaml --\nname: A\nsteps:\n  - wait: {for: 1h, event: x}\n  - op: B\n-- b.yaml --\nname: B\nparams: [{name: p, default: 1}]\nsteps:\n  - return: x\n"
	for script, want := range map[string]string{
		"chain a.yaml /\n= 1\n":            "return sub-chain with defaults wait wait event wait for",
		"chain b.yaml\n= 1\nrun B\n= 1\n":  "return",
		"chain a.yaml\n= 1\n":              "",
		"chain a.yaml /\n! invalid: no\n":  "",
		"dry chain b.yaml void {}\n= {}\n": "return",
	} {
		got := formsOf(txtar.Parse([]byte(script + files)))
		slices.Sort(got)
		if strings.Join(slices.Compact(got), " ") != want {
			t.Errorf("%q: %v, want %s", script, got, want)
		}
	}
}
