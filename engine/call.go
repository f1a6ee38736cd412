package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"catena/storage"
	"catena/storage/fault"
)

// Call runs an operation or chain by name within this call: in the same transaction, with
// the same variables. What it does counts towards the same limits.
func (c *Ctx) Call(name string, in any, params map[string]any) (any, error) {
	if c.run == nil {
		return nil, fault.Internal.Errorf("operation %s: called outside the engine", name)
	}
	// The set of the call is used, not the engine's newest one: a chain that is deployed meanwhile must not
	// change a call half way.
	d, ok := c.run.set.Op(name)
	if !ok || !d.Callers.allows(c.As, c.EntryPoint) {
		return nil, c.run.set.Missing(name, c.As, c.EntryPoint)
	}
	if err := c.capable(d); err != nil {
		return nil, err
	}
	in, err := c.found(in)
	if err != nil {
		return nil, err
	}
	if c.depth++; c.depth > c.run.e.limits.Depth {
		c.depth--
		return nil, fault.Limit.Errorf("depth: more than %d calls within calls", c.run.e.limits.Depth).WithCode(fault.CodeDepth)
	}
	// The inner call sets both for itself; expressions of the caller that follow read the caller's values
	// again.
	input, chain := c.Input, c.params
	out, err := c.invoke(d, in, params, nil)
	c.depth--
	c.Input, c.params = input, chain
	return out, err
}

// capable reports whether an operation can run in this transaction. Which kind of transaction a call has was
// decided by the effect of its outermost operation; an inner one that needs more cannot get it any longer.
// Plans compute the widest effect of their steps beforehand, so this only meets operations whose names are
// found at run time.
func (c *Ctx) capable(d *Def) error {
	switch {
	case d.Effect == Writes && c.As.ReadOnly:
		return fault.Denied.Errorf("operation %s writes, but the key is read-only", d.Name).WithCode(fault.CodeInsufficientScope)
	case d.Effect == Writes && (c.Tx == nil || !c.Tx.Writable()), d.Effect == Reads && c.Tx == nil:
		return fault.Invalid.Errorf("operation %s %s, which its caller is declared not to do", d.Name, d.Effect).WithCode(fault.CodeEffect)
	}
	return nil
}

// count bounds the operations of a call and looks now and then whether it is to end.
func (c *Ctx) count() error {
	r := c.run
	if r.frame != nil && r.frame.wanted != nil || c.Tx != nil && storage.Abandoned(c.Tx) { // nothing that an abandoned attempt does would last
		return errApart
	}
	// Reading the context's error takes a lock and the clock, so it is done for every 32nd operation only.
	if r.ops++; r.ops&31 != 0 && r.ops <= r.e.limits.Ops {
		return nil
	}
	if r.ops > r.e.limits.Ops {
		return fault.Limit.Errorf("operations: more than %d in one call", r.e.limits.Ops).WithCode(fault.CodeOperations)
	}
	return c.Err()
}

// mostIgnored bounds how many parameters a result names that do nothing.
const mostIgnored = 10

// Ignore notes a parameter, or a member of one, that does nothing: the operation does not have it, or does not use it.
func (c *Ctx) Ignore(name string) {
	// Only the outermost operation counts: what a chain passes on to its steps is not the caller's mistake.
	// The first operation counted is the outermost one.
	if r := c.run; r != nil && r.ops == 1 && !r.def.Open && len(r.res.Ignored) < mostIgnored {
		r.res.Ignored = append(r.res.Ignored, name)
	}
}

// invoke runs an operation whose parameters are not decoded yet.
func (c *Ctx) invoke(d *Def, in any, params map[string]any, raw json.RawMessage) (any, error) {
	if err := c.count(); err != nil {
		return nil, d.failed(StageRun, err)
	}
	// Parameters may be expressions that read the input, in the form in which it came and, below, as
	// converted.
	c.Input = in
	v, err := d.choose(in)
	if err != nil {
		return nil, d.failed(StageInput, err)
	}
	t := c.step(d, in, params, raw)
	if v.in != kindOf(in) {
		if in, err = c.adapt(d, v, in); err != nil {
			return nil, c.end(t, nil, d.failed(StageInput, err))
		}
		c.Input = in
	}
	var p any
	if raw != nil {
		p, err = d.table.fromJSON(c, raw)
	} else {
		p, err = d.table.fromMap(c, params)
	}
	if err != nil {
		return nil, c.end(t, nil, d.failed(StageInput, err))
	}
	var out any
	switch {
	case v.each:
		out, err = c.each(v, in, func() (any, error) { return p, nil })
	// An operation without a struct of parameters is a chain or a script.
	case d.table.typ == nil:
		out, err = c.dynamic(v, p, in)
	case d.Open:
		out, err = c.open(v, p, in, params, raw)
	default:
		out, err = v.call(p, c, in)
	}
	if err != nil {
		return nil, c.end(t, nil, d.failed(StageRun, d.table.named(err, p)))
	}
	if t != nil {
		_ = c.end(t, out, nil)
	}
	return out, nil
}

// dynamic runs a chain or script: its parameters become those of the chain, and logins end
// with it.
func (c *Ctx) dynamic(v *variant, p, in any) (any, error) {
	before, height, entryPoint := c.params, len(c.logins), c.EntryPoint
	// Steps look up parameters that they do not give among those of the chain (lookup).
	c.params, _ = p.(map[string]any)
	out, err := v.call(p, c, in)
	c.restore(height)
	c.params, c.EntryPoint = before, entryPoint
	return out, err
}

// open runs an operation whose caller may give more parameters than it declares: operations it
// calls find them as those of a chain.
func (c *Ctx) open(v *variant, p, in any, params map[string]any, raw json.RawMessage) (any, error) {
	if raw != nil {
		if err := json.Unmarshal(raw, &params); err != nil {
			return nil, fault.Invalid.Errorf("parameters: %w", err)
		}
	}
	before := c.params
	c.params = maps.Clone(before)
	if c.params == nil {
		c.params = map[string]any{}
	}
	maps.Copy(c.params, params)
	out, err := v.call(p, c, in)
	c.params = before
	return out, err
}

// choose returns the function for an input.
func (d *Def) choose(in any) (*variant, error) {
	k := kindOf(in)
	v := d.by[k]
	switch {
	// The kind alone does not decide about these: a list is what its items are, and other types are told
	// apart by their Go type.
	case k == kList || k == kOther:
		v = d.chooseRare(k, in)
	case v != nil:
		return v, nil
	}
	if v == nil {
		if k == kVoid {
			return nil, fault.Invalid.Errorf("input: is missing, must be of type %s", d.inputs()).In("input")
		}
		return nil, fault.Invalid.Errorf("input: must be of type %s, not %s", d.inputs(), wordOf(in)).In("input")
	}
	return v, nil
}

// chooseRare chooses for lists, which are what their items are, and for types of others.
func (d *Def) chooseRare(k kind, in any) *variant {
	if val, ok := in.(Value); ok {
		return d.by[kindOf(val.V)]
	}
	variants := d.Run.variants
	if k == kOther {
		t := reflect.TypeOf(in)
		for i := range variants {
			if v := &variants[i]; v.in == kOther && v.inType != nil && t.AssignableTo(v.inType) {
				return v
			}
		}
		return d.by[k]
	}
	// A function over untyped lists takes the list as it is. Only where the choice would be documents or
	// files are the items looked at; an empty list counts as one of documents.
	if d.by[k] != nil && d.by[k].in != kDocs && d.by[k].in != kBlobs {
		return d.by[k]
	}
	want := kDocs
	if list := in.([]any); len(list) > 0 {
		if _, ok := list[0].(*storage.Blob); ok {
			want = kBlobs
		}
	}
	for i := range variants {
		if variants[i].in == want {
			return &variants[i]
		}
	}
	return d.by[k]
}

// inputs lists what the operation takes.
func (d *Def) inputs() string {
	text := ""
	for _, v := range d.Run.variants {
		if text != "" {
			text += " or "
		}
		text += v.inWord
	}
	return text
}

// adapt makes an input into what the chosen function takes.
func (c *Ctx) adapt(d *Def, v *variant, in any) (any, error) {
	if val, ok := in.(Value); ok && v.in != kAny {
		in = val.V
	}
	switch v.in {
	case kVoid, kAny, kOther:
		return in, nil
	}
	if in == nil {
		return nil, fault.Invalid.Errorf("input: is missing, must be of type %s", d.inputs()).In("input")
	}
	out, err := c.convert(in, v.in)
	if err != nil {
		if fault.Is(err, fault.Invalid) {
			return nil, fault.Wrap(err, "input").In("input")
		}
		return nil, err
	}
	return out, nil
}

// each runs a function once for each element of a list and collects what it returns.
func (c *Ctx) each(v *variant, in any, params func() (any, error)) (any, error) {
	var items []any
	switch in := in.(type) {
	case storage.Docs:
		items = List(in)
	case storage.Blobs:
		items = List(in)
	case []any:
		items = in
	default:
		return nil, fmt.Errorf("engine: %T is not a list", in)
	}
	var out collector
	for i, item := range items {
		c.Input = item
		// The first item was counted by invoke. Each further one counts like an operation, or a list would be
		// a way around the limit.
		if i > 0 {
			if err := c.count(); err != nil {
				return nil, err
			}
		}
		p, err := params()
		if err != nil {
			return nil, err
		}
		var got any
		if m, ok := p.(map[string]any); ok {
			got, err = c.dynamic(v, m, item)
		} else {
			got, err = v.call(p, c, item)
		}
		if err != nil {
			return nil, err
		}
		out.add(got)
	}
	c.Input = in
	if v.out == kVoid {
		// Chains return nothing where they declare void; a built-in operation of that kind passes its input
		// on.
		if v.exact {
			return nil, nil
		}
		return in, nil
	}
	return out.list(v.out), nil
}

// collector gathers results into a list of documents, files, or anything.
type collector struct {
	docs  storage.Docs
	blobs storage.Blobs
	rest  []any
}

func (l *collector) add(v any) {
	switch v := v.(type) {
	case nil:
	case *storage.Doc:
		l.docs = append(l.docs, v)
	case storage.Docs:
		l.docs = append(l.docs, v...)
	case *storage.Page:
		l.docs = append(l.docs, v.Docs...)
	case *storage.Blob:
		l.blobs = append(l.blobs, v)
	case storage.Blobs:
		l.blobs = append(l.blobs, v...)
	default:
		l.rest = append(l.rest, v)
	}
}

// list returns what was gathered: of the declared kind, or of what there is.
func (l *collector) list(k kind) any {
	switch {
	// An empty result is an empty list of the declared kind, not of any values: the next step may need to
	// know the kind.
	case k == kDocs || k != kBlobs && l.docs != nil && l.blobs == nil && l.rest == nil:
		if l.docs == nil {
			return storage.Docs{}
		}
		return l.docs
	case k == kBlobs || k != kDocs && l.blobs != nil && l.docs == nil && l.rest == nil:
		if l.blobs == nil {
			return storage.Blobs{}
		}
		return l.blobs
	}
	out := append([]any{}, l.rest...)
	return append(append(out, List(l.docs)...), List(l.blobs)...)
}
