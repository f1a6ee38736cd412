package chains

import (
	"catena/engine"
	"catena/engine/library"
	"catena/storage/fault"
)

type runParams struct {
	Source string         `json:"source" doc:"The text."`
	Name   string         `json:"name" default:"chain.yaml" doc:"File name for messages."`
	Params map[string]any `json:"params,omitzero" doc:"Parameters of the chain."`
}

// run runs a text as a step that nothing but this call knows.
func (p runParams) run(ch *Chains, c *engine.Ctx, in any) (any, error) {
	_, problems, err := ch.check(c, p.Name, p.Source)
	if err != nil {
		return nil, err
	}
	if wrong := library.Wrong(problems); len(wrong) > 0 {
		return nil, library.Refused(wrong, fault.CodeSource)
	}
	chain, _ := Parse(p.Name, []byte(p.Source))
	plan, err := chain.plan(c.Set(), nil)
	if err != nil {
		return nil, err
	}
	if plan.Waits() && !c.DryRun() { // its text would be gone when it goes on
		return nil, fault.Invalid.Errorf("source: a chain that waits must be saved before it runs; a dry run shows the steps up to the wait").In("source")
	}
	op, err := chain.Op(c.Set())
	if err != nil {
		return nil, err
	}
	op.Callers = engine.Admins
	set, err := c.Set().With([]engine.Op{op})
	if err != nil {
		return nil, fault.Invalid.Errorf("%w", err).In("source")
	}
	step, err := set.Plan([]engine.Step{{Op: chain.Name, Params: p.Params}}, "", engine.PlanOptions{Name: chain.Name})
	if err != nil {
		return nil, err
	}
	return step.Run(c, in)
}
