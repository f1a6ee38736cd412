package library

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/storage/schema"
)

// Task is what a text says that runs one operation, chain or script as a user.
type Task struct {
	Name, Description string
	Disabled          bool
	As                string // the user, or system
	Step              engine.Step
}

// Read reads a task, and by the table what else its kind has; it returns the keys that there are.
func (t *Task) Read(p *Parser, root *yaml.Node, noun string, more map[string]func(*yaml.Node)) map[string]bool {
	t.Step = engine.Step{File: p.File, Line: root.Line, Column: root.Column, Positions: map[string]engine.Position{}}
	more["name"], more["description"], more["as"] = p.Text(&t.Name), p.Text(&t.Description), p.Text(&t.As)
	more["enabled"] = func(v *yaml.Node) { t.Disabled = !p.Boolean(v) }
	more["run"] = func(v *yaml.Node) { p.Run(v, &t.Step) }
	more["params"] = func(v *yaml.Node) { p.Params(v, &t.Step) }
	seen := p.Fields(root, "a "+noun, more)
	p.Name(root, t.Name)
	if t.Step.Op == "" {
		p.At(root, "a %s must have run: the operation, chain or script", noun)
	}
	if t.As == "" {
		p.At(root, "a %s must have as: the user that it runs as", noun)
	}
	return seen
}

// Name reports a name that cannot stand in addresses.
func (p *Parser) Name(root *yaml.Node, name string) {
	if name == "" || strings.ContainsAny(name, "/\\ \t\n@?#%") || len(name) > 100 {
		p.At(root, "name %q: must contain only letters, digits and . _ - ( ), at most 100 bytes", name)
	}
}

// Run reads the operation that a step runs.
func (p *Parser) Run(v *yaml.Node, into *engine.Step) {
	into.Line, into.Column = v.Line, v.Column
	p.Text(&into.Op)(v)
}

// Params reads the parameters of a step.
func (p *Parser) Params(v *yaml.Node, into *engine.Step) {
	if v.Kind != yaml.MappingNode {
		p.At(v, "params is not a map")
		return
	}
	into.Params, _ = p.Value(v).(map[string]any)
	Positions(v, "", into.Positions)
}

// Plan resolves what the task runs, on an input of a type, with a variable that tells about the run.
func (t *Task) Plan(set *engine.Set, in, variable string, o engine.PlanOptions) (*engine.Plan, error) {
	o.Trusted, o.Name, o.Vars = true, t.Name, []string{variable}
	return set.Plan([]engine.Step{t.Step}, in, o)
}

// Works returns what of a task a server does not have.
func (t *Task) Works(set *engine.Set, types *schema.Registry, file, in, variable string) []Problem {
	_, err := t.Plan(set, in, variable, engine.PlanOptions{Types: types})
	return PlanProblems(file, t.Step.Line, t.Step.Column, err)
}

// Check returns what is wrong with a task beyond its form. users are those that there are; nil: those of the repository.
func (t *Task) Check(c *engine.Ctx, file, in, variable string, users func(name string) bool) []Problem {
	problems := t.Works(c.Set(), c.Tx.Repo().Types(), file, in, variable)
	if users == nil {
		users = func(name string) bool {
			_, err := engine.RunsAs(c.Tx, name)
			return err == nil
		}
	}
	if t.As != "system" && !users(t.As) {
		problems = append(problems, Problem{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("as: user %s does not exist", t.As)})
	}
	return problems
}
