package engine

import (
	"slices"
	"time"

	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
	"catena/storage/work"
)

// Block is a step made of other steps.
type Block struct {
	Kind     string         // one of the kinds
	Value    string         // expression: the list of each, the condition of if, what switch compares
	Result   any            // what return gives; nil: its input
	Item     string         // of each, the variable that holds the item
	Most     int            // of each, how many items there may be; 0: DefaultItems
	Batch    int            // of each, how many items one transaction works on; 0: all, in this one
	Wait     map[string]any // of wait: for, until, event, document and task
	Branches []Branch       // of each, its steps; of if, those for true and else; of switch, those of each case, and the default last
}

// Branch is steps that run in one case.
type Branch struct {
	Name    string // of switch, the value
	Default bool
	Steps   []Step
}

// The kinds of blocks.
const (
	BlockEach     = "each"
	BlockIf       = "if"
	BlockSwitch   = "switch"
	BlockReturn   = "return"
	BlockParallel = "parallel"
	BlockWait     = "wait"
)

// BlockForm is how a kind of block is written, and what is said about it.
type BlockForm struct {
	Kind, Label, Doc string
	Value            bool     // the key of the kind holds an expression, which must be given
	Lists            []string // the keys with lists of steps; the first of them must be given unless there are Maps
	Maps             string   // the key with lists of steps by name
	Keys             []string // other keys
}

// Blocks are the kinds of blocks. The parser of chains, their editor and the search for steps read this table.
var Blocks = []BlockForm{
	{Kind: BlockIf, Label: "If, else", Doc: "Runs one list of steps if a condition is true, and another one if it is not.", Value: true, Lists: []string{"then", "else"}},
	{Kind: BlockSwitch, Label: "Switch", Doc: "Compares a value with those of cases, and runs the steps of the one that it equals.", Value: true, Maps: "cases", Lists: []string{"default"}},
	{Kind: BlockEach, Label: "For each", Doc: "Loops over a list: repeats its steps for every item.", Value: true, Lists: []string{"steps"}, Keys: []string{"item", "batch", "most"}},
	{Kind: BlockParallel, Label: "Parallel", Doc: "Runs branches at the same time, each with the same input.", Maps: BlockParallel},
	{Kind: BlockWait, Label: "Wait", Doc: "Pauses the chain for a time, or until an event occurs or a task ends."},
	{Kind: BlockReturn, Label: "Return", Doc: "Ends the chain with a value."},
}

// BlockOf is the form of a kind of block; ok is false if there is none.
func BlockOf(kind string) (form BlockForm, ok bool) {
	i := slices.IndexFunc(Blocks, func(b BlockForm) bool { return b.Kind == kind })
	if i < 0 {
		return BlockForm{}, false
	}
	return Blocks[i], true
}

// Bounds of each and of retry.
const (
	DefaultItems = 1000
	MaxItems     = 100_000
	MaxTries     = 10
	MaxPause     = 10 * time.Second
)

// Retry has a step tried again when it fails for a reason that may pass. What a try has written is undone.
type Retry struct {
	Times int           // tries altogether
	Pause time.Duration // between them
}

// block is a resolved Block.
type block struct {
	Block
	value    *expr.Program // nil: the input
	result   value
	branches [][]step
	wait     map[string]value
	chain    string // of a step at which it leaves the transaction, with the index of the step
	index    int
}

// plan resolves the steps of a block. What one branch sets may be read behind the block, for any may have run.
func (b *planner) block(st *step) {
	src := st.Block
	st.d = &Def{Op: Op{Name: src.Kind, Effect: Pure, Callers: Anyone}, table: &table{}}
	st.block = &block{Block: *src}
	if src.Kind == BlockWait {
		b.waiting(st)
	}
	if st.block.pauses() {
		st.d.Effect = Writes
	}
	if src.Value != "" && src.Value != "input" {
		program, err := parseExpr(src.Value, true)
		if err != nil {
			b.fail(&st.Step, st.n, src.Kind, err)
		}
		b.readable(&st.Step, st.n, src.Kind, program)
		st.block.value = program
	}
	var err error
	if st.block.result, err = compileValue(src.Result, b.o.Trusted); err != nil {
		b.fail(&st.Step, st.n, src.Kind, err)
	}
	st.block.result.each(src.Kind, func(path string, p *expr.Program) { b.readable(&st.Step, st.n, path, p) })
	outer, outerStep := b.scope.names[src.Item], b.scope.kept[src.Item]
	around := b.scope
	b.scope.keep(src.Item, st.n)
	for i := range src.Branches {
		if src.Kind == BlockParallel { // what a branch sets is its own
			b.scope = around.branch()
		}
		steps := b.steps(src.Branches[i].Steps)
		for k := range steps {
			if steps[k].d != nil {
				st.d.Effect = min(st.d.Effect, steps[k].effect())
			}
		}
		st.block.branches = append(st.block.branches, steps)
	}
	switch src.Kind {
	case BlockParallel:
		b.scope = around
		b.separate(st)
	case BlockEach:
		b.once(st.block.branches)
	}
	if !outer {
		delete(b.scope.names, src.Item)
	}
	if b.scope.kept[src.Item] = outerStep; outerStep == 0 {
		delete(b.scope.kept, src.Item)
	}
	b.scope.keep(st.As, st.n)
}

// once reports a return that ends a loop at its first item, which nobody means: the result of an item is what its last step gives.
func (b *planner) once(branches [][]step) {
	if b.o.Types == nil {
		return
	}
	for _, steps := range branches {
		for i := range steps {
			if st := &steps[i]; st.block != nil && st.block.Kind == BlockReturn && st.when == nil {
				b.fail(&st.Step, st.n, "", fault.Invalid.Errorf("ends the chain at the first item; Data.Value gives the value of an item"))
			}
		}
	}
}

// effect is the widest effect of a step and of its handler.
func (st *step) effect() Effect {
	if st.undo != nil { // what undoes it is forgotten by the transaction
		return Writes
	}
	if st.handler != nil && st.handler.chain != nil {
		return min(st.d.Effect, st.handler.chain.Effect)
	}
	return st.d.Effect
}

// inner are the kinds that the steps within a block are given.
func (bl *block) inner(in kindSet) kindSet {
	if bl.Kind != BlockEach {
		return in
	}
	if bl.value != nil {
		return setOf(kAny)
	}
	var out kindSet
	for k := range in.each() {
		switch k {
		case kDocs, kPage:
			out |= setOf(kDoc)
		case kBlobs:
			out |= setOf(kBlob)
		case kStrings:
			out |= setOf(kString)
		default:
			out |= setOf(kAny)
		}
	}
	return out
}

// ofInput reports whether a wait is for what happens to its input.
func (bl *block) ofInput() bool {
	task, isText := bl.Wait["task"].(string)
	return bl.Kind == BlockWait && bl.Wait["document"] == nil && (bl.Wait["event"] != nil || bl.Wait["task"] != nil && (!isText || task == ""))
}

// takes reports whether a block can work on an input of a kind: each without an expression needs a list, and a wait for what happens to its
// input a document.
func (bl *block) takes(k kind) bool {
	if bl.ofInput() {
		return k == kAny || k == kDoc || k == kRef || k == kString || k == kOther
	}
	switch k {
	case kAny, kBlobs, kDocs, kList, kOther, kPage, kRows, kStrings:
		return true
	}
	return bl.Kind != BlockEach || bl.value != nil
}

// flow are the kinds that a block may give for those it is given, and those with which the chain ends within it.
func (bl *block) flow(in kindSet) (out, returned kindSet) {
	if bl.Kind == BlockReturn {
		if bl.Result == nil {
			return 0, in
		}
		return 0, setOf(kAny)
	}
	switch {
	case bl.Kind == BlockParallel:
		return setOf(kMap), 0
	case bl.Kind == BlockWait:
		return in, 0
	case bl.pauses():
		return setOf(kVoid), 0
	}
	whole := bl.Kind == BlockEach // whether some branch is sure to run, or it makes no difference
	for i, steps := range bl.branches {
		one, back := flowOf(steps, bl.inner(in))
		returned |= back
		whole = whole || bl.Kind == BlockSwitch && bl.Branches[i].Default || bl.Kind == BlockIf && i == 1
		if bl.Kind != BlockEach {
			out |= one
			continue
		}
		for k := range one.each() {
			switch k {
			case kAny:
				out |= setOf(kAny)
			default:
				out |= setOf(listKind(k))
			}
		}
		if out&setOf(kVoid) != 0 { // nothing to collect: the list passes on
			out = out&^setOf(kVoid) | in
		}
	}
	if !whole {
		out |= in
	}
	return out, returned
}

// flowOf are the kinds that steps may give, and those with which the chain ends within them.
func flowOf(steps []step, in kindSet) (out, returned kindSet) {
	for i := range steps {
		next, _ := steps[i].flow(in)
		if bl := steps[i].block; bl != nil {
			_, back := bl.flow(in)
			returned |= back
		}
		in = next
	}
	return in, returned
}

// returned is what ends a chain before its last step.
type returned struct{ value any }

// run carries out a block.
func (bl *block) run(c *Ctx, st *step, in any) (out any, err error) {
	if err := c.count(); err != nil {
		return nil, st.failed(StageRun, err)
	}
	t := c.step(st.d, in, nil, nil)
	if t != nil {
		t.Line = st.Line
	}
	switch {
	case bl.pauses():
		out, err = bl.pause(c, st, in)
	case bl.Kind == BlockEach:
		out, err = bl.each(c, st, in)
	case bl.Kind == BlockParallel:
		out, err = bl.parallel(c, in)
	case bl.Kind == BlockReturn:
		if out = in; bl.Result != nil {
			if out, err = bl.result.eval(c); err != nil {
				err = st.failed(StageInput, err)
			}
		}
		c.returned = &returned{out}
	default:
		out, err = bl.choose(c, st, in)
	}
	if t != nil {
		if failed := c.end(t, out, err); err != nil {
			err = failed
		}
	}
	return out, err
}

// choose runs the branch of an if or a switch.
func (bl *block) choose(c *Ctx, st *step, in any) (any, error) {
	v, err := c.eval(bl.value)
	if err != nil {
		return nil, st.failed(StageInput, err)
	}
	text := expr.Text(v)
	at := slices.IndexFunc(bl.Branches, func(b Branch) bool { return !b.Default && b.Name == text })
	if at < 0 {
		at = slices.IndexFunc(bl.Branches, func(b Branch) bool { return b.Default })
	}
	if at < 0 {
		return in, nil
	}
	return runSteps(c, bl.branches[at], in)
}

// each runs the steps once for each item, which is their input, and collects what they give.
func (bl *block) each(c *Ctx, st *step, in any) (any, error) {
	items, err := bl.all(c, in)
	if err != nil {
		return nil, st.failed(StageInput, err)
	}
	return bl.over(c, st, in, items)
}

// all are the items of the list.
func (bl *block) all(c *Ctx, in any) ([]any, error) {
	if bl.value == nil {
		return bl.items(c, in)
	}
	list, err := c.eval(bl.value)
	if err != nil {
		return nil, err
	}
	return bl.items(c, list)
}

// over runs the steps for items.
func (bl *block) over(c *Ctx, st *step, in any, items []any) (any, error) {
	before, had := c.Vars[bl.Item]
	// Also after a failure, which a handler may tolerate: a variable around the loop has the value that it had.
	defer func() {
		if delete(c.Vars, bl.Item); had {
			c.SetVar(bl.Item, before)
		}
	}()
	failure := failureOf(c)
	var out collector
	for _, item := range items {
		if err := c.count(); err != nil {
			return nil, st.failed(StageRun, err)
		}
		failure.restore(c) // that of an item is not that of the next
		if ref, ok := item.(storage.Ref); ok {
			d, err := c.Tx.Doc(ref)
			if fault.Is(err, fault.NotFound) {
				continue // gone since it was found
			}
			if err != nil {
				return nil, st.failed(StageInput, err)
			}
			item = d
		}
		c.SetVar(bl.Item, item)
		got, err := runSteps(c, bl.branches[0], item)
		if err != nil || c.returned != nil {
			return got, err
		}
		out.add(got)
	}
	c.Input = in
	kinds, _ := flowOf(bl.branches[0], bl.inner(setOf(kindOf(in))))
	if kinds == setOf(kVoid) {
		return in, nil
	}
	return out.list(listKind(kinds.only())), nil
}

// items are what a list holds: of the page of a query, the documents of this and of the pages behind it, which are all
// found before the first is worked on, so that the work may change what the query finds.
func (bl *block) items(c *Ctx, list any) (items []any, err error) {
	most := bl.Most
	if most == 0 && bl.Batch > 0 {
		most = MaxItems
	} else if most == 0 {
		most = DefaultItems
	}
	switch v := list.(type) {
	case nil:
	case *storage.Page:
		for page := v; page != nil && len(items) <= most; {
			for _, d := range page.Docs {
				items = append(items, d.Ref())
			}
			if page, err = search.Next(c.Tx, page); err != nil {
				return nil, err
			}
		}
	case storage.Docs:
		items = List(v)
	case storage.Blobs:
		items = List(v)
	case []string:
		items = List(v)
	case []any:
		items = v
	case []int: // a range, such as 1..10
		items = List(v)
	case *search.Rows:
		items = List(v.Entries)
	default:
		return nil, fault.Invalid.Errorf("must be a list, not %s", wordOf(v))
	}
	if len(items) > most {
		return nil, fault.Limit.Errorf("more than %d items; most raises the limit, and Bulk.RunAction has none", most)
	}
	return items, nil
}

// retried tries a step again as long as it fails for a reason that may pass.
func (st *step) retried(c *Ctx, f func() (any, error)) (out any, err error) {
	for try := 1; ; try++ {
		err = c.Nest(func() (err error) {
			out, err = f()
			return err
		})
		if err == nil || try >= st.Retry.Times || passing(err) || !fault.Of(err).Passes() {
			return out, err
		}
		if err := c.Outside(func() error { return work.Pause(c, st.Retry.Pause) }); err != nil {
			return nil, st.failed(StageRun, err)
		}
	}
}
