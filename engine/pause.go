package engine

import (
	"context"
	"strconv"
	"strings"
	"time"

	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
)

// Suspension is where a chain stands that waits: all that it needs to go on in another transaction.
type Suspension struct {
	Run     string // id of the run; "" when it waits for the first time
	Chain   string
	Version int64
	Step    int // the step to go on with, among those of the chain counted from 0
	Line    int // where the chain waits
	Input   any
	Vars    map[string]any
	Params  map[string]any
	Wait    Wait
	Action  string // what ended the task that it waited for, once it goes on; else ""
	Latest  bool   // it goes on in the version that is deployed, not in that in which it began

	// Of an each in batches: what it works on in one transaction, and, once it goes on, whether there is more behind that.
	Batched bool
	Items   []any // when it begins, all of them
	Batch   int
	More    bool
}

// Wait is what a chain waits for: an instant, an event of a document, or the end of a task, the last two until an
// instant if there is one.
type Wait struct {
	Until time.Time
	Event string
	Doc   string // id
	Task  string // id of a task, instead of a document's
}

// The reasons why a chain goes on, as the variable Waited tells them.
const (
	WaitedTime    = "time"
	WaitedEvent   = "event"
	WaitedTask    = "task"
	WaitedTimeout = "timeout" // what it waited for has not happened
	WaitedAsked   = "asked"   // somebody had it go on
)

// The variables that tell the steps behind a wait why the chain goes on, and by which action the task has ended.
const (
	waitedVariable = "Waited"
	actionVariable = "WaitedAction"
)

// TaskEnded is the event of a task that has ended.
const TaskEnded = "workflowTaskCompleted"

// MaxWait is how long a chain may wait at one step.
const MaxWait = 5 * 366 * 24 * time.Hour

// MaxBatch is how many items of an each one transaction works on.
const MaxBatch = 1000

// pauses reports whether the chain leaves the transaction at a block.
func (bl *block) pauses() bool { return bl.Kind == BlockWait || bl.Kind == BlockEach && bl.Batch > 0 }

// pausing finds the steps at which a chain leaves the transaction. They are only among those of the chain itself: what is
// around a step within another one could not be found again.
func (b *planner) pausing(p *Plan) {
	for i := range p.steps {
		st := &p.steps[i]
		if st.block == nil {
			continue
		}
		for _, branch := range st.block.branches {
			everyStep(branch, func(inner *step) {
				if inner.block != nil && inner.block.pauses() {
					b.fail(&inner.Step, inner.n, "", fault.Invalid.Errorf("only the steps of a chain itself may wait or work in batches, not those within another step"))
				}
			})
		}
		if !st.block.pauses() {
			continue
		}
		st.block.chain, st.block.index, p.waits = b.o.Name, i, true
		if st.handler != nil || st.Retry != nil {
			b.fail(&st.Step, st.n, "", fault.Invalid.Errorf("a step that waits or works in batches has neither onError nor retry"))
		}
	}
	if !p.waits {
		return
	}
	for _, param := range b.o.Params {
		if param.Secret {
			b.fail(&p.steps[0].Step, 1, "", fault.Invalid.Errorf("parameter %q is a secret, which a chain that waits does not keep", param.Name))
		}
	}
	if o := b.o.Output; o != "" && o != words[kVoid] && o != words[kAny] {
		b.fail(&p.steps[0].Step, 1, "", fault.Invalid.Errorf("a chain that waits returns the run, so its output must be object or void, not %s", o))
	}
}

// waiting compiles what a wait waits for.
func (b *planner) waiting(st *step) {
	for name, v := range st.Block.Wait {
		compiled, err := compileValue(v, true)
		if err != nil {
			b.fail(&st.Step, st.n, BlockWait+"/"+name, err)
			continue
		}
		compiled.each(BlockWait+"/"+name, func(path string, p *expr.Program) { b.readable(&st.Step, st.n, path, p) })
		if text, ok := compiled.fixed.(string); ok && name == "for" {
			if _, err := asDuration(text); err != nil {
				b.fail(&st.Step, st.n, BlockWait+"/"+name, err)
			}
		}
		if text, ok := compiled.fixed.(string); ok && name == "until" {
			if _, err := asInstant(text); err != nil {
				b.fail(&st.Step, st.n, BlockWait+"/"+name, err)
			}
		}
		if st.block.wait == nil {
			st.block.wait = map[string]value{}
		}
		st.block.wait[name] = compiled
	}
	b.scope.add(waitedVariable, actionVariable)
}

// Awaits is the name of the event that the step waits for, and where it stands; "" if it waits for none, or for one that an expression
// names.
func (s *Step) Awaits() (event string, at Position) {
	if s.Block == nil {
		return "", Position{}
	}
	name, _ := s.Block.Wait[WaitedEvent].(string)
	if v, err := compileValue(name, true); err != nil || v.fixed == nil {
		return "", Position{}
	}
	return name, s.Positions[BlockWait+"/"+WaitedEvent]
}

// asDuration reads a duration as Go writes it, or in days.
func asDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n <= int(MaxWait.Hours()/24) {
			d = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || d <= 0 || d > MaxWait {
		return 0, fault.Invalid.Errorf("for %q: must be a duration such as 90s, 12h or 30d", text)
	}
	return d, nil
}

func asInstant(v any) (time.Time, error) {
	if at, ok := v.(time.Time); ok {
		return at, nil
	}
	text, _ := asText(v)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fault.Invalid.Errorf("until %q: must be an instant such as 2026-12-01T08:00:00Z", text)
	}
	return at, nil
}

// pause has the chain wait at this step, or behind it, and end for the caller with the run.
func (bl *block) pause(c *Ctx, st *step, in any) (any, error) {
	s := &Suspension{Step: bl.index + 1, Input: in}
	var err error
	if bl.Kind == BlockWait {
		s.Wait, err = bl.waitFor(c, in)
	} else {
		s.Step, s.Batched, s.Batch, s.Input = bl.index, true, bl.Batch, nil
		s.Items, err = bl.all(c, in)
		for i, item := range s.Items {
			if d, ok := item.(*storage.Doc); ok {
				s.Items[i] = d.Ref()
			}
		}
	}
	if err != nil {
		return nil, st.failed(StageInput, err)
	}
	return bl.suspend(c, st, s)
}

func (bl *block) suspend(c *Ctx, st *step, s *Suspension) (any, error) {
	keeper := c.Engine().keeper
	if keeper == nil {
		return nil, st.failed(StageRun, fault.Invalid.Errorf("chains cannot wait here"))
	}
	if d, ok := c.Set().Op(bl.chain); ok {
		s.Version = d.Version
	}
	s.Run, s.Chain, s.Line, s.Vars, s.Params = c.resumed, bl.chain, st.Line, c.Vars, c.params
	out, err := keeper.Suspend(c, s)
	if err != nil {
		return nil, st.failed(StageRun, err)
	}
	c.returned = &returned{out}
	return out, nil
}

// waitFor is what a wait waits for, in this run.
func (bl *block) waitFor(c *Ctx, in any) (w Wait, err error) {
	given := map[string]any{}
	for name, v := range bl.wait {
		if given[name], err = v.eval(c); err != nil {
			return w, err
		}
	}
	if v, ok := given["for"]; ok {
		text, _ := asText(v)
		d, err := asDuration(text)
		if err != nil {
			return w, err
		}
		w.Until = c.Now.Add(d)
	}
	if v, ok := given["until"]; ok {
		if w.Until, err = asInstant(v); err != nil {
			return w, err
		}
		if w.Until.Sub(c.Now) > MaxWait {
			return w, fault.Invalid.Errorf("until: more than %d days from now", MaxWait/(24*time.Hour))
		}
	}
	if v, ok := given["task"]; ok {
		w.Event = TaskEnded
		if w.Task, ok = v.(string); ok && w.Task != "" {
			return w, nil
		}
	} else if w.Event, ok = given["event"].(string); !ok {
		return w, nil
	}
	doc, ok := given["document"]
	if !ok {
		doc = in
	}
	d, err := c.convert(doc, kDoc)
	if err != nil || d == nil {
		return w, fault.Invalid.Errorf("document: what happens to which document must be known: %w", err)
	}
	w.Doc = d.(*storage.Doc).ID()
	return w, nil
}

// Resume goes on with a chain that waited, in the version in which it began unless the latest is asked for.
func (c *Ctx) Resume(s *Suspension, reason string) (any, error) {
	d, ok := c.run.set.Op(s.Chain)
	if !ok {
		return nil, fault.NotFound.Errorf("chain %s: is no longer deployed", s.Chain)
	}
	if d.Version != s.Version && !s.Latest {
		if d.AtVersion == nil {
			return nil, fault.NotFound.Errorf("chain %s version %d", s.Chain, s.Version)
		}
		var err error
		if c.run.set, d, err = c.atVersion(c.run.set, d, s.Version); err != nil {
			return nil, err
		}
	}
	for name, v := range s.Vars {
		c.SetVar(name, v)
	}
	c.SetVar(waitedVariable, reason)
	c.SetVar(actionVariable, s.Action)
	c.Input, c.resume = s.Input, s
	t := c.step(d, s.Input, nil, nil)
	out, err := c.dynamic(&d.Run.variants[0], s.Params, s.Input)
	return out, c.end(t, out, err)
}

// atVersion returns a set with an older version of an operation that is made of a text.
func (c *Ctx) atVersion(set *Set, d *Def, version int64) (*Set, *Def, error) {
	name, system := d.Name, *c
	system.As = c.run.e.System()
	system.Tx = c.Tx.As(system.As)
	op, err := d.AtVersion(&system, version)
	if err != nil {
		return nil, nil, err
	}
	if set, err = set.With([]Op{op}); err != nil {
		return nil, nil, fault.Wrap(err, "%s version %d", name, version)
	}
	d, _ = set.Op(name)
	return set, d, nil
}

// goOn runs the steps of a chain that waited from where it stands.
func (p *Plan) goOn(c *Ctx, s *Suspension, in any) (any, error) {
	// A wait goes on with the step behind it, an each with itself.
	at := s.Step - 1
	if s.Batched {
		at = s.Step
	}
	if at < 0 || at >= len(p.steps) || p.steps[at].block == nil || !p.steps[at].block.pauses() || (p.steps[at].block.Kind == BlockEach) != s.Batched {
		return nil, fault.Conflict.Errorf("chain %s: has changed, its step %d does not wait as it did when the run began; continue the run in its own version, or stop it", s.Chain, at+1)
	}
	steps := p.steps[s.Step:]
	if !s.Batched {
		return runSteps(c, steps, in)
	}
	st := &steps[0]
	if out, err := st.block.over(c, st, nil, s.Items); err != nil || c.returned != nil {
		return out, err
	}
	if s.More {
		return st.block.suspend(c, st, &Suspension{Step: s.Step, Batched: true, Batch: s.Batch, More: true})
	}
	return runSteps(c, steps[1:], nil)
}

// older returns the operation of a call as an older version of its text says, in a set with it. What was replaced may
// have been so for a reason: administrators alone run it.
func (e *Engine) older(ctx context.Context, set *Set, d *Def, as *Principal, version int64) (*Set, *Def, error) {
	switch {
	case d.AtVersion == nil:
		return nil, nil, fault.NotFound.Errorf("operation %s version %d", d.Name, version)
	case as == nil || !as.Admin:
		return nil, nil, fault.Denied.Errorf("operation %s version %d: is no longer deployed and only for administrators; the latest version is %d", d.Name, version, d.Version)
	}
	err := e.repo.View(ctx, e.System(), func(tx *storage.Tx) error {
		c := &Ctx{Context: ctx, Tx: tx, As: e.System(), Now: tx.Now(), Log: e.log, run: &running{e: e, set: set}}
		var err error
		set, d, err = c.atVersion(set, d, version)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return set, d, nil
}
