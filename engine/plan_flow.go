package engine

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"catena/storage/fault"
)

// flow checks that each step takes what the one before may give, as far as that is known. A text that is only resolved
// again passes if there is any input with which it may go well.
func (b *planner) flow(p *Plan, in string) {
	k := b.through(p.steps, setOf(kindOfWord(in)))
	_, returned := flowOf(p.steps, setOf(kindOfWord(in)))
	if k |= returned; p.waits {
		return
	}
	var bad kindSet
	for from := range k.each() {
		if !gives(from, p.out) {
			bad |= setOf(from)
		}
	}
	if n := len(p.steps); n > 0 && len(b.errs) == 0 && b.wrong(k, bad) != 0 {
		b.fail(&p.steps[n-1].Step, p.steps[n-1].n, "", fault.Invalid.Errorf("returns %s, but the declared output is %s", b.wrong(k, bad), words[p.out]))
	}
}

// through checks the inputs of steps, and of those within them, and returns what the last one gives.
func (b *planner) through(steps []step, k kindSet) kindSet {
	for i := range steps {
		st := &steps[i]
		next, bad := st.flow(k)
		if wrong := b.wrong(k, bad); wrong != 0 {
			err := fault.Invalid.Errorf("input: must be of type %s, not %s", st.d.inputs(), wrong)
			if i > 0 && wrong == setOf(kVoid) && b.o.Types != nil {
				err = fault.Invalid.Errorf("input: must be of type %s, but step %d returns nothing", st.d.inputs(), steps[i-1].n)
			}
			if hint := st.d.hint(wrong); hint != "" {
				err = fault.Invalid.Errorf("%w; %s", err, hint)
			}
			if st.block != nil {
				err = fault.Invalid.Errorf("input: must be %s, not %s", st.block.needs(), wrong)
			}
			b.fail(&st.Step, st.n, "", err)
			return setOf(kAny)
		}
		if st.block != nil {
			for _, branch := range st.block.branches {
				b.through(branch, st.block.inner(k))
			}
		} else if err := b.innerInput(st, k); err != nil {
			b.fail(&st.Step, st.n, "", err)
			return setOf(kAny)
		}
		k = next
	}
	return k
}

// needs is what a block takes that does not take everything.
func (bl *block) needs() string {
	if bl.ofInput() {
		return "a document, or the wait must name one"
	}
	return "a list"
}

// hint tells how to get what an operation takes, if it takes files and is given documents.
func (d *Def) hint(given kindSet) string {
	if d.by[kDoc] == nil && (d.by[kBlob] != nil || d.by[kBlobs] != nil) && given&^(setOf(kDoc)|setOf(kDocs)|setOf(kPage)) == 0 {
		return "Document.GetBlob returns the file of a document"
	}
	return ""
}

// wrong is what of the kinds that do not fit counts.
func (b *planner) wrong(all, bad kindSet) kindSet {
	if b.o.Types == nil && bad != all {
		return 0
	}
	return bad
}

// kindSet are kinds that a value may have; with kAny among them, it may have any.
type kindSet uint64

func setOf(k kind) kindSet { return 1 << k }

// each yields the kinds.
func (s kindSet) each() iter.Seq[kind] {
	return func(yield func(kind) bool) {
		for k := range kinds {
			if s&setOf(k) != 0 && !yield(k) {
				return
			}
		}
	}
}

// only is the one kind, kAny if it may be several.
func (s kindSet) only() kind {
	for k := range s.each() {
		if s == setOf(k) {
			return k
		}
	}
	return kAny
}

// String names the kinds.
func (s kindSet) String() string {
	var names []string
	for k := range s.each() {
		if !slices.Contains(names, words[k]) {
			names = append(names, words[k])
		}
	}
	return strings.Join(names, " or ")
}

// gives reports whether a value of one kind can be handed on as another; with kAny on
// either side only the value itself will tell.
func gives(from, to kind) bool {
	return from == kAny || to == kAny || to == kVoid || words[from] == words[to] || fit(from, to) > 1
}

// flow are the kinds that a step may give for those it is given; bad are those it does not take.
func (st *step) flow(in kindSet) (out, bad kindSet) {
	for k := range in.each() {
		if st.block == nil {
			next, ok := st.d.gives(k)
			if !ok {
				bad |= setOf(k)
				continue
			}
			out |= setOf(next)
		} else {
			if !st.block.takes(k) {
				bad |= setOf(k)
				continue
			}
			next, _ := st.block.flow(setOf(k))
			out |= next
		}
		if st.when != nil {
			out |= setOf(k)
		}
		if h := st.handler; h != nil {
			more := kAny
			switch {
			case h.pass:
				more = k
			case h.chain != nil:
				more, _ = h.chain.gives(k) // one that does not take it is informed of when it fails
			case !h.computed.computed():
				more = kindOf(h.computed.fixed)
			}
			out |= setOf(more)
		}
	}
	return out, bad
}

// gives is the kind that an operation gives for one it takes; kAny stands for what is not known.
func (d *Def) gives(k kind) (kind, bool) {
	if k == kAny {
		return d.onlyOutput(), true
	}
	v := d.by[k]
	if v == nil {
		return kAny, false
	}
	switch {
	case v.nothing():
		return kVoid, true
	case v.out == kVoid:
		return k, true
	case v.out == kOther:
		return kAny, true
	case v.out == kRef:
		return kDoc, true
	}
	return v.out, true
}

// nothing reports whether the function never returns anything, not even its input.
func (v *variant) nothing() bool { return v.outWord == words[kVoid] && (v.out != kVoid || v.exact) }

// onlyOutput is the output of all functions, any if they differ.
func (d *Def) onlyOutput() kind {
	out, nothing := d.Run.variants[0].out, d.Run.variants[0].nothing()
	for i := range d.Run.variants {
		if v := &d.Run.variants[i]; v.out != out || v.nothing() != nothing {
			return kAny
		}
	}
	if nothing {
		return kVoid
	}
	switch out {
	case kVoid, kOther:
		return kAny
	case kRef:
		return kDoc
	}
	return out
}

// signatureFor walks the steps with the declared input, or with each one the first step takes.
func (p *Plan) signatureFor(in string) []string {
	if len(p.steps) == 0 {
		in = cmp.Or(in, words[kVoid])
		return []string{in, in}
	}
	starts := []kind{kindOfWord(in)}
	if in == "" {
		starts = starts[:0]
		for _, v := range p.steps[0].d.Run.variants {
			starts = append(starts, v.in)
		}
		if p.steps[0].block != nil {
			starts = []kind{kAny}
		}
	}
	var out []string
	for _, start := range starts {
		k, bad := setOf(start), kindSet(0)
		_, returned := flowOf(p.steps, k)
		for i := range p.steps {
			given := k
			if k, bad = p.steps[i].flow(k); bad == given {
				break
			}
			bad = 0
		}
		if bad == 0 {
			k |= returned
			if p.waits { // what the caller gets is the run
				k = setOf(kAny)
			}
			out = append(out, words[start], words[k.only()])
		}
	}
	return out
}
